// Sparse attention over a list of cache rows (and a second list of a second cache), keys and values one row: split-K with
// a streaming softmax, then one pass that joins the splits and adds the sink. Everything in fp32.
//
// sparse_split: one block a (query, head) and split. A tile of 128 entries: each thread scores one entry, the block finds
// the tile's maximum, rescales, and each thread adds the tile's rows to its channels of the output. A part is d_v sums, the
// maximum (natural units) and the sum of exponentials.

constexpr int threads = 128;

#ifdef BF16
typedef unsigned short real;
__device__ __forceinline__ float value(real v) { return __uint_as_float((unsigned)v << 16); }
__device__ __forceinline__ real stored(float v) { // round to nearest even
  unsigned u = __float_as_uint(v);
  if ((u & 0x7fffffffu) > 0x7f800000u) return u >> 16 | 0x40;
  return (u + 0x7fffu + (u >> 16 & 1)) >> 16;
}
#else
typedef float real;
__device__ __forceinline__ float value(real v) { return v; }
__device__ __forceinline__ real stored(float v) { return v; }
#endif

__device__ __forceinline__ float minus_infinity() { return __uint_as_float(0xff800000u); }
__device__ __forceinline__ float larger(float a, float b) { return a != a || a > b ? a : b; } // a NaN stays

// over_block joins a value of every thread; scratch has one word a warp.
template <bool sum> __device__ float over_block(float v, float *scratch) {
  for (int lane = 16; lane > 0; lane /= 2) {
    float other = __shfl_xor_sync(0xffffffffu, v, lane);
    v = sum ? v + other : larger(v, other);
  }
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = v;
  __syncthreads();
  v = scratch[0];
  for (int w = 1; w < threads / 32; w++) v = sum ? v + scratch[w] : larger(v, scratch[w]);
  __syncthreads();
  return v;
}

// row_of_entry is the row of an entry, 0 where it is none. With a table the entry is a position of the query's sequence.
__device__ __forceinline__ const real *row_of_entry(const real *kv, int entry, int d, int rows, const int *table, int page) {
  if (entry < 0) return 0;
  if (table) return kv + ((long long)table[entry / page] * page + entry % page) * d;
  return entry < rows ? kv + (long long)entry * d : 0;
}

extern "C" __global__ void __launch_bounds__(threads) sparse_split(const real *q, const real *kv, const int *indices,
    const int *lengths, const real *extra_kv, const int *extra_indices, const int *extra_lengths, const int *request,
    const int *table, const int *extra_table, float *parts, int heads, int d, int d_v, int rows, int listed, int extra_rows,
    int extra_listed, int page, int extra_page, int width, int extra_width, int splits, float scale) {
  extern __shared__ float shared[];
  __shared__ float scratch[threads / 32];
  __shared__ const real *row_of[threads];
  float *query = shared, *weight = shared + d, *sums = shared + d + threads;
  const int head = blockIdx.x, t = head / heads, split = blockIdx.y;
  for (int c = threadIdx.x; c < d; c += threads) query[c] = value(q[(long long)head * d + c]);
  for (int c = threadIdx.x; c < d_v; c += threads) sums[c] = 0;
  if (table) table += (long long)request[t] * width;
  if (extra_table) extra_table += (long long)request[t] * extra_width;
  const int n = lengths[t], extra = extra_kv ? extra_lengths[t] : 0, all = n + extra;
  const int from = (long long)all * split / splits, to = (long long)all * (split + 1) / splits;
  float top = minus_infinity(), total = 0;
  __syncthreads();
  for (int first = from; first < to; first += threads) {
    const int i = first + threadIdx.x;
    const real *row = 0;
    float z = minus_infinity();
    if (i < to && i < n) {
      row = row_of_entry(kv, indices[(long long)t * listed + i], d, rows, table, page);
    } else if (i < to) {
      row = row_of_entry(extra_kv, extra_indices[(long long)t * extra_listed + i - n], d, extra_rows, extra_table, extra_page);
    }
    if (row) {
      float dot = 0;
      for (int c = 0; c < d; c++) dot = fmaf(query[c], value(row[c]), dot);
      z = dot * scale;
    }
    row_of[threadIdx.x] = row;
    const float best = larger(top, over_block<false>(z, scratch));
    const float shrink = best == minus_infinity() ? 1 : expf(top - best);
    const float p = row && z != minus_infinity() ? expf(z - best) : 0;
    weight[threadIdx.x] = p;
    total = total * shrink + over_block<true>(p, scratch); // its barriers publish weight and row_of
    top = best;
    const int here = min(threads, to - first);
    for (int c = threadIdx.x; c < d_v; c += threads) {
      float sum = sums[c] * shrink;
      for (int e = 0; e < here; e++)
        if (row_of[e]) sum = fmaf(weight[e], value(row_of[e][c]), sum);
      sums[c] = sum;
    }
    __syncthreads();
  }
  float *part = parts + ((long long)head * splits + split) * (d_v + 2);
  for (int c = threadIdx.x; c < d_v; c += threads) part[c] = sums[c];
  if (threadIdx.x == 0) {
    part[d_v] = top;
    part[d_v + 1] = total;
  }
}

extern "C" __global__ void __launch_bounds__(threads) sparse_join(const float *parts, const float *sink, real *o, float *lse,
    float *max_logits, int heads, int d_v, int splits, int base2, int empty_plus) {
  const int head = blockIdx.x;
  parts += (long long)head * splits * (d_v + 2);
  float top = minus_infinity(), total = 0;
  for (int s = 0; s < splits; s++) top = larger(top, parts[s * (d_v + 2) + d_v]);
  const bool empty = top == minus_infinity();
  for (int s = 0; s < splits; s++)
    if (!empty) total += parts[s * (d_v + 2) + d_v + 1] * expf(parts[s * (d_v + 2) + d_v] - top);
  float below = total;
  if (sink && !empty) below += expf(sink[head % heads] - top); // +Inf makes o 0, -Inf is no sink
  for (int c = threadIdx.x; c < d_v; c += threads) {
    float sum = 0;
    for (int s = 0; s < splits; s++) {
      float m = parts[s * (d_v + 2) + d_v];
      if (m != minus_infinity()) sum = fmaf(parts[s * (d_v + 2) + c], expf(m - top), sum);
    }
    o[(long long)head * d_v + c] = stored(empty ? 0 : sum / below);
  }
  if (threadIdx.x == 0) {
    if (max_logits) max_logits[head] = top;
    if (lse) {
      float v = logf(total) + top;
      lse[head] = empty ? (empty_plus ? -minus_infinity() : minus_infinity()) : base2 ? v * 1.4426950408889634f : v;
    }
  }
}
