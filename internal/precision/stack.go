package precision

import (
	"context"
	"fmt"
	"math"
	"strings"
	"sync"

	"github.com/assay-suite/assay/internal/suite"
	"github.com/assay-suite/assay/numerics/format"
	"github.com/assay-suite/assay/numerics/layers"
	"github.com/assay-suite/assay/oracle"
)

const (
	stackTokens = 4
	stackRank   = 64 // of the seeded sublayers
)

// stack is the checkpoint's main layers with their own hyper-connections around seeded sublayers: RMSNorm and a rank-64
// SiLU map, its matrices rounded to bf16. Weights are read one layer at a time.
type stack struct {
	m             *meter
	depth, hidden int
	rows          int

	mu    sync.Mutex
	at    int
	layer *stackLayer
}

type stackLayer struct {
	attn, ffn sublayer
}

type sublayer struct {
	hc       hyper
	down, up oracle.Mat // [rank, hidden], [hidden, rank]
}

// stackJobs is the step that measures all layers together; none where a layer lacks a hyper-connection.
func (m *meter) stackJobs() []job {
	s := &stack{m: m, rows: stackTokens}
	for m.has(fmt.Sprintf("layers.%d.hc_attn_fn", s.depth)) && m.has(fmt.Sprintf("layers.%d.hc_ffn_fn", s.depth)) {
		s.depth++
	}
	if s.depth < 2 {
		if s.depth == 1 {
			m.note("one layer has hyper-connections: nothing compounds")
		}
		return nil
	}
	rows, cols, _ := m.shape("layers.0.hc_attn_fn")
	return []job{{"compounding", emulated * float64(s.depth*rows*cols) * stackTokens, s.measure}}
}

// layerAt reads a layer, or gives the one that is held: all candidates stand at the same depth.
func (s *stack) layerAt(l int) (*stackLayer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.layer != nil && s.at == l {
		return s.layer, nil
	}
	var out stackLayer
	for _, part := range []struct {
		name string
		to   *sublayer
	}{{"hc_attn_fn", &out.attn}, {"hc_ffn_fn", &out.ffn}} {
		canon := fmt.Sprintf("layers.%d.%s", l, part.name)
		hc, err := s.m.readMix(canon)
		if err != nil {
			return nil, err
		}
		if hc.fn.Cols != s.hidden*hc.cfg.Streams {
			return nil, fmt.Errorf("%s has %d columns for %d streams, the first layer had %d channels: the layers do not make "+
				"a stack", canon, hc.fn.Cols, hc.cfg.Streams, s.hidden)
		}
		rank := min(stackRank, s.hidden)
		id := "precision/stack/" + strings.ReplaceAll(canon, "_", "-")
		*part.to = sublayer{hc, gaussian(id+"/down", rank, s.hidden), gaussian(id+"/up", s.hidden, rank)}
	}
	s.at, s.layer = l, &out
	return s.layer, nil
}

// gaussian is a matrix that keeps the size of what it multiplies.
func gaussian(id string, rows, cols int) oracle.Mat {
	rng, m := suite.Rand(id), oracle.NewMat(rows, cols)
	for i := range m.Data {
		m.Data[i] = rng.NormFloat64() / math.Sqrt(float64(cols))
	}
	format.BF16.RoundSlice(m.Data)
	return m
}

// step is one layer with the mixing GEMMs done by mix.
func (s *stack) step(mix func(x, w oracle.Mat) (oracle.Mat, error)) layers.Layer {
	return func(l int, state []float64) ([]float64, error) {
		w, err := s.layerAt(l)
		if err != nil {
			return nil, err
		}
		x := oracle.Mat{Rows: s.rows, Cols: len(state) / s.rows, Data: state}
		for _, part := range []*sublayer{&w.attn, &w.ffn} {
			gemm, err := mix(x, part.hc.fn)
			if err != nil {
				return nil, err
			}
			g := part.hc.gates(x, gemm)
			h := oracle.RMSNorm(oracle.HCPre(x, g[0]), nil, s.hidden, s.m.set.normEps)
			a := oracle.Linear(h, part.down)
			for i, z := range a.Data {
				a.Data[i] = z / (1 + math.Exp(-z))
			}
			x = oracle.HCPost(oracle.Linear(a, part.up), g[1], g[2], x)
		}
		return x.Data, nil
	}
}

// measure runs the stack on every path.
func (s *stack) measure(ctx context.Context) ([]Row, error) {
	const first = "layers.0.hc_attn_fn"
	_, cols, _ := s.m.shape(first)
	hc, err := s.m.readMix(first)
	if err != nil {
		return nil, err
	}
	s.hidden = cols / hc.cfg.Streams
	start, _ := s.m.enters(first, module(first, "attn_hc.in.0"), cols, s.rows).sample(s.rows)
	s.rows = start.Rows
	guarded := func(l layers.Layer) layers.Layer {
		return func(depth int, x []float64) ([]float64, error) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			return l(depth, x)
		}
	}
	var steps []layers.Layer
	for _, p := range Paths() {
		steps = append(steps, guarded(s.step(func(x, w oracle.Mat) (oracle.Mat, error) {
			return s.m.o.Candidate("compounding", p, x, w)
		})))
	}
	plan := layers.Plan{Depth: s.depth, Rows: s.rows, Start: start.Data, Seed: suite.Seed("precision/compounding")}
	reports, err := plan.Measure(guarded(s.step(exactly)), steps...)
	if err != nil {
		return nil, fmt.Errorf("compounding through %d layers: %w", s.depth, err)
	}
	var rows []Row
	for i, p := range Paths() {
		free, local := reports[i].Free.RMS(), reports[i].Local.RMS()
		n := suite.Numbers{
			"local": local[s.depth-1], "free-1": free[0], "free-last": free[s.depth-1],
			"gain": reports[i].MeanGain(), "coherence": reports[i].Coherence(),
		}
		note := fmt.Sprintf("%d layers, seeded sublayers of rank %d", s.depth, min(stackRank, s.hidden))
		if law, err := reports[i].Free.Law(0.95); err == nil {
			n["slope"] = law.Slope
			note += fmt.Sprintf("; slope between %.2f and %.2f", law.Lo, law.Hi)
		} else {
			note += "; no slope: " + err.Error()
		}
		rows = append(rows, Row{Tensor: "layers.*.hc", Kind: Compounding, Path: p.Name, Layer: -1, Numbers: n, Note: note})
	}
	return rows, nil
}
