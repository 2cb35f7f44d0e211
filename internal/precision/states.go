package precision

import (
	"context"
	"fmt"
	"io/fs"
	"strings"

	"github.com/assay-suite/assay/internal/nano"
	"github.com/assay-suite/assay/internal/suite"
	"github.com/assay-suite/assay/internal/trace"
	"github.com/assay-suite/assay/numerics/format"
	"github.com/assay-suite/assay/oracle"
)

// States are the hidden states that tensors are examined on: recorded in forward passes, or drawn where there are none.
type States struct {
	// Source says where they come from, for the reader.
	Source string

	passes []pass
	seed   string
}

// pass is one recorded forward pass under the names of Hugging Face's modules.
type pass struct {
	mat          func(name string, cols int) oracle.Mat
	length, kept int
	needle       int // position of the first token of the answer in the prompt, -1 if unknown
}

// Captured reads recorded passes: files of the form of fixtures/nano-v4/hf_trace_*.safetensors, as
// adapters/python/capture.py writes them. Several may be given, a short one with all positions and a long one with the
// last ones. What a tensor needs and no file has is drawn from a seed, and Result says so.
func Captured(fsys fs.FS, names ...string) (*States, error) {
	s := &States{seed: "precision/captured"}
	for _, name := range names {
		t, err := trace.Open(fsys, name)
		if err != nil {
			return nil, fmt.Errorf("precision: hidden states: %w", err)
		}
		s.passes = append(s.passes, pass{t.Mat, t.Length, t.Kept, needleOf(t)})
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("precision: no file of hidden states is named; use Seeded for drawn ones")
	}
	s.Source = "hidden states captured in " + strings.Join(names, ", ")
	return s, nil
}

// needleOf finds the recorded answer ("code") in the prompt.
func needleOf(t *trace.Trace) int {
	code := t.Mat("code", 0).Data
	for p := 0; len(code) > 0 && p+len(code) <= len(t.Prompt); p++ {
		equal := true
		for i, c := range code {
			equal = equal && t.Prompt[p+i] == int(c)
		}
		if equal {
			return p
		}
	}
	return -1
}

// Seeded draws every state: Gaussian, one channel in 64 ten times as large and one in 1,024 a hundred times, as
// residual streams have outlier channels; rounded to bf16, as models carry them.
func Seeded(seed string) *States {
	return &States{
		Source: fmt.Sprintf("hidden states drawn from the seed %q, Gaussian with planted outlier channels, bf16", seed),
		seed:   seed,
	}
}

// Record runs a model over a prompt and keeps the states of every position. needle is the position of the first token
// of the answer in the prompt, -1 for none.
func Record(ctx context.Context, m *nano.Model, prompt []int, needle int) (*States, error) {
	rec := recorder{}
	if _, err := m.ExtendRecorded(ctx, m.NewState(), prompt, len(prompt), rec); err != nil {
		return nil, fmt.Errorf("precision: recording hidden states: %w", err)
	}
	return &States{
		Source: fmt.Sprintf("hidden states of a forward pass over %d tokens", len(prompt)), seed: "precision/recorded",
		passes: []pass{{rec.mat, len(prompt), len(prompt), needle}},
	}, nil
}

// recorder keeps tensors; it satisfies nano.Recorder.
type recorder map[string]oracle.Mat

func (r recorder) Tensor(name string, m oracle.Mat) { r[name] = m.Clone() }

func (r recorder) Sets(string, [][]int) {}

func (r recorder) mat(name string, cols int) oracle.Mat {
	m := r[name]
	if cols <= 0 {
		return m
	}
	return oracle.Mat{Rows: len(m.Data) / cols, Cols: cols, Data: m.Data}
}

// site is what enters one tensor: rows of consecutive positions.
type site struct {
	rows func(from, to int) oracle.Mat // of the n known rows
	n    int
	// first is the position of row 0, and pass the recording; both only where captured.
	first    int
	pass     *pass
	captured bool
}

// at finds the recorded states of a name with the most rows, cols wide; without any it draws n rows.
func (s *States) at(name string, cols, n int) site {
	var best site
	for i := range s.passes {
		p := &s.passes[i]
		if m := p.mat(name, 0); len(m.Data) == 0 || len(m.Data)%cols != 0 {
			continue
		}
		if m := p.mat(name, cols); m.Rows == p.kept && m.Rows > best.n {
			best = site{func(from, to int) oracle.Mat { return m.Slice(from, to) }, m.Rows, p.length - p.kept, p, true}
		}
	}
	if best.captured {
		return best
	}
	id := s.seed + "/" + strings.ReplaceAll(name, "_", "-")
	return site{rows: func(from, to int) oracle.Mat { return drawn(id, from, to, cols) }, n: n}
}

// drawn makes rows [from, to) of seeded states; a row does not depend on the others that are asked for.
func drawn(id string, from, to, cols int) oracle.Mat {
	m := oracle.NewMat(to-from, cols)
	for i := range m.Rows {
		rng := suite.Rand(fmt.Sprintf("%s/%d", id, from+i))
		row := m.Row(i)
		for c := range row {
			v := rng.NormFloat64()
			switch {
			case c%1024 == 401:
				v *= 100
			case c%64 == 17:
				v *= 10
			}
			row[c] = v
		}
	}
	format.BF16.RoundSlice(m.Data)
	return m
}

// sample takes at most n rows, evenly spaced, the last one always; where gives their positions among the site's rows.
func (s site) sample(n int) (m oracle.Mat, where []int) {
	n = min(n, s.n)
	for i := range n {
		at := s.n - 1 - (n-1-i)*s.n/n
		row := s.rows(at, at+1)
		m = m.Append(row.Clone())
		where = append(where, at)
	}
	return m, where
}

// Recorded tells states that were captured, at least in part, from those that are drawn.
func (s *States) Recorded() bool { return len(s.passes) > 0 }
