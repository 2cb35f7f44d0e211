package checkpoint

import "strconv"

// wantsV32 lists V3.2: latent attention, indexer with its own key projection, grouped sigmoid gate,
// and the first layers dense. The MTP layer follows the main layers in the Hugging Face release
// (layers.61) and brings its own embedding and head.
func (c Config) wantsV32() []Want {
	w := &wishes{}
	for i := range c.Layers + c.MTP {
		w.at("layers."+strconv.Itoa(i)+".", i, false)
		c.attentionV32(w)
		if i < c.Dense {
			w.add(Linear, "ffn.w1.weight", c.DenseInner, c.Hidden)
			w.add(Linear, "ffn.w2.weight", c.Hidden, c.DenseInner)
			w.add(Linear, "ffn.w3.weight", c.DenseInner, c.Hidden)
		} else {
			w.add(Matrix, "ffn.gate.weight", c.Experts, c.Hidden)
			w.add(Vector, "ffn.gate.bias", c.Experts)
			c.experts(w)
		}
		if i >= c.Layers {
			w.add(Linear, "eh_proj.weight", c.Hidden, 2*c.Hidden)
			w.add(Vector, "enorm.weight", c.Hidden)
			w.add(Vector, "hnorm.weight", c.Hidden)
			w.add(Vector, "shared_head.norm.weight", c.Hidden)
			w.add(Matrix, "shared_head.head.weight", c.Vocab, c.Hidden)
			w.add(Matrix, "embed_tokens.weight", c.Vocab, c.Hidden)
		}
	}
	w.at("", -1, false)
	w.add(Matrix, "embed.weight", c.Vocab, c.Hidden)
	w.add(Matrix, "head.weight", c.Vocab, c.Hidden)
	w.add(Vector, "norm.weight", c.Hidden)
	return w.list
}

func (c Config) attentionV32(w *wishes) {
	w.add(Vector, "attn_norm.weight", c.Hidden)
	w.add(Vector, "ffn_norm.weight", c.Hidden)
	w.add(Linear, "attn.wq_a.weight", c.QRank, c.Hidden)
	w.add(Vector, "attn.q_norm.weight", c.QRank)
	w.add(Linear, "attn.wq_b.weight", c.Heads*(c.NopeDim+c.RopeDim), c.QRank)
	w.add(Linear, "attn.wkv_a.weight", c.KVRank+c.RopeDim, c.Hidden)
	w.add(Vector, "attn.kv_norm.weight", c.KVRank)
	w.add(Linear, "attn.wkv_b.weight", c.Heads*(c.NopeDim+c.VDim), c.KVRank)
	w.add(Linear, "attn.wo.weight", c.Hidden, c.Heads*c.VDim)
	w.add(Linear, "attn.indexer.wq_b.weight", c.IndexHeads*c.IndexDim, c.QRank)
	w.add(Linear, "attn.indexer.wk.weight", c.IndexDim, c.Hidden)
	w.add(Vector, "attn.indexer.k_norm.weight", c.IndexDim)
	w.add(Vector, "attn.indexer.k_norm.bias", c.IndexDim)
	w.add(Matrix, "attn.indexer.weights_proj.weight", c.IndexHeads, c.Hidden)
}
