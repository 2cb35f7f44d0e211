package checkpoint

import (
	"slices"
	"strconv"
)

// Want is a tensor that a config calls for, in the release's spelling, before quantisation: the shape is
// in elements, whatever the storage packs.
type Want struct {
	Name  string
	Shape []int
	Role  Role

	layer, expert int // -1 outside layers, and for what is no routed expert
	mtp           bool
}

// Role says what a tensor is for, and so how it may be stored.
type Role int

// The roles. Only Linear and Expert tensors have scales beside them.
const (
	Vector Role = iota // norms, biases, mHC parameters: bf16 or fp32
	Matrix             // embedding, head, gate, compressor: bf16 or fp32
	Linear             // attention and shared experts: bf16, fp32, or fp8 with block scales
	Expert             // routed experts: any of the above, MXFP4 or NVFP4
	Table              // tid2eid: integers
)

// Wants lists every tensor that the config calls for, without scales.
//
// Sources: math-level names and shapes of the V4 release (inference/model.py, convert.py) and of
// DeepSeek-V3.2-Exp (inference/model.py). The counts agree with what was published for V4-Flash: 69,187
// tensors in the original, 135,235 in NVFP4, 270 of them hc_*.
func (c Config) Wants() []Want {
	switch c.Family {
	case FamilyV4:
		return c.wantsV4()
	case FamilyV32:
		return c.wantsV32()
	}
	return nil
}

// wishes builds a list with a common prefix.
type wishes struct {
	list          []Want
	prefix        string
	layer, expert int
	mtp           bool
}

// at sets the layer that the next tensors are of; -1 is outside layers.
func (w *wishes) at(prefix string, layer int, mtp bool) {
	w.prefix, w.layer, w.expert, w.mtp = prefix, layer, -1, mtp
}

func (w *wishes) add(role Role, name string, shape ...int) {
	w.list = append(w.list, Want{w.prefix + name, slices.Clone(shape), role, w.layer, w.expert, w.mtp})
}

func (c Config) wantsV4() []Want {
	w := &wishes{list: make([]Want, 0, 64+(c.Layers+c.MTP)*(40+3*c.Experts))}
	for i := range c.Layers {
		w.at("layers."+strconv.Itoa(i)+".", i, false)
		c.blockV4(w, c.Ratios[i], c.Sparse[i], c.Hash[i])
	}
	for i := range c.MTP {
		w.at("mtp."+strconv.Itoa(i)+".", i, true)
		c.blockV4(w, 0, false, false)
		w.add(Linear, "e_proj.weight", c.Hidden, c.Hidden)
		w.add(Linear, "h_proj.weight", c.Hidden, c.Hidden)
		for _, n := range []string{"enorm.weight", "hnorm.weight", "norm.weight"} {
			w.add(Vector, n, c.Hidden)
		}
		c.headHC(w)
	}
	w.at("", -1, false)
	w.add(Matrix, "embed.weight", c.Vocab, c.Hidden)
	w.add(Matrix, "head.weight", c.Vocab, c.Hidden)
	w.add(Vector, "norm.weight", c.Hidden)
	c.headHC(w)
	return w.list
}

func (c Config) headHC(w *wishes) {
	w.add(Vector, "hc_head_fn", c.Streams, c.Streams*c.Hidden)
	w.add(Vector, "hc_head_base", c.Streams)
	w.add(Vector, "hc_head_scale", 1)
}

// blockV4 adds one layer: mHC, norms, attention, gate, experts.
func (c Config) blockV4(w *wishes, ratio int, sparse, hash bool) {
	mix := c.Streams * (c.Streams + 2) // pre, post and a square comb
	for _, s := range []string{"hc_attn_", "hc_ffn_"} {
		w.add(Vector, s+"fn", mix, c.Streams*c.Hidden)
		w.add(Vector, s+"base", mix)
		w.add(Vector, s+"scale", 3)
	}
	w.add(Vector, "attn_norm.weight", c.Hidden)
	w.add(Vector, "ffn_norm.weight", c.Hidden)
	w.add(Vector, "attn.attn_sink", c.Heads)
	w.add(Linear, "attn.wq_a.weight", c.QRank, c.Hidden)
	w.add(Vector, "attn.q_norm.weight", c.QRank)
	w.add(Linear, "attn.wq_b.weight", c.Heads*c.HeadDim, c.QRank)
	w.add(Linear, "attn.wkv.weight", c.HeadDim, c.Hidden)
	w.add(Vector, "attn.kv_norm.weight", c.HeadDim)
	w.add(Linear, "attn.wo_a.weight", c.OGroups*c.ORank, c.Heads*c.HeadDim/c.OGroups)
	w.add(Linear, "attn.wo_b.weight", c.Hidden, c.OGroups*c.ORank)
	if ratio > 0 {
		c.compressor(w, "attn.compressor.", ratio, sparse, c.HeadDim)
	}
	if sparse {
		w.add(Linear, "attn.indexer.wq_b.weight", c.IndexHeads*c.IndexDim, c.QRank)
		w.add(Matrix, "attn.indexer.weights_proj.weight", c.IndexHeads, c.Hidden)
		c.compressor(w, "attn.indexer.compressor.", ratio, true, c.IndexDim)
	}
	w.add(Matrix, "ffn.gate.weight", c.Experts, c.Hidden)
	if hash {
		w.add(Table, "ffn.gate.tid2eid", c.Vocab, c.PerToken)
	} else {
		w.add(Vector, "ffn.gate.bias", c.Experts)
	}
	c.experts(w)
}

// compressor adds a gated pooling; one that overlaps holds two halves side by side.
func (c Config) compressor(w *wishes, at string, ratio int, overlap bool, dim int) {
	wide := dim
	if overlap {
		wide = 2 * dim
	}
	w.add(Vector, at+"ape", ratio, wide)
	w.add(Vector, at+"norm.weight", dim)
	w.add(Matrix, at+"wgate.weight", wide, c.Hidden)
	w.add(Matrix, at+"wkv.weight", wide, c.Hidden)
}

// experts adds shared and routed experts: w1 gate, w3 up, w2 down.
func (c Config) experts(w *wishes) {
	part := func(role Role, at string, inner int) {
		w.add(role, at+"w1.weight", inner, c.Hidden)
		w.add(role, at+"w2.weight", c.Hidden, inner)
		w.add(role, at+"w3.weight", inner, c.Hidden)
	}
	part(Linear, "ffn.shared_experts.", c.Shared*c.Inner)
	for e := range c.Experts {
		w.expert = e
		part(Expert, "ffn.experts."+strconv.Itoa(e)+".", c.Inner)
	}
	w.expert = -1
}
