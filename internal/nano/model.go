package nano

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/assay-suite/assay/internal/nano/fast"
	"github.com/assay-suite/assay/internal/spelling"
	"github.com/assay-suite/assay/oracle"
	"github.com/assay-suite/assay/safetensors"
)

// Model is a loaded checkpoint and the operators it is run with. It is read-only after Load and may
// be used by any number of goroutines, each with its own State.
type Model struct {
	Config Config

	ops               oracle.Ops
	fast              *fast.Kernels               // nil: ops as they are
	wrap              func(oracle.Ops) oracle.Ops // what runs in their place; nil: they themselves
	embedding, lmHead oracle.Mat
	norm              []float64
	hcHead            hyperConnection
	layers            []layer
}

type hyperConnection struct {
	fn          oracle.Mat
	scale, base []float64
}

type layer struct {
	ratio   int
	overlap bool

	hcAttn, hcFFN           hyperConnection
	attnNorm, ffnNorm       []float64
	sink, qNorm, kvNorm     []float64
	wqA, wqB, wkv, woA, woB oracle.Mat
	compressor              *compressor
	indexer                 *indexer

	gate    oracle.Mat
	bias    []float64 // nil in hash layers
	table   [][]int   // nil in learned layers
	experts []oracle.ExpertWeights
	shared  oracle.ExpertWeights
}

type compressor struct {
	ape, wkv, wgate oracle.Mat
	norm            []float64
}

type indexer struct {
	compressor
	wqB, weights oracle.Mat
}

// Load reads a checkpoint folder: model.safetensors or shards with an index, in either naming
// scheme and any of the three storage formats of fixtures, config.json beside it or nano-v4's own.
// Every shape is checked against the config. ops are the operators the model will run with.
func Load(fsys fs.FS, ops oracle.Ops) (_ *Model, err error) {
	cfg, err := LoadConfig(fsys)
	if err != nil {
		return nil, err
	}
	ckpt, err := safetensors.OpenSpelled(fsys, ".", spelling.Release)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, ckpt.Close()) }()
	w := &weights{ckpt: ckpt}
	m := &Model{Config: cfg, ops: ops}
	width := cfg.HC.Streams * cfg.Hidden
	m.embedding = w.mat("embed.weight", cfg.Vocab, cfg.Hidden)
	m.lmHead = w.mat("head.weight", cfg.Vocab, cfg.Hidden)
	m.norm = w.vec("norm.weight", cfg.Hidden)
	m.hcHead = hyperConnection{
		fn:    w.mat("hc_head_fn", cfg.HC.Streams, width),
		scale: w.vec("hc_head_scale", 1),
		base:  w.vec("hc_head_base", cfg.HC.Streams),
	}
	for i := range cfg.Layers {
		m.layers = append(m.layers, w.layer(cfg, i))
	}
	if w.err != nil {
		return nil, fmt.Errorf("loading the checkpoint: %w", w.err)
	}
	return m, nil
}

// With is the same weights under other operators.
func (m *Model) With(ops oracle.Ops) *Model {
	other := *m
	other.ops = ops
	return &other
}

// Ops are the operators the model runs with.
func (m *Model) Ops() oracle.Ops { return m.ops }

func (w *weights) layer(c Config, i int) layer {
	p := fmt.Sprintf("layers.%d.", i)
	a, f := p+"attn.", p+"ffn."
	l := layer{
		ratio: c.Ratios[i], overlap: c.Sparse[i],
		hcAttn:   w.hyperConnection(c, p+"hc_attn_"),
		hcFFN:    w.hyperConnection(c, p+"hc_ffn_"),
		attnNorm: w.vec(p+"attn_norm.weight", c.Hidden),
		ffnNorm:  w.vec(p+"ffn_norm.weight", c.Hidden),
		sink:     w.vec(a+"attn_sink", c.Heads),
		qNorm:    w.vec(a+"q_norm.weight", c.QRank),
		kvNorm:   w.vec(a+"kv_norm.weight", c.HeadDim),
		wqA:      w.mat(a+"wq_a.weight", c.QRank, c.Hidden),
		wqB:      w.mat(a+"wq_b.weight", c.Heads*c.HeadDim, c.QRank),
		wkv:      w.mat(a+"wkv.weight", c.HeadDim, c.Hidden),
		woA:      w.mat(a+"wo_a.weight", c.OGroups*c.ORank, c.Heads*c.HeadDim/c.OGroups),
		woB:      w.mat(a+"wo_b.weight", c.Hidden, c.OGroups*c.ORank),
		gate:     w.mat(f+"gate.weight", c.Experts, c.Hidden),
		shared:   w.expert(c, f+"shared_experts."),
	}
	if l.ratio > 0 {
		pool := w.compressor(c, a+"compressor.", l, c.HeadDim)
		l.compressor = &pool
	}
	if c.Sparse[i] {
		l.indexer = &indexer{
			compressor: w.compressor(c, a+"indexer.compressor.", l, c.IndexDim),
			wqB:        w.mat(a+"indexer.wq_b.weight", c.IndexHeads*c.IndexDim, c.QRank),
			weights:    w.mat(a+"indexer.weights_proj.weight", c.IndexHeads, c.Hidden),
		}
	}
	if c.Hash[i] {
		l.table = w.table(f+"gate.tid2eid", c.Vocab, c.ExpertsPerToken, c.Experts)
	} else {
		l.bias = w.vec(f+"gate.bias", c.Experts)
	}
	for e := range c.Experts {
		l.experts = append(l.experts, w.expert(c, fmt.Sprintf("%sexperts.%d.", f, e)))
	}
	return l
}

func (w *weights) hyperConnection(c Config, prefix string) hyperConnection {
	n := c.HC.Streams
	return hyperConnection{
		fn:    w.mat(prefix+"fn", (2+n)*n, n*c.Hidden),
		scale: w.vec(prefix+"scale", 3),
		base:  w.vec(prefix+"base", (2+n)*n),
	}
}

func (w *weights) compressor(c Config, prefix string, l layer, width int) compressor {
	channels := oracle.Pooling{Width: width, Overlap: l.overlap}.Channels()
	return compressor{
		ape:   w.mat(prefix+"ape", l.ratio, channels),
		norm:  w.vec(prefix+"norm.weight", width),
		wkv:   w.mat(prefix+"wkv.weight", channels, c.Hidden),
		wgate: w.mat(prefix+"wgate.weight", channels, c.Hidden),
	}
}

func (w *weights) expert(c Config, prefix string) oracle.ExpertWeights {
	return oracle.ExpertWeights{
		W1: w.mat(prefix+"w1.weight", c.Inner, c.Hidden),
		W2: w.mat(prefix+"w2.weight", c.Hidden, c.Inner),
		W3: w.mat(prefix+"w3.weight", c.Inner, c.Hidden),
	}
}
