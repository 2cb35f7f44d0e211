// Blocks and threads of a CUDA kernel on one CPU thread. Every thread of a block is a fiber; barriers and warp operations
// switch between fibers. The order in which fibers run is turned round from launch to launch, so that a missing barrier
// changes results.
#pragma once
#include <algorithm>
#include <cmath>
#include <csetjmp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ucontext.h>
#include <utility>
#include <vector>

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
};
static dim3 threadIdx, blockIdx, blockDim, gridDim;
static constexpr int warpSize = 32;

#define __global__
#define __device__ static
#define __host__
#define __forceinline__ inline
#define __noinline__
#define __constant__ static
#define __shared__ static
#define __launch_bounds__(...)
#define __CUDA_EMULATED__ 1

namespace simt {

enum Wait { runs, block, warp, done };

struct Fiber {
  ucontext_t start;
  jmp_buf at;
  bool begun = false;
  Wait wait = done;
  unsigned mask = 0;
  dim3 thread;
};

static constexpr size_t stack_bytes = 128 << 10;
static std::vector<Fiber *> fibers;
static int count, now;
static jmp_buf home;
static void (*body)(void *);
static void *body_args;
static uint64_t slots[1024];
static char *dynamic;
static bool backwards;
static const char *failure;

[[noreturn]] static void loop() {
  for (;;) {
    body(body_args);
    fibers[now]->wait = done;
    if (!_setjmp(fibers[now]->at)) _longjmp(home, 1);
  }
}

static void yield() {
  if (!_setjmp(fibers[now]->at)) _longjmp(home, 1);
}

static void resume(int i) {
  now = i;
  Fiber *f = fibers[i];
  threadIdx = f->thread;
  if (_setjmp(home)) return;
  if (f->begun) _longjmp(f->at, 1);
  f->begun = true;
  setcontext(&f->start);
}

static void await(Wait what, unsigned mask) {
  fibers[now]->wait = what;
  fibers[now]->mask = mask;
  yield();
}

// released lets those go whose barrier everybody who still runs has reached.
static bool released() {
  bool all = true, any = false;
  for (int i = 0; i < count; i++) {
    all = all && (fibers[i]->wait == block || fibers[i]->wait == done);
    any = any || fibers[i]->wait == block;
  }
  if (all && any) {
    for (int i = 0; i < count; i++)
      if (fibers[i]->wait == block) fibers[i]->wait = runs;
    return true;
  }
  bool some = false;
  for (int w = 0; w < count; w += 32) {
    for (int i = w; i < std::min(w + 32, count); i++) {
      if (fibers[i]->wait != warp) continue;
      unsigned mask = fibers[i]->mask;
      bool here = true;
      for (int l = 0; l < 32 && w + l < count; l++)
        if (mask >> l & 1) here = here && (fibers[w + l]->wait == done || (fibers[w + l]->wait == warp && fibers[w + l]->mask == mask));
      if (!here) continue;
      for (int l = 0; l < 32 && w + l < count; l++)
        if (mask >> l & 1 && fibers[w + l]->wait == warp) fibers[w + l]->wait = runs;
      some = true;
    }
  }
  return some;
}

static void run_block() {
  for (int i = 0; i < count; i++) fibers[i]->wait = runs;
  for (;;) {
    bool any = false;
    for (int k = 0; k < count; k++) {
      int i = backwards ? count - 1 - k : k;
      if (fibers[i]->wait == runs) {
        any = true;
        resume(i);
      }
    }
    if (any || released()) continue;
    for (int i = 0; i < count; i++)
      if (fibers[i]->wait != done) {
        failure = "threads of a block wait at different barriers and none can go on";
        fibers[i]->begun = false;
      }
    return;
  }
}

template <typename F, typename... A, size_t... I>
static void apply(F *f, void **params, std::index_sequence<I...>, void (*)(A...)) {
  f(*(std::remove_const_t<A> *)params[I]...);
}

template <typename... A> struct Kernel {
  static void (*f)(A...);
  static void call(void *params) { apply(f, (void **)params, std::index_sequence_for<A...>{}, f); }
};
template <typename... A> void (*Kernel<A...>::f)(A...);

template <typename... A> static const char *launch(void (*f)(A...), const unsigned *geometry, int shared, void **params) {
  Kernel<A...>::f = f;
  body = Kernel<A...>::call;
  body_args = params;
  failure = nullptr;
  backwards = !backwards;
  gridDim = {geometry[0], geometry[1], geometry[2]};
  blockDim = {geometry[3], geometry[4], geometry[5]};
  count = blockDim.x * blockDim.y * blockDim.z;
  std::vector<char> memory(shared + 64);
  dynamic = (char *)(((uintptr_t)memory.data() + 63) & ~(uintptr_t)63);
  while ((int)fibers.size() < count) fibers.push_back(new Fiber);
  for (int i = 0; i < count; i++) {
    Fiber *f = fibers[i];
    f->thread = {i % blockDim.x, i / blockDim.x % blockDim.y, i / blockDim.x / blockDim.y};
    if (f->begun) continue;
    getcontext(&f->start);
    if (!f->start.uc_stack.ss_sp || f->start.uc_stack.ss_size != stack_bytes) {
      f->start.uc_stack.ss_sp = malloc(stack_bytes);
      f->start.uc_stack.ss_size = stack_bytes;
    }
    f->start.uc_link = nullptr;
    makecontext(&f->start, (void (*)())loop, 0);
  }
  for (unsigned z = 0; z < gridDim.z; z++)
    for (unsigned y = 0; y < gridDim.y; y++)
      for (unsigned x = 0; x < gridDim.x; x++) {
        blockIdx = {x, y, z};
        memset(dynamic, 0xff, shared); // NaN: what no thread has written is seen
        run_block();
        if (failure) return failure;
      }
  return nullptr;
}

static int linear() { return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z); }

