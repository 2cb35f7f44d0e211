package nano

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/assay-suite/assay/internal/nano/fast"
	"github.com/assay-suite/assay/oracle"
)

// Recorder receives intermediate tensors under the names of the Hugging Face module tree, e.g.
// "model.layers.1.self_attn.kv_norm.out". Rows are this call's tokens (or new compressed rows).
type Recorder interface {
	Tensor(name string, m oracle.Mat)
	Sets(name string, ids [][]int)
}

// Extend reads ids after what s holds, updates s and returns the logits of the last positions:
// [last][vocab]. A whole prompt, a chunk of one and a decoded token are the same call.
//
// It fails without touching s when an id is outside the vocabulary, last is not in 0..len(ids), the
// sequence would outgrow max_position_embeddings, ctx is done, or an operator fails.
func (m *Model) Extend(ctx context.Context, s *State, ids []int, last int) ([][]float64, error) {
	return m.ExtendRecorded(ctx, s, ids, last, nil)
}

// ExtendRecorded is Extend with every intermediate tensor handed to rec, which may be nil.
func (m *Model) ExtendRecorded(ctx context.Context, s *State, ids []int, last int, rec Recorder) ([][]float64, error) {
	if err := m.checkInput(s, ids, last); err != nil {
		return nil, err
	}
	if len(ids) == 0 {
		return nil, nil
	}
	next := s.draft()
	if m.ops.Carry != nil && s.length > 0 {
		next.resume(m.ops.Carry)
	}
	pass := m.fast.Begin(m.ops, rec == nil)
	defer pass.End()
	if m.wrap != nil {
		pass.Ops = m.wrap(pass.Ops)
	}
	step := len(ids)
	if pass.Reuses() {
		step = piece
	}
	var logits [][]float64
	for from := 0; from < len(ids); from += step {
		part := ids[from:min(from+step, len(ids))]
		r := &run{Model: m, pass: pass, ops: pass.Ops, ctx: ctx, rec: rec, ids: part, start: next.length}
		rows, err := r.extend(next, min(max(last-(len(ids)-from-len(part)), 0), len(part)))
		if err != nil {
			return nil, err
		}
		logits = append(logits, rows...)
	}
	*s = *next
	return logits, nil
}

// extend reads the run's tokens and returns the logits of the last of them.
func (r *run) extend(s *State, last int) ([][]float64, error) {
	r.positions = make([]int, len(r.ids))
	for t := range r.ids {
		r.positions[t] = r.start + t
	}
	x := r.embed()
	for i := range r.layers {
		if err := r.ctx.Err(); err != nil {
			return nil, err
		}
		r.pass.Layer()
		var err error
		if x, err = r.layer(i, x, &s.layers[i]); err != nil {
			return nil, fmt.Errorf("layer %d: %w", i, err)
		}
	}
	s.length += len(r.ids)
	return r.head(x.Slice(x.Rows-last, x.Rows)), nil
}

func (m *Model) checkInput(s *State, ids []int, last int) error {
	for t, id := range ids {
		if id < 0 || id >= m.Config.Vocab {
			return fmt.Errorf("token %d of the input is %d; ids of this model are 0 to %d", t, id, m.Config.Vocab-1)
		}
	}
	if last < 0 || last > len(ids) {
		return fmt.Errorf("logits of the last %d positions were asked for, but the input has %d tokens", last, len(ids))
	}
	if n := s.length + len(ids); n > m.Config.MaxPositions {
		return fmt.Errorf("the sequence would be %d tokens; the model ends at %d", n, m.Config.MaxPositions)
	}
	return nil
}

// piece is how many tokens are read at once where a prompt in pieces gives the bits of one in one shot: results of a
// layer stay in the caches.
const piece = 512

// run is one Extend, or a piece of one: the tokens of this call and where they stand.
type run struct {
	*Model
	pass      *fast.Pass
	ops       oracle.Ops
	ctx       context.Context
	rec       Recorder
	ids       []int
	positions []int
	start     int
}

func (r *run) record(name string, m oracle.Mat) {
	if r.rec != nil {
		r.rec.Tensor(name, m)
	}
}

func (r *run) embed() oracle.Mat {
	n := r.Config.HC.Streams
	x := r.pass.Mat(len(r.ids), n*r.Config.Hidden)
	for t, id := range r.ids {
		for j := range n {
			copy(x.Row(t)[j*r.Config.Hidden:], r.embedding.Row(id))
		}
	}
	if r.rec != nil {
		flat := oracle.NewMat(len(r.ids), r.Config.Hidden)
		for t, id := range r.ids {
			copy(flat.Row(t), r.embedding.Row(id))
		}
		r.record("model.embed_tokens.out", flat)
	}
	return x
}

