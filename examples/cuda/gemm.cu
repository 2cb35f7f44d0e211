// Block-scaled fp8 GEMM: y[m, n] = sum_b xs[m, b] ws[n div 128, b] sum_(k in b) x[m, k] w[n, k], blocks of 128 along K,
// accumulated in fp32 and rounded to bf16 once. Tiles of 16 x 16 in shared memory; no tensor cores: it is the plain kernel
// that a faster one is compared with.

#ifdef E8M0
typedef unsigned char scale_t;
__device__ __forceinline__ float scale_of(unsigned char e) { // 2^(e - 127), 255 is NaN, 0 is subnormal in fp32
  return e == 255 ? __uint_as_float(0x7fc00000u) : e == 0 ? 0x1p-127f : __uint_as_float((unsigned)e << 23);
}
#else
typedef float scale_t;
__device__ __forceinline__ float scale_of(float v) { return v; }
#endif

constexpr int edge = 16;

__device__ __forceinline__ float e4m3(unsigned char b) {
  if ((b & 0x7f) == 0x7f) return __uint_as_float(0x7fc00000u);
  return __uint_as_float((b & 0x80u) << 24 | (b & 0x7fu) << 20) * 0x1p120f;
}

__device__ __forceinline__ unsigned short bf16(float v) { // round to nearest even
  unsigned u = __float_as_uint(v);
  if ((u & 0x7fffffffu) > 0x7f800000u) return u >> 16 | 0x40;
  return (u + 0x7fffu + (u >> 16 & 1)) >> 16;
}

extern "C" __global__ void __launch_bounds__(edge * edge) block_fp8_gemm(const unsigned char *x, const scale_t *xs,
    const unsigned char *w, const scale_t *ws, unsigned short *y, int rows, int columns, int depth, int blocks) {
  __shared__ float a[edge][edge + 1], b[edge][edge + 1];
  const int m = blockIdx.y * edge + threadIdx.y, n = blockIdx.x * edge + threadIdx.x;
  const int other = blockIdx.x * edge + threadIdx.y; // the row of w that this thread loads
  float sum = 0;
  for (int block = 0; block < blocks; block++) {
    float part = 0;
    for (int k0 = block * 128; k0 < min(depth, block * 128 + 128); k0 += edge) {
      int k = k0 + threadIdx.x;
      a[threadIdx.y][threadIdx.x] = m < rows && k < depth ? e4m3(x[(long long)m * depth + k]) : 0;
      b[threadIdx.y][threadIdx.x] = other < columns && k < depth ? e4m3(w[(long long)other * depth + k]) : 0;
      __syncthreads();
      for (int i = 0; i < edge; i++) part = fmaf(a[threadIdx.y][i], b[threadIdx.x][i], part);
      __syncthreads();
    }
    if (m < rows && n < columns)
      sum = fmaf(part, scale_of(xs[(long long)m * blocks + block]) * scale_of(ws[(long long)(n / 128) * blocks + block]), sum);
  }
  if (m < rows && n < columns) y[(long long)m * columns + n] = bf16(sum);
}