template <typename T> static T exchange(unsigned mask, T v, int lane) {
  int me = linear();
  slots[me] = 0;
  memcpy(&slots[me], &v, sizeof v);
  await(warp, mask);
  int from = me / 32 * 32 + lane;
  T out = v;
  if (lane >= 0 && lane < 32 && from < count) memcpy(&out, &slots[from], sizeof out);
  await(warp, mask);
  return out;
}

} // namespace simt

static void __syncthreads() { simt::await(simt::block, 0); }
static void __syncwarp(unsigned mask = ~0u) { simt::await(simt::warp, mask); }
static void __threadfence() {}
static void __threadfence_block() {}
template <typename T> static T __shfl_sync(unsigned m, T v, int lane) { return simt::exchange(m, v, lane & 31); }
template <typename T> static T __shfl_xor_sync(unsigned m, T v, int x) { return simt::exchange(m, v, (simt::linear() & 31) ^ x); }
template <typename T> static T __shfl_down_sync(unsigned m, T v, int d) { return simt::exchange(m, v, (simt::linear() & 31) + d); }
template <typename T> static T __shfl_up_sync(unsigned m, T v, int d) { return simt::exchange(m, v, (simt::linear() & 31) - d); }
static unsigned __ballot_sync(unsigned m, int p) {
  int me = simt::linear(), base = me / 32 * 32;
  simt::slots[me] = p != 0;
  simt::await(simt::warp, m);
  unsigned out = 0;
  for (int l = 0; l < 32 && base + l < simt::count; l++)
    if (m >> l & 1 && simt::slots[base + l]) out |= 1u << l;
  simt::await(simt::warp, m);
  return out;
}
static int __any_sync(unsigned m, int p) { return __ballot_sync(m, p) != 0; }
static int __all_sync(unsigned m, int p) { return __ballot_sync(m, !p) == 0; }

template <typename T, typename U> static T atomicAdd(T *p, U v) { T old = *p; *p = old + (T)v; return old; }
template <typename T, typename U> static T atomicMax(T *p, U v) { T old = *p; *p = std::max(old, (T)v); return old; }
template <typename T, typename U> static T atomicMin(T *p, U v) { T old = *p; *p = std::min(old, (T)v); return old; }
template <typename T, typename U> static T atomicOr(T *p, U v) { T old = *p; *p = old | (T)v; return old; }
template <typename T, typename U> static T atomicExch(T *p, U v) { T old = *p; *p = (T)v; return old; }
template <typename T> static T atomicCAS(T *p, T was, T v) { T old = *p; if (old == was) *p = v; return old; }

#define __expf(x) expf(x)
#define __logf(x) logf(x)
#define __exp2f(x) exp2f(x)

template <typename T> static T __ldg(const T *p) { return *p; }
static unsigned __float_as_uint(float f) { unsigned u; memcpy(&u, &f, 4); return u; }
static int __float_as_int(float f) { int u; memcpy(&u, &f, 4); return u; }
static float __uint_as_float(unsigned u) { float f; memcpy(&f, &u, 4); return f; }
static float __int_as_float(int u) { float f; memcpy(&f, &u, 4); return f; }
static int __popc(unsigned v) { return __builtin_popcount(v); }
static int __clz(int v) { return v ? __builtin_clz((unsigned)v) : 32; }
static int __ffs(int v) { return __builtin_ffs(v); }
static float __fdividef(float a, float b) { return a / b; }
static float __frcp_rn(float a) { return 1 / a; }
static float __fadd_rn(float a, float b) { return a + b; }
static float __fmul_rn(float a, float b) { return a * b; }
static float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
static float rsqrtf(float x) { return 1 / sqrtf(x); }
static int min(int a, int b) { return a < b ? a : b; }
static int max(int a, int b) { return a > b ? a : b; }
static float min(float a, float b) { return fminf(a, b); }
static float max(float a, float b) { return fmaxf(a, b); }
