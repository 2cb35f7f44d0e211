package nano

import (
	"github.com/assay-suite/assay/internal/nano/fast"
	"github.com/assay-suite/assay/oracle"
)

// Fast is the same model with fast operators: matrix products, attention and index scores in fp32 on all cores, each
// within its derived bound of the oracle's (internal/nano/fast). An operator that was exchanged, for a fault or a
// kernel, stays what it is, and stays so in With. A prompt in chunks gives the bits of one in one shot.
func (m *Model) Fast() *Model {
	other := *m
	other.fast = fast.New(m.matrices())
	return &other
}

// matrices are the weights that products are taken with.
func (m *Model) matrices() []oracle.Mat {
	all := []oracle.Mat{m.lmHead, m.hcHead.fn}
	experts := func(of ...oracle.ExpertWeights) {
		for _, e := range of {
			all = append(all, e.W1, e.W2, e.W3)
		}
	}
	for _, l := range m.layers {
		all = append(all, l.hcAttn.fn, l.hcFFN.fn, l.wqA, l.wqB, l.wkv, l.woA, l.woB, l.gate)
		if l.compressor != nil {
			all = append(all, l.compressor.wkv, l.compressor.wgate)
		}
		if l.indexer != nil {
			all = append(all, l.indexer.wkv, l.indexer.wgate, l.indexer.wqB, l.indexer.weights)
		}
		experts(l.shared)
		experts(l.experts...)
	}
	return all
}
