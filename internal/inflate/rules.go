package inflate

import (
	"fmt"
	"math"

	"github.com/assay-suite/assay/internal/nano"
	"github.com/assay-suite/assay/safetensors"
)

// role says which tensors are stored alike.
type role int

const (
	plain    role = iota // embeddings, norms, gates: bf16 where anything is narrowed
	exact                // what every release keeps in fp32: hyper-connections, sinks, biases, position biases
	linear               // attention's matrices
	grouped              // wo_a, which vLLM multiplies in fp8 whatever the others are
	expert               // a routed expert's
	together             // the shared expert's
	table                // int64
)

// tensor is one tensor of the large model, under the release's name.
type tensor struct {
	name  string
	role  role
	shape []int
	build func() (*matrix, error) // a vector is a matrix of one column
	ids   func() ([]int64, error) // of a table
	twin  string                  // the tensor that NVFP4's factor is shared with: w3 of w1
}

// quiet is what the spare channel of the stream carries: so little that no norm sees it, and enough for the head rows
// of words that must never be answered.
const (
	quiet  = 0x1p-34
	silent = -0x1p50
)

// builder lists the tensors of an inflation.
type builder struct {
	*layout
	ckpt   *safetensors.Checkpoint
	layers []layer
	list   []tensor
}

// data is a tensor of the small model.
func (b *builder) data(name string, shape ...int) ([]float64, error) {
	return nano.Dequantise(b.ckpt, name, shape)
}

// want is what is done with one small tensor.
type want struct {
	role       role
	rows, cols dims
	scale      float64
	norm       string // the norm before it, whose weight its columns take over where they are rotated
	shape      []int  // of the small tensor; nil: rows, cols
	fix        func(i int, row []float64)
}

// add says that the large tensor name is the small tensor from by w.
func (b *builder) add(name, from string, w want) {
	shape := w.shape
	if shape == nil {
		if shape = []int{w.rows.small()}; w.cols != nil {
			shape = append(shape, w.cols.small())
		}
	}
	large := []int{w.rows.large()}
	if w.cols != nil {
		large = append(large, w.cols.large())
	}
	b.list = append(b.list, tensor{name: name, role: w.role, shape: large, build: func() (*matrix, error) {
		values, err := b.data(from, shape...)
		if err != nil {
			return nil, err
		}
		if w.norm != "" && w.cols[len(w.cols)-1].basis != nil {
			weight, err := b.data(w.norm, w.cols.small())
			if err != nil {
				return nil, err
			}
			for i := range values {
				values[i] *= weight[i%len(weight)]
			}
		}
		m := inflate(values, w.rows, w.cols, w.scale)
		m.fix = w.fix
		return m, nil
	}})
}

// given adds a tensor whose values are known.
func (b *builder) given(name string, values []float64) {
	b.list = append(b.list, tensor{name: name, role: exact, shape: []int{len(values)}, build: func() (*matrix, error) {
		return inflate(values, dims{{placed(len(values), upTo(len(values))), copied}}, nil, 1), nil
	}})
}

// norm adds the weight of an RMS norm over an axis: ones where the next matrix has taken it over.
func (b *builder) norm(name, from string, a *axis, scale float64, fix func(int, []float64)) {
	if a.basis == nil {
		b.add(name, from, want{rows: dims{{a, copied}}, scale: scale, fix: fix})
		return
	}
	b.list = append(b.list, tensor{name: name, shape: []int{a.N}, build: func() (*matrix, error) {
		return &matrix{
			rows: a.N, cols: 1, core: []float64{1}, coreCols: 1, row: make([]int, a.N), col: []int{0},
			rowFactor: repeat(scale, a.N), colFactor: []float64{1}, fix: fix,
		}, nil
	}})
}

func repeat(v float64, n int) []float64 {
	s := make([]float64, n)
	for i := range s {
		s[i] = v
	}
	return s
}

// tensors are all of the large model.
func tensors(m *layout, ckpt *safetensors.Checkpoint, layers []layer) []tensor {
	b := &builder{layout: m, ckpt: ckpt, layers: layers}
	hidden, last := dims{{m.hidden, iso}}, m.shape.Hidden-1
	into := dims{{m.streams, copied}, {m.hidden, iso}}
	b.add("embed.weight", "embed.weight", want{
		rows: dims{{m.tokens, copied}}, cols: hidden, scale: m.hiddenScale,
		fix: func(_ int, row []float64) { row[last] = quiet },
	})
	b.add("head.weight", "head.weight", want{
		rows: dims{{m.answers, copied}}, cols: hidden, scale: 1 / m.hiddenScale, norm: "norm.weight",
		fix: func(i int, row []float64) {
			if row[last] = 0; i >= m.small.Vocab {
				row[last] = silent
			}
		},
	})
	b.norm("norm.weight", "norm.weight", m.hidden, 1, func(i int, row []float64) {
		if i == last {
			row[0] = 1
		}
	})
	b.add("hc_head_fn", "hc_head_fn", want{
		role: exact, rows: dims{{m.streams, copied}}, cols: into, scale: 1 / m.hiddenScale,
	})
	b.same("hc_head_base", "hc_head_base", m.small.HC.Streams)
	b.same("hc_head_scale", "hc_head_scale", 1)
	for i, l := range layers {
		b.layer(fmt.Sprintf("layers.%d.", i), l)
	}
	return b.list
}

