package main

import (
	"math"
	"os"

	"github.com/assay-suite/assay/internal/cuda"
	"github.com/assay-suite/assay/internal/cuda/fake"
	"github.com/assay-suite/assay/internal/cuda/manifest"
)

const sinkhornManifest = `
operator: sinkhorn
source: sinkhorn.cu
dtypes: F32
attr: variant v4
in: logits F32[T, n, n]
out: comb F32[T, n, n]
entry: sinkhorn
grid: T
block: 32
args: logits, comb, i32 T, i32 n, i32 iterations, f32 hc_eps, i32 logits.stride0, i32 logits.stride1, i32 logits.stride2
`

// sinkhorn computes the operator in fp32. What is wrong with it is the role of the worker.
func sinkhorn(role string) fake.Kernel {
	return func(m *fake.Memory, l cuda.Launch) {
		number := func(i int) int { return int(int32(l.Params[i].Bits)) }
		logits, comb, tokens, n := cuda.Ptr(l.Params[0].Bits), cuda.Ptr(l.Params[1].Bits), number(2), number(3)
		eps := math.Float32frombits(uint32(l.Params[5].Bits))
		switch role {
		case "silent":
			return
		case "outside":
			m.SetF32(comb, tokens*n*n+2, 1)
		case "before":
			m.SetF32(comb-8, 0, 1)
		case "operand":
			m.SetF32(logits, 0, -m.F32(logits, 0))
		case "address":
			m.F32(comb, 1<<40)
		}
		for t := range tokens {
			b := make([]float32, n*n)
			for j := range n {
				for k := range n {
					b[j*n+k] = m.F32(logits, t*number(6)+j*number(7)+k*number(8))
				}
				softmax(b[j*n:][:n], eps)
			}
			steps := 2*number(4) - 1
			if role == "planted" {
				steps-- // the last column step is missing
			}
			for step := range steps {
				balance(b, n, step%2 == 1, eps)
			}
			for i, v := range b {
				m.SetF32(comb, t*n*n+i, v)
			}
		}
	}
}

func softmax(row []float32, eps float32) {
	top, sum := row[0], float32(0)
	for _, v := range row {
		top = max(top, v)
	}
	for k, v := range row {
		row[k] = float32(math.Exp(float64(v - top)))
		sum += row[k]
	}
	for k := range row {
		row[k] = row[k]/sum + eps
	}
}

// balance divides rows or columns by their sums.
func balance(b []float32, n int, rows bool, eps float32) {
	line, step := 1, n
	if rows {
		line, step = n, 1
	}
	for i := range n {
		sum := eps
		for k := range n {
			sum += b[i*line+k*step]
		}
		for k := range n {
			b[i*line+k*step] /= sum
		}
	}
}

// faults are the roles that break the device in place of the kernel.
var faults = map[string]fake.Faults{
	"no-library": {NoLibrary: true}, "no-device": {NoDevice: true}, "bad-image": {BadImage: true},
	"compile": {CompileLog: `sinkhorn.cu(12): error: identifier "lgits" is undefined`},
	"launch":  {Launch: 701}, "sticky": {Sync: 719}, "memory": {Memory: 10 << 10}, "no-capture": {NoCapture: true},
}

func serveFake(role string) int {
	m, err := manifest.Parse("sinkhorn.manifest", sinkhornManifest)
	if err != nil {
		return ends(os.Stderr, 2, err)
	}
	open := func() (cuda.Device, error) {
		d, err := fake.Open(map[string]fake.Kernel{"sinkhorn": sinkhorn(role)}, faults[role])
		if err != nil {
			return nil, err
		}
		return d, nil
	}
	return serve(open, []cuda.Kernel{{Manifest: m}}, os.Stdin, os.Stdout, os.Stderr)
}
