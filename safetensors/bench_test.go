package safetensors_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/assay-suite/assay/safetensors"
)

// wide is a file of n tensors of 64 bytes, with names as long as a release's.
func wide(n int) []byte {
	var entries []string
	for i := range n {
		entries = append(entries, tensor(fmt.Sprintf("layers.%d.ffn.experts.%d.w1.weight", i/256, i%256), "F8_E4M3", "8,8",
			64*i, 64*i+64))
	}
	return build(`{`+strings.Join(entries, ",")+`}`, 64*n)
}

// BenchmarkOpen10k: parse and check a header of 10,000 tensors.
func BenchmarkOpen10k(b *testing.B) {
	file := wide(10_000)
	b.SetBytes(int64(len(file) - 64*10_000))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := open(file); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkBytes: one 1 MiB tensor.
func BenchmarkBytes(b *testing.B) {
	f, err := open(build(`{`+tensor("a", "F32", "512,512", 0, 1<<20)+`}`, 1<<20))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(1 << 20)
	for b.Loop() {
		if _, err := f.Bytes("a"); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFloat32s: the same tensor as values.
func BenchmarkFloat32s(b *testing.B) {
	file := build(`{`+tensor("a", "F32", "512,512", 0, 1<<20)+`}`, 1<<20)
	f, err := safetensors.NewReader(bytes.NewReader(file), int64(len(file)), "bench")
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(1 << 20)
	for b.Loop() {
		if _, err := f.Float32s("a"); err != nil {
			b.Fatal(err)
		}
	}
}
