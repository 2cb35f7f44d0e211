package native

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/cuda"
)

// What is not there MUST be said with what was tried.
func TestMissingLibraries(t *testing.T) {
	t.Parallel()
	_, err := OpenCompiler("/no/such/libnvrtc.so")
	require.ErrorContains(t, err, "tried /no/such/libnvrtc.so")
	_, err = Open("the C library", "/no/such/libc.so", "libc.so.6")
	require.NoError(t, err)
	l, err := Open("the C library", "libc.so.6")
	require.NoError(t, err)
	_, err = l.Call("no_such_function")
	require.ErrorContains(t, err, "libc.so.6 has no function no_such_function")
	n, err := l.Call("abs", ^uintptr(6))
	require.NoError(t, err)
	assert.Equal(t, 7, n)
}

// NVRTC needs no GPU: a kernel compiles to an image, and what does not compile comes with the log.
func TestCompile(t *testing.T) {
	t.Parallel()
	c, err := OpenCompiler(os.Getenv("NVRTC_LIBRARY"))
	if err != nil {
		t.Skipf("NVRTC was not examined, set NVRTC_LIBRARY to its libnvrtc.so: %v", err)
	}
	image, _, err := c.Compile("k.cu", []byte(`extern "C" __global__ void k(float *y) { *y = 1; }`), "90", nil)
	require.NoError(t, err)
	assert.Equal(t, "\x7fELF", string(image[:4]))
	_, _, err = c.Compile("k.cu", []byte("\n__global__ void k(float *y) { *y = one; }"), "90", nil)
	var broken *cuda.Error
	require.ErrorAs(t, err, &broken)
	assert.Equal(t, "NVRTC_ERROR_COMPILATION", broken.Name)
	assert.Contains(t, broken.Log, `k.cu(2): error: identifier "one" is undefined`)
	_, _, err = c.Compile("k.cu", []byte("#warning careful"), "90", []string{"--no-such-option"})
	require.ErrorContains(t, err, "NVRTC_ERROR_INVALID_OPTION")
}