// same adds a vector that is the small one.
func (b *builder) same(name, from string, n int) {
	b.add(name, from, want{role: exact, rows: dims{{placed(n, upTo(n)), copied}}, scale: 1})
}

func (b *builder) layer(p string, l layer) {
	attn, ffn := fmt.Sprintf("layers.%d.", l.attn), fmt.Sprintf("layers.%d.", l.ffn)
	b.hyperConnection(p+"hc_attn_", attn+"hc_attn_", l)
	b.hyperConnection(p+"hc_ffn_", ffn+"hc_ffn_", l)
	b.norm(p+"attn_norm.weight", attn+"attn_norm.weight", b.hidden, 1, nil)
	b.norm(p+"ffn_norm.weight", ffn+"ffn_norm.weight", b.hidden, 1, nil)
	b.attention(p+"attn.", attn, l)
	b.feedForward(p+"ffn.", ffn, l)
}

// hyperConnection adds the mixing of the streams; of a passing layer one that takes each stream to itself and nothing
// from the sublayer: gates whose sigmoid is 0, a comb whose softmax is the identity.
func (b *builder) hyperConnection(name, from string, l layer) {
	n := b.small.HC.Streams
	mixes := (2 + n) * n
	all := dims{{placed(mixes, upTo(mixes)), copied}}
	b.add(name+"fn", from+"fn", want{
		role: exact, rows: all, cols: dims{{b.streams, copied}, {b.hidden, iso}}, scale: 1 / b.hiddenScale,
	})
	if !l.passing {
		b.same(name+"base", from+"base", mixes)
		b.same(name+"scale", from+"scale", 3)
		return
	}
	base := make([]float64, mixes)
	for j := range n {
		base[n+j] = -shut
		for k := range n {
			if base[2*n+j*n+k] = -shut; j == k {
				base[2*n+j*n+k] = shut
			}
		}
	}
	b.given(name+"base", base)
	b.given(name+"scale", make([]float64, 3))
}

// shut is far enough from 0 for a sigmoid or a softmax that is 0 in fp32.
const shut = 200

func (b *builder) attention(p, from string, l layer) {
	a := from + "attn."
	hidden, norm := dims{{b.hidden, iso}}, from+"attn_norm.weight"
	heads := dims{{b.groups, copied}, {b.perGroup, copied}}
	qRank := dims{{b.qRank, iso}}
	read, write := 1/b.hiddenScale, b.hiddenScale
	b.add(p+"attn_sink", a+"attn_sink", want{role: exact, rows: heads, scale: 1})
	b.add(p+"wq_a.weight", a+"wq_a.weight", want{
		role:  linear,
		rows:  qRank,
		cols:  hidden,
		scale: b.qScale * read,
		norm:  norm,
	})
	b.norm(p+"q_norm.weight", a+"q_norm.weight", b.qRank, 1, nil)
	b.add(p+"wq_b.weight", a+"wq_b.weight", want{
		role: linear, rows: append(heads, part{b.head, iso}), cols: qRank, scale: b.headScale / b.qScale,
		norm: a + "q_norm.weight",
	})
	b.add(p+"wkv.weight", a+"wkv.weight", want{
		role: linear, rows: dims{{b.head, iso}}, cols: hidden, scale: b.headScale * read, norm: norm,
	})
	b.norm(p+"kv_norm.weight", a+"kv_norm.weight", b.head, 1/b.headScale, nil)
	b.add(p+"wo_a.weight", a+"wo_a.weight", want{
		role: grouped, rows: dims{{b.groups, copied}, {b.oRank, iso}}, cols: dims{{b.perGroup, shared}, {b.head, iso}},
		scale: 1,
	})
	b.add(p+"wo_b.weight", a+"wo_b.weight", want{
		role: linear, rows: hidden, cols: dims{{b.groups, shared}, {b.oRank, iso}}, scale: write,
	})
	if l.ratio > 0 {
		b.compressor(p+"compressor.", a+"compressor.", norm, l, b.head, b.headScale)
	}
	if l.sparse {
		p, a := p+"indexer.", a+"indexer."
		b.compressor(p+"compressor.", a+"compressor.", norm, l, b.index, b.indexScale)
		b.add(p+"wq_b.weight", a+"wq_b.weight", want{
			role: linear, rows: dims{{b.indexHeads, copied}, {b.index, iso}}, cols: qRank, scale: 1 / b.qScale,
			norm: from + "attn.q_norm.weight",
		})
		b.add(p+"weights_proj.weight", a+"weights_proj.weight", want{
			rows: dims{{b.indexHeads, shared}}, cols: hidden, norm: norm,
			scale: read * ratio(b.shape.IndexHeads, b.small.IndexHeads) * b.indexScale,
		})
	}
}

