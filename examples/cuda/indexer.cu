// Lightning indexer: logits[t, s] = ks[s] sum_h w[t, h] relu(<q[t, h], k[s]>), e4m3 queries and keys, everything after the
// conversion in fp32. A block computes one query against a tile of keys, one key a thread; the query's heads and the tile
// lie converted in shared memory, a key's row one word longer than D so that a warp reads 32 banks.

constexpr int tile = 128;

// fp32 of an e4m3 byte: the bits moved into place and scaled by 2^120, which is exact for subnormals too.
__device__ __forceinline__ float e4m3(unsigned char b) {
  if ((b & 0x7f) == 0x7f) return __uint_as_float(0x7fc00000u);
  return __uint_as_float((b & 0x80u) << 24 | (b & 0x7fu) << 20) * 0x1p120f;
}

__device__ __forceinline__ void load_query(float *shared, const unsigned char *q, int n) {
  for (int i = threadIdx.x; i < n; i += tile) shared[i] = e4m3(q[i]);
}

__device__ __forceinline__ float logit(const float *q, const float *key, const float *weights, int heads, int d, float scale) {
  float sum = 0;
  for (int h = 0; h < heads; h++) {
    float dot = 0;
    for (int c = 0; c < d; c++) dot = fmaf(q[h * d + c], key[c], dot);
    sum = fmaf(weights[h], dot < 0 ? 0 : dot, sum); // a NaN stays
  }
  return scale * sum;
}

extern "C" __global__ void __launch_bounds__(tile) indexer_ragged(const unsigned char *q, const unsigned char *k, const float *ks,
    const float *weights, const int *start, const int *end, float *logits, int heads, int d, long long key_stride,
    long long channel_stride, int columns, int clean, int compressed) {
  extern __shared__ float shared[];
  float *query = shared, *keys = shared + heads * d;
  const int t = blockIdx.y, column = blockIdx.x * tile + threadIdx.x, from = start[t], to = end[t];
  const int first = blockIdx.x * tile + (compressed ? from : 0); // key of the tile's first column
  load_query(query, q + (long long)t * heads * d, heads * d);
  for (int i = threadIdx.x; i < tile * d; i += tile) {
    int s = first + i / d, c = i % d;
    if (s >= from && s < to) keys[i / d * (d + 1) + c] = e4m3(k[s * key_stride + c * channel_stride]);
  }
  __syncthreads();
  const int s = first + threadIdx.x;
  if (column >= columns) return;
  if (s >= from && s < to)
    logits[(long long)t * columns + column] = logit(query, keys + threadIdx.x * (d + 1), weights + t * heads, heads, d, ks[s]);
  else if (clean)
    logits[(long long)t * columns + column] = __uint_as_float(0xff800000u);
}

// A page holds page_size rows of e4m3 and then page_size scales in fp32.
extern "C" __global__ void __launch_bounds__(tile) indexer_paged(const unsigned char *q, const unsigned char *pages,
    const float *weights, const int *context_lens, const int *block_table, float *logits, int next, int heads, int d,
    int page_size, long long page_stride, long long byte_stride, int width, int columns, int clean) {
  extern __shared__ float shared[];
  float *query = shared, *keys = shared + heads * d;
  const int row = blockIdx.y, request = row / next, n = context_lens[row];
  const int first = blockIdx.x * tile, j = first + threadIdx.x;
  load_query(query, q + (long long)row * heads * d, heads * d);
  for (int i = threadIdx.x; i < tile * d; i += tile) {
    int s = first + i / d, c = i % d;
    if (s >= n) continue;
    long long page = block_table[(long long)request * width + s / page_size];
    keys[i / d * (d + 1) + c] = e4m3(pages[page * page_stride + (s % page_size * d + c) * byte_stride]);
  }
  __syncthreads();
  if (j >= columns) return;
  float out = __uint_as_float(0xff800000u);
  if (j < n) {
    long long page = block_table[(long long)request * width + j / page_size];
    const unsigned char *scale = pages + page * page_stride + (page_size * d + 4 * (j % page_size)) * byte_stride;
    unsigned bits = 0;
    for (int b = 0; b < 4; b++) bits |= (unsigned)scale[b * byte_stride] << 8 * b;
    out = logit(query, keys + threadIdx.x * (d + 1), weights + row * heads, heads, d, __uint_as_float(bits));
  } else if (!clean) {
    return;
  }
  logits[(long long)row * columns + j] = out;
}
