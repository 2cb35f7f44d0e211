package fast

import (
	"reflect"
	"sync"

	"github.com/assay-suite/assay/oracle"
)

// Kernels are a model's weights as the fast operators want them: packed in fp32, with tables that are filled as they
// are used. They may be used by any number of goroutines.
type Kernels struct {
	weights    map[*float64]*panels // by the first element of the oracle's matrix
	arenas     sync.Pool
	turnTables sync.Map // oracle.Rope -> *turns
}

// New packs weights. Matrices that are not among them stay with the oracle's operators.
func New(weights []oracle.Mat) *Kernels {
	k := &Kernels{weights: make(map[*float64]*panels, len(weights))}
	k.arenas.New = func() any { return new(arena) }
	for _, w := range weights {
		if len(w.Data) > 0 && w.Cols%4 == 0 {
			k.weights[&w.Data[0]] = pack(w)
		}
	}
	return k
}

// Pass is one forward pass: the operators to run it with, and the memory of their results.
type Pass struct {
	Ops oracle.Ops

	s *session
}

// session is what the operators of a pass share.
type session struct {
	*Kernels
	memory *arena // nil: every result has memory of its own
}

// Begin starts a pass with ops, of which those that are still the oracle's are exchanged for fast ones. Nil kernels
// exchange none.
//
// With reuse, a result lives until the second Layer after it was made, or until End: the caller copies what it keeps.
// That holds only where nobody else sees results, so it is not done when an operator has been exchanged by others.
func (k *Kernels) Begin(ops oracle.Ops, reuse bool) *Pass {
	if k == nil {
		return &Pass{Ops: ops}
	}
	p := &Pass{Ops: ops, s: &session{Kernels: k}}
	if p.exchange() && reuse {
		p.s.memory, _ = k.arenas.Get().(*arena)
	}
	return p
}

// Reuses reports whether results live only as long as Begin says.
func (p *Pass) Reuses() bool { return p.s != nil && p.s.memory != nil }

// Layer starts a layer: results made before the last call are gone.
func (p *Pass) Layer() {
	if p.Reuses() {
		p.s.memory.flip()
	}
}

// End ends the pass and with it all its results.
func (p *Pass) End() {
	if p.Reuses() {
		p.s.arenas.Put(p.s.memory)
		p.s.memory = nil
	}
}

// Mat is a matrix of any content that lives as long as a result.
func (p *Pass) Mat(rows, cols int) oracle.Mat {
	if p.s == nil {
		return oracle.NewMat(rows, cols)
	}
	return p.s.mat(rows, cols)
}

// exchange puts fast operators in the place of those that are still the oracle's, and reports whether all were.
func (p *Pass) exchange() bool {
	ops, s, exact := &p.Ops, p.s, oracle.Reference()
	theirs := ops.HCCollapse != nil || ops.SelectRows != nil || ops.MixExperts != nil || ops.Carry != nil
	is := func(have, reference any) bool {
		same := reflect.ValueOf(have).Pointer() == reflect.ValueOf(reference).Pointer()
		theirs = theirs || !same
		return same
	}
	mix, split, pre := is(ops.HCMix, exact.HCMix), is(ops.HCSplit, exact.HCSplit), is(ops.HCPre, exact.HCPre)
	if mix && split && pre && ops.HCCollapse == nil {
		ops.HCCollapse = s.collapse
	}
	if mix {
		ops.HCMix = oracle.HCMixWith(s.linear)
	}
	if is(ops.SwiGLU, exact.SwiGLU) {
		if ops.SwiGLU = s.swiGLU; ops.MixExperts == nil {
			ops.MixExperts = s.mixExperts
		}
	}
	if is(ops.SelectTopK, exact.SelectTopK) && ops.SelectRows == nil {
		ops.SelectRows = s.selectRows
	}
	if is(ops.Linear, exact.Linear) {
		ops.Linear = s.linear
	}
	if is(ops.RMSNorm, exact.RMSNorm) {
		ops.RMSNorm = s.rmsNorm
	}
	if is(ops.RotateInterleaved, exact.RotateInterleaved) {
		ops.RotateInterleaved = s.rotate
	}
	if is(ops.HCPost, exact.HCPost) {
		ops.HCPost = s.spread
	}
	if is(ops.Compress, exact.Compress) {
		ops.Compress = s.compress
	}
	if is(ops.IndexerLogits, exact.IndexerLogits) {
		ops.IndexerLogits = s.indexerLogits
	}
	if is(ops.Attention, exact.Attention) {
		ops.Attention = s.attention
	}
	if is(ops.GroupedProjection, exact.GroupedProjection) {
		ops.GroupedProjection = s.groupedProjection
	}
	if is(ops.Route, exact.Route) {
		ops.Route = s.route
	}
	is(ops.HCHead, exact.HCHead)
	is(ops.HashRoute, exact.HashRoute)
	return !theirs
}

func (k *Kernels) packed(w oracle.Mat) (*panels, bool) {
	if len(w.Data) == 0 {
		return nil, false
	}
	p, ok := k.weights[&w.Data[0]]
	return p, ok && p.n == w.Rows && p.k == w.Cols
}