// compressor adds the pooling of rows of one width. Its gates are copied: a softmax over the tokens is taken of each
// number by itself.
func (b *builder) compressor(p, a, norm string, l layer, width *axis, scale float64) {
	two := 1
	if l.sparse {
		two = 2 // the block before it, overlapping
	}
	halves := part{placed(two, upTo(two)), copied}
	hidden := dims{{b.hidden, iso}}
	read := 1 / b.hiddenScale
	b.add(p+"wkv.weight", a+"wkv.weight", want{
		rows: dims{halves, {width, iso}}, cols: hidden, scale: scale * read, norm: norm,
	})
	b.add(p+"wgate.weight", a+"wgate.weight", want{
		rows: dims{halves, {width, copied}}, cols: hidden, scale: read, norm: norm,
	})
	b.add(p+"ape", a+"ape", want{
		role: exact, rows: dims{{placed(l.ratio, upTo(l.ratio)), copied}}, cols: dims{halves, {width, copied}}, scale: 1,
	})
	b.norm(p+"norm.weight", a+"norm.weight", width, 1/scale, nil)
}

func (b *builder) feedForward(p, from string, l layer) {
	f, norm := from+"ffn.", from+"ffn_norm.weight"
	experts, spare := b.experts[l.ffn], b.spare[l.ffn]
	hidden, read := dims{{b.hidden, iso}}, 1/b.hiddenScale
	b.add(p+"gate.weight", f+"gate.weight", want{rows: dims{{experts, copied}}, cols: hidden, scale: read, norm: norm})
	if l.hash {
		b.table(p+"gate.tid2eid", f+"gate.tid2eid", experts)
	} else {
		b.add(p+"gate.bias", f+"gate.bias", want{
			role: exact, rows: dims{{experts, copied}}, scale: 1,
			fix: func(e int, row []float64) {
				if spare[e] {
					row[0] = never
				}
			},
		})
	}
	one := func(p, f string, r role) {
		w := want{role: r, rows: dims{{b.inner, copied}}, cols: hidden, scale: read, norm: norm}
		b.add(p+"w1.weight", f+"w1.weight", w)
		b.add(p+"w3.weight", f+"w3.weight", w)
		b.list[len(b.list)-2].twin, b.list[len(b.list)-1].twin = p+"w3.weight", p+"w1.weight"
		b.add(p+"w2.weight", f+"w2.weight", want{
			role: r, rows: hidden, cols: dims{{b.inner, shared}}, scale: b.hiddenScale,
		})
	}
	for e, source := range experts.source {
		one(fmt.Sprintf("%sexperts.%d.", p, e), fmt.Sprintf("%sexperts.%d.", f, source), expert)
	}
	one(p+"shared_experts.", f+"shared_experts.", together)
}

// never is a bias with which an expert is not chosen: scores are square roots of softplus, far below it.
const never = -10000

// table adds the experts of each token of a hash-routed layer: as many copies of a small expert as the shape's token
// has experts for each of the small one's, drawn from all copies by the token's id.
func (b *builder) table(name, from string, experts *axis) {
	c := b.small
	b.list = append(b.list, tensor{
		name: name, role: table, shape: []int{b.tokens.N, b.shape.TopExperts},
		ids: func() ([]int64, error) {
			small, err := b.ckpt.Int64s(from)
			if err != nil {
				return nil, err
			}
			if len(small) != c.Vocab*c.ExpertsPerToken {
				return nil, fmt.Errorf("%s has %d entries for %d tokens with %d experts each", from, len(small), c.Vocab,
					c.ExpertsPerToken)
			}
			of := make([][]int64, c.Experts)
			for e, source := range experts.source {
				of[source] = append(of[source], int64(e))
			}
			copies := b.shape.TopExperts / c.ExpertsPerToken
			var all []int64
			for id, source := range b.tokens.source {
				for _, e := range small[source*c.ExpertsPerToken : (source+1)*c.ExpertsPerToken] {
					for i := range copies {
						all = append(all, of[e][(id+i)%len(of[e])])
					}
				}
			}
			return all, nil
		},
	})
}

// amax is the largest magnitude of a matrix.
func (m *matrix) amax() float64 {
	worst, row := 0.0, make([]float64, m.cols)
	for i := range m.rows {
		m.fill(i, row)
		for _, v := range row {
			worst = math.Max(worst, math.Abs(v))
		}
	}
	return worst
}
