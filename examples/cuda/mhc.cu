// mHC before a sublayer: mixes = fn x / sqrt(mean(x^2) + norm_eps), gates pre, post and comb of them, comb by Sinkhorn, and
// y = sum_j pre_j x_j. One block a token, everything in fp32; a warp sums one row of fn after another.

constexpr int threads = 128, most = 8; // at most 8 streams

__device__ __forceinline__ float sigmoid(float v) { return 1 / (1 + expf(-v)); }

__device__ __forceinline__ float warp_sum(float v) {
  for (int lane = 16; lane > 0; lane /= 2) v += __shfl_xor_sync(0xffffffffu, v, lane);
  return v;
}

// balance divides each of n lines by its sum and eps. Lines are `line` apart, their elements `step`.
__device__ void balance(float *b, int n, int line, int step, float eps) {
  for (int i = 0; i < n; i++) {
    float sum = eps;
    for (int k = 0; k < n; k++) sum += b[i * line + k * step];
    for (int k = 0; k < n; k++) b[i * line + k * step] /= sum;
  }
}

__device__ void sinkhorn(float *b, int n, int iterations, float eps) {
  for (int j = 0; j < n; j++) {
    float top = b[j * n], sum = 0;
    for (int k = 1; k < n; k++) top = top < b[j * n + k] || b[j * n + k] != b[j * n + k] ? b[j * n + k] : top; // a NaN stays
    for (int k = 0; k < n; k++) sum += b[j * n + k] = expf(b[j * n + k] - top);
    for (int k = 0; k < n; k++) b[j * n + k] = b[j * n + k] / sum + eps;
  }
  balance(b, n, 1, n, eps);
  for (int i = 1; i < iterations; i++) {
    balance(b, n, n, 1, eps);
    balance(b, n, 1, n, eps);
  }
}

extern "C" __global__ void __launch_bounds__(threads) mhc_pre(const float *x, const float *fn, const float *scale, const float *base,
    float *y, float *post, float *comb, int n, int c, int iterations, float hc_eps, float norm_eps) {
  __shared__ float mixes[(2 + most) * most];
  __shared__ float squares[threads / 32];
  const int t = blockIdx.x, k = n * c, rows = (2 + n) * n, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  x += (long long)t * k;
  float sum = 0;
  for (int i = threadIdx.x; i < k; i += threads) sum = fmaf(x[i], x[i], sum);
  sum = warp_sum(sum);
  if (lane == 0) squares[warp] = sum;
  for (int m = warp; m < rows; m += threads / 32) {
    float dot = 0;
    for (int i = lane; i < k; i += 32) dot = fmaf(fn[(long long)m * k + i], x[i], dot);
    dot = warp_sum(dot);
    if (lane == 0) mixes[m] = dot;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    float all = 0;
    for (int w = 0; w < threads / 32; w++) all += squares[w];
    float r = 1 / sqrtf(all / k + norm_eps);
    for (int m = 0; m < rows; m++) {
      int part = m < n ? 0 : m < 2 * n ? 1 : 2;
      float v = mixes[m] * r * scale[part] + base[m];
      mixes[m] = part == 0 ? sigmoid(v) + hc_eps : part == 1 ? 2 * sigmoid(v) : v;
    }
    sinkhorn(mixes + 2 * n, n, iterations, hc_eps);
  }
  __syncthreads();
  if (threadIdx.x < n) post[t * n + threadIdx.x] = mixes[n + threadIdx.x];
  if (threadIdx.x < n * n) comb[t * n * n + threadIdx.x] = mixes[2 * n + threadIdx.x];
  for (int i = threadIdx.x; i < c; i += threads) {
    float out = 0;
    for (int j = 0; j < n; j++) out = fmaf(mixes[j], x[j * c + i], out);
    y[(long long)t * c + i] = out;
  }
}