func (r *run) layer(i int, x oracle.Mat, s *layerState) (oracle.Mat, error) {
	l := &r.layers[i]
	name := fmt.Sprintf("model.layers.%d.", i)
	x, err := r.around(name+"attn_hc", l.hcAttn, x, func(y oracle.Mat) (oracle.Mat, error) {
		h := r.ops.RMSNorm(y, l.attnNorm, 0, r.Config.NormEps)
		r.record(name+"input_layernorm.out", h)
		return r.attention(name+"self_attn.", l, h, s)
	})
	if err != nil {
		return x, err
	}
	x, err = r.around(name+"ffn_hc", l.hcFFN, x, func(y oracle.Mat) (oracle.Mat, error) {
		h := r.ops.RMSNorm(y, l.ffnNorm, 0, r.Config.NormEps)
		r.record(name+"post_attention_layernorm.out", h)
		return r.feedForward(name+"mlp.", l, h)
	})
	if err != nil {
		return x, err
	}
	r.record(name+"out", x)
	return x, nil
}

// around wraps a sublayer in its hyper-connection.
func (r *run) around(name string, hc hyperConnection, x oracle.Mat,
	sublayer func(oracle.Mat) (oracle.Mat, error),
) (oracle.Mat, error) {
	y, post, comb := r.collapse(x, hc)
	r.record(name+".in.0", x)
	r.record(name+".out.0", post)
	r.record(name+".out.1", comb)
	r.record(name+".out.2", y)
	f, err := sublayer(y)
	if err != nil {
		return x, err
	}
	return r.ops.HCPost(f, post, comb, x), nil
}

// collapse mixes the streams into the sublayer's input, in one operator or three.
func (r *run) collapse(x oracle.Mat, hc hyperConnection) (y, post, comb oracle.Mat) {
	if r.ops.HCCollapse != nil {
		return r.ops.HCCollapse(x, hc.fn, hc.scale, hc.base, r.Config.HC)
	}
	pre, post, comb := r.ops.HCSplit(r.ops.HCMix(x, hc.fn, r.Config.HC.NormEps), hc.scale, hc.base, r.Config.HC)
	return r.ops.HCPre(x, pre), post, comb
}

func (r *run) feedForward(name string, l *layer, h oracle.Mat) (oracle.Mat, error) {
	logits := r.ops.Linear(h, l.gate)
	var routing oracle.Routing
	var err error
	if l.table != nil {
		rows := make([][]int, len(r.ids))
		for t, id := range r.ids {
			rows[t] = l.table[id]
		}
		routing, err = r.ops.HashRoute(logits, rows, r.Config.RoutedScaling)
	} else {
		routing, err = r.ops.Route(logits, l.bias, r.Config.ExpertsPerToken, r.Config.RoutedScaling)
	}
	if err != nil {
		return oracle.Mat{}, err
	}
	var y oracle.Mat
	if r.ops.MixExperts != nil {
		y = r.ops.MixExperts(h, routing, l.experts, l.shared, r.Config.ClampSwiG)
	} else {
		y = oracle.MixExperts(h, routing, l.experts, l.shared, r.Config.ClampSwiG, r.ops.SwiGLU)
	}
	if r.rec != nil {
		r.record(name+"gate.out.0", logits)
		weights := oracle.NewMat(len(r.ids), r.Config.ExpertsPerToken)
		for t, w := range routing.Weights {
			copy(weights.Row(t), w)
		}
		r.record(name+"gate.out.1", weights)
		r.rec.Sets(name+"gate.out.2", routing.Experts)
		r.record(name+"out", y)
	}
	return y, nil
}

// head collapses the streams of the given rows and projects them to logits.
func (r *run) head(x oracle.Mat) [][]float64 {
	pre := r.ops.HCHead(r.ops.HCMix(x, r.hcHead.fn, r.Config.HC.NormEps), r.hcHead.scale[0], r.hcHead.base,
		r.Config.HC.Eps)
	h := r.ops.HCPre(x, pre)
	r.record("model.hc_head.in.0", x)
	r.record("model.hc_head.out", h)
	h = r.ops.RMSNorm(h, r.norm, 0, r.Config.NormEps)
	r.record("model.norm.out", h)
	logits := r.ops.Linear(h, r.lmHead)
	r.record("lm_head.out", logits)
	rows := make([][]float64, logits.Rows)
	for t := range rows {
		rows[t] = slices.Clone(logits.Row(t)) // the operators may use their memory again
	}
	return rows
}

func invSqrt(n int) float64 { return 1 / math.Sqrt(float64(n)) }
