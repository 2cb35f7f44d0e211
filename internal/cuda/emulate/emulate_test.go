package emulate

import (
	"encoding/binary"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/cuda"
)

const source = `
extern "C" __global__ void sum(const int *x, int *y, int n, int wait) { // of a block, by shuffles and shared memory
  extern __shared__ int part[];
  int i = blockIdx.x * blockDim.x + threadIdx.x, v = i < n ? x[i] : 0;
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
  if (wait) __syncthreads();
  if (threadIdx.x == 0) {
    int s = 0;
    for (int w = 0; w < blockDim.x / 32; w++) s += part[w];
    y[blockIdx.x] = s;
  }
}
extern "C" __global__ void stuck(int *y) {
  if (threadIdx.x < 32) __syncthreads();
  else __shfl_sync(0xffffffffu, 1, 0), __syncwarp(threadIdx.x == 40 ? 1u << 9 : ~0u);
}
extern "C" __global__ void bits(unsigned *y) {
  y[threadIdx.x] = __ballot_sync(0xffffffffu, threadIdx.x % 3 == 0) + __shfl_xor_sync(0xffffffffu, threadIdx.x, 1);
  atomicAdd(&y[64], 1);
}
`

func open(t *testing.T) (*Device, cuda.Handle) {
	t.Helper()
	compiler, err := exec.LookPath("g++")
	if err != nil {
		t.Skip("there is no g++ on the PATH: emulation was not examined")
	}
	d, err := Open(compiler)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	m, _, err := d.Build(cuda.Source{Path: "k.cu", Text: []byte(source), Entries: []string{"sum", "stuck", "bits"}})
	require.NoError(t, err)
	return d, m
}

func launched(t *testing.T, d *Device, m cuda.Handle, l cuda.Launch) error {
	t.Helper()
	f, err := d.Function(m, l.Entry)
	require.NoError(t, err)
	l.Function = f
	require.NoError(t, d.Launch(l, 1))
	return d.Sync(1)
}

func words(t *testing.T, d *Device, p cuda.Ptr, n int) []uint32 {
	t.Helper()
	raw := make([]byte, 4*n)
	require.NoError(t, d.Download(raw, p))
	out := make([]uint32, n)
	for i := range out {
		out[i] = binary.LittleEndian.Uint32(raw[4*i:])
	}
	return out
}

// sums adds 1 to 200 in two blocks of 128, twice: threads run forwards and backwards.
func sums(t *testing.T, d *Device, m cuda.Handle, wait uint64) (first, second []uint32) {
	t.Helper()
	var x []byte
	for i := range 200 {
		x = binary.LittleEndian.AppendUint32(x, uint32(i+1))
	}
	in, err := d.Alloc(len(x))
	require.NoError(t, err)
	out, err := d.Alloc(8)
	require.NoError(t, err)
	require.NoError(t, d.Upload(in, x))
	l := cuda.Launch{
		Entry: "sum", Grid: [3]int{2, 1, 1}, Block: [3]int{128, 1, 1}, Shared: 16, Params: []cuda.Param{
			{Bits: uint64(in), Size: 8}, {Bits: uint64(out), Size: 8}, {Bits: 200, Size: 4}, {Bits: wait, Size: 4},
		},
	}
	require.NoError(t, launched(t, d, m, l))
	first = words(t, d, out, 2)
	require.NoError(t, launched(t, d, m, l))
	return first, words(t, d, out, 2)
}

// Barriers, shuffles, ballots, atomics and shared memory MUST mean what they mean on a device; without its barrier a
// kernel's result changes from launch to launch; threads that wait for one another are an error.
func TestBlocksAndWarps(t *testing.T) {
	t.Parallel()
	d, m := open(t)
	first, second := sums(t, d, m, 1)
	assert.Equal(t, []uint32{128 * 129 / 2, 200*201/2 - 128*129/2}, first)
	assert.Equal(t, first, second)
	first, second = sums(t, d, m, 0)
	assert.NotEqual(t, first, second)

	y, err := d.Alloc(260)
	require.NoError(t, err)
	require.NoError(t, launched(t, d, m, cuda.Launch{
		Entry: "bits", Grid: [3]int{3, 1, 1}, Block: [3]int{64, 1, 1}, Params: []cuda.Param{{Bits: uint64(y), Size: 8}},
	}))
	got := words(t, d, y, 65)
	assert.Equal(t, uint32(3*64), got[64])
	for i := range 64 {
		var ballot uint32
		for lane := range 32 {
			if (i/32*32+lane)%3 == 0 {
				ballot |= 1 << lane
			}
		}
		assert.Equal(t, ballot+uint32(i^1), got[i], i)
	}
	err = launched(t, d, m, cuda.Launch{
		Entry: "stuck", Grid: [3]int{1, 1, 1}, Block: [3]int{64, 1, 1}, Params: []cuda.Param{{Bits: uint64(y), Size: 8}},
	})
	require.ErrorContains(t, err, "stuck: threads of a block wait at different barriers and none can go on")
	first, _ = sums(t, d, m, 1)
	assert.Equal(t, uint32(128*129/2), first[0], "the next launch works")
}

func TestBuildErrors(t *testing.T) {
	t.Parallel()
	compiler, err := exec.LookPath("g++")
	if err != nil {
		t.Skip("there is no g++ on the PATH: emulation was not examined")
	}
	d, err := Open(compiler)
	require.NoError(t, err)
	_, _, err = d.Build(cuda.Source{Path: "b.cu", Text: []byte("\nint x = y;")})
	require.ErrorContains(t, err, "b.cu:2")
	_, _, err = d.Build(cuda.Source{Path: "b.ptx"})
	require.ErrorContains(t, err, "b.ptx is no .cu source")
	require.NoError(t, d.Close())
}
