// Top-k of one row by one block: radix selection of the k-th largest score, eight bits a pass from the top, then one
// ordered sweep that writes every larger score and, of the equal ones, those with the lowest indices.
//
// A score is mapped to an unsigned integer of the same order (negative ones inverted, others with the sign bit set; -0
// becomes +0 first). Rows with no more keys than slots are not ranked, so that their scores may be NaN.

constexpr int threads = 256;

__device__ __forceinline__ unsigned ordered(float v) {
  unsigned u = __float_as_uint(v == 0.0f ? 0.0f : v);
  return u & 0x80000000u ? ~u : u | 0x80000000u;
}

// sum_before: how many threads with a lower number say yes, and in total how many; both over the block.
__device__ int sum_before(int yes, int *warps, int *total) {
  unsigned ballot = __ballot_sync(0xffffffffu, yes);
  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  if (lane == 0) warps[warp] = __popc(ballot);
  __syncthreads();
  int before = __popc(ballot & ((1u << lane) - 1)), all = 0;
  for (int w = 0; w < threads / 32; w++) {
    if (w < warp) before += warps[w];
    all += warps[w];
  }
  *total = all;
  __syncthreads();
  return before;
}

extern "C" __global__ void __launch_bounds__(threads) topk_radix(const float *scores, const int *lengths, int *indices,
    long long row_stride, long long stride, int length_stride, int k) {
  __shared__ int histogram[256];
  __shared__ int warps[threads / 32];
  __shared__ unsigned prefix_shared;
  __shared__ int left_shared;
  const int row = blockIdx.x, n = lengths[(long long)row * length_stride];
  const float *s = scores + row * row_stride;
  int *out = indices + (long long)row * k;

  if (n <= k) {
    for (int i = threadIdx.x; i < k; i += threads) out[i] = i < n ? i : -1;
    return;
  }

  unsigned prefix = 0, mask = 0;
  int left = k; // slots for scores that share the prefix
  for (int shift = 24; shift >= 0; shift -= 8) {
    histogram[threadIdx.x] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += threads) {
      unsigned u = ordered(s[i * stride]);
      if ((u & mask) == prefix) atomicAdd(&histogram[u >> shift & 255], 1);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      int digit = 255, above = 0;
      while (above + histogram[digit] < left) above += histogram[digit--];
      prefix_shared = prefix | (unsigned)digit << shift;
      left_shared = left - above;
    }
    __syncthreads();
    prefix = prefix_shared;
    left = left_shared;
    mask |= 255u << shift;
  }

  int written = 0, ties = 0;
  for (int start = 0; start < n; start += threads) {
    int i = start + threadIdx.x, all;
    unsigned u = i < n ? ordered(s[i * stride]) : 0;
    bool tie = i < n && u == prefix, more = i < n && u > prefix;
    bool take = sum_before(tie, warps, &all) + ties < left && tie || more;
    ties += all;
    int slot = sum_before(take, warps, &all) + written;
    written += all;
    if (take) out[slot] = i;
  }
}
