package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/assay-suite/assay/internal/cuda/native"
)

// Every example MUST compile for Hopper and Blackwell and have its entries. It needs NVRTC and no GPU.
func TestExamplesCompile(t *testing.T) {
	t.Parallel()
	library := os.Getenv("NVRTC_LIBRARY")
	if _, err := native.OpenCompiler(library); err != nil {
		t.Skipf("the examples were not compiled, set NVRTC_LIBRARY to a libnvrtc.so: %v", err)
	}
	var out, errs strings.Builder
	code := run(append([]string{"-nvrtc", library, "-compile", "90,100"}, examples(t)...), nil, &out, &errs)
	assert.Equal(t, 0, code, errs.String())
	assert.Equal(t, 2*len(examples(t)), strings.Count(out.String(), "ok  "), out.String())
	t.Log(out.String())
}
