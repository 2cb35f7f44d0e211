package nano

import "github.com/assay-suite/assay/oracle"

// Kind says what a matrix is for, by which engines choose the number format that it is stored in. Vectors, the mixing
// matrices of hyper-connections and position biases are of no kind: every format keeps them in fp32.
type Kind int

// The kinds, as the formats of internal/inflate tell them apart.
const (
	Plain   Kind = iota // embedding, head, router, compressors, the indexer's head weights
	Linear              // projections of attention and indexer
	Grouped             // the first half of the output projection
	Routed              // experts
	Shared              // the shared expert
)

// Stored is the same model with every matrix [rows, cols] as a number format gives it back. It has no fast operators
// of its own: those are packed from weights, so Fast comes after it.
func (m *Model) Stored(as func(k Kind, w oracle.Mat) oracle.Mat) *Model {
	other := *m
	other.fast = nil
	other.embedding, other.lmHead = as(Plain, m.embedding), as(Plain, m.lmHead)
	expert := func(k Kind, e oracle.ExpertWeights) oracle.ExpertWeights {
		return oracle.ExpertWeights{W1: as(k, e.W1), W2: as(k, e.W2), W3: as(k, e.W3)}
	}
	other.layers = make([]layer, len(m.layers))
	for i, l := range m.layers {
		for _, w := range []*oracle.Mat{&l.wqA, &l.wqB, &l.wkv, &l.woB} {
			*w = as(Linear, *w)
		}
		l.woA, l.gate = as(Grouped, l.woA), as(Plain, l.gate)
		if l.compressor != nil {
			c := *l.compressor
			c.wkv, c.wgate = as(Plain, c.wkv), as(Plain, c.wgate)
			l.compressor = &c
		}
		if l.indexer != nil {
			x := *l.indexer
			x.wkv, x.wgate, x.weights = as(Plain, x.wkv), as(Plain, x.wgate), as(Plain, x.weights)
			x.wqB = as(Linear, x.wqB)
			l.indexer = &x
		}
		l.shared = expert(Shared, l.shared)
		experts := make([]oracle.ExpertWeights, len(l.experts))
		for e, w := range l.experts {
			experts[e] = expert(Routed, w)
		}
		l.experts = experts
		other.layers[i] = l
	}
	return &other
}

// Around is the same model whose passes run with what wrap makes of their operators, the fast ones among them.
// Wrapping keeps a row's result independent of the rows beside it, or chunks no longer give the bits of one shot.
func (m *Model) Around(wrap func(oracle.Ops) oracle.Ops) *Model {
	other := *m
	other.wrap = wrap
	return &other
}
