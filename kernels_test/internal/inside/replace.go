package inside

import (
	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/oracle"
)

// indexer answers with indexer_logits over bf16 or fp32 keys, as one sequence.
func (k *Kernels) indexer(exact func(q, keys, w oracle.Mat, visible []int) oracle.Mat) func(q, keys, w oracle.Mat,
	visible []int) oracle.Mat {
	return func(q, keys, w oracle.Mat, visible []int) oracle.Mat {
		if keys.Rows == 0 {
			return exact(q, keys, w, visible)
		}
		q2, k2, w2 := k.sizes.indexer(q, keys, w)
		heads, dim := w2.Cols, k2.Cols
		got, ok := k.call("indexer_logits", phase(q.Rows), bench.Problem{
			Attrs: bench.Attrs{"clean_logits": true, "max_seqlen_k": 0.0},
			Operands: map[string]bench.Operand{
				"q": floats(bench.BF16, q2, q.Rows, heads, dim), "k": floats(bench.BF16, k2, keys.Rows, dim),
				"weights": floats(bench.F32, w2, q.Rows, heads),
				"start":   bench.Ints(make([]int, q.Rows), q.Rows), "end": bench.Ints(visible, q.Rows),
			},
			Outputs: map[string]bench.Output{"logits": bench.Out(bench.F32, q.Rows, keys.Rows)},
		}, "logits", q.Rows, keys.Rows)
		if !ok {
			return exact(q, keys, w, visible)
		}
		return got
	}
}

type selectRows = func(scores oracle.Mat, visible []int, k int, tie oracle.TieRule) ([][]int, error)

// oneByOne selects row by row, as the model does without kernels.
func oneByOne(exact func(scores []float64, visible, k int, tie oracle.TieRule) ([]int, error)) selectRows {
	return func(scores oracle.Mat, visible []int, n int, tie oracle.TieRule) ([][]int, error) {
		out := make([][]int, len(visible))
		for t, v := range visible {
			var err error
			if out[t], err = exact(scores.Row(t), v, n, tie); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
}

// topK answers with topk, all rows of a call at once.
func (k *Kernels) topK(exact selectRows) selectRows {
	return func(scores oracle.Mat, visible []int, n int, tie oracle.TieRule) ([][]int, error) {
		if scores.Cols == 0 {
			return exact(scores, visible, n, tie)
		}
		got, ok := k.call("topk", phase(scores.Rows), bench.Problem{
			Attrs: bench.Attrs{"top_k": float64(n), "tie_break": "any"},
			Operands: map[string]bench.Operand{
				"scores": floats(bench.F32, scores, scores.Rows, scores.Cols), "lengths": bench.Ints(visible, scores.Rows),
			},
			Outputs: map[string]bench.Output{"indices": bench.OutI32(scores.Rows, n)},
		}, "indices", scores.Rows, n)
		if !ok {
			return exact(scores, visible, n, tie)
		}
		out := make([][]int, len(visible))
		for t := range out {
			for _, v := range got.Row(t) {
				if v >= 0 && int(v) < visible[t] { // -1 is no key; a wild one is for the case suites to find
					out[t] = append(out[t], int(v))
				}
			}
		}
		return out, nil
	}
}

// attention answers with sparse_attention: the window is the main list, the compressed rows are the extra one.
func (k *Kernels) attention(exact func(oracle.AttentionInput) oracle.Mat) func(oracle.AttentionInput) oracle.Mat {
	return func(in oracle.AttentionInput) oracle.Mat {
		big, width, heads := k.sizes.attention(in)
		window, extra := k.sizes.lists(in)
		t, dim, all := in.Q.Rows, big.Window.Cols, len(big.Sink)
		full := func(lists [][]int) []int {
			out := make([]int, t)
			for i, l := range lists {
				out[i] = len(l)
			}
			return out
		}
		p := bench.Problem{
			Attrs: bench.Attrs{
				"softmax_scale": in.Scale, "d_v": float64(dim), "num_splits": 1.0, "lse_base": "e", "empty_lse": "-inf",
				"page_size": 0.0, "extra_page_size": 0.0, "kv_layout": "rows", "kv_rounding": "none", "rope_dims": 0.0,
			},
			Operands: map[string]bench.Operand{
				"q": floats(k.dtype, big.Q, t, all, dim), "kv": floats(k.dtype, big.Window, big.Window.Rows, dim),
				"indices": bench.Ints(flat(window), t, len(window[0])), "topk_length": bench.Ints(full(window), t),
				"attn_sink": bench.Floats(bench.F32, append([]float64(nil), big.Sink...), all),
			},
			Outputs: map[string]bench.Output{"o": bench.Out(k.dtype, t, all, dim)},
		}
		if big.Compressed.Rows > 0 {
			p.Operands["extra_kv"] = floats(k.dtype, big.Compressed, big.Compressed.Rows, dim)
			p.Operands["extra_indices"] = bench.Ints(flat(extra), t, len(extra[0]))
			p.Operands["extra_topk_length"] = bench.Ints(full(extra), t)
		}
		got, ok := k.call("sparse_attention", phase(t), p, "o", t, all*dim)
		if !ok {
			return exact(in)
		}
		return unpad(got, width, heads, dim)
	}
}

// collapse answers with mhc_pre.
func (k *Kernels) collapse(ops oracle.Ops) func(x, fn oracle.Mat, scale, base []float64, cfg oracle.HCConfig) (y, post,
	comb oracle.Mat) {
	return func(x, fn oracle.Mat, scale, base []float64, cfg oracle.HCConfig) (y, post, comb oracle.Mat) {
		x2, fn2, cfg2, width := k.sizes.collapse(x, fn, cfg)
		t, n := x.Rows, cfg.Streams
		wide := x2.Cols / n
		out, ok := k.callAll("mhc_pre", "", bench.Problem{
			Attrs: hcAttrs(cfg2),
			Operands: map[string]bench.Operand{
				"x": floats(bench.F32, x2, t, n, wide), "fn": floats(bench.F32, fn2, fn.Rows, n*wide),
				"scale": bench.Floats(bench.F32, append([]float64(nil), scale...), len(scale)),
				"base":  bench.Floats(bench.F32, append([]float64(nil), base...), len(base)),
			},
			Outputs: map[string]bench.Output{
				"y": bench.Out(bench.F32, t, wide), "post": bench.Out(bench.F32, t, n), "comb": bench.Out(bench.F32, t, n, n),
			},
		})
		if !ok {
			pre, post, comb := ops.HCSplit(ops.HCMix(x, fn, cfg.NormEps), scale, base, cfg)
			return ops.HCPre(x, pre), post, comb
		}
		mat := func(name string, cols int) oracle.Mat { return oracle.Mat{Rows: t, Cols: cols, Data: out[name].Data} }
		return unpad(mat("y", wide), width, 1, wide), mat("post", n), mat("comb", n*n)
	}
}

// spread answers with mhc_post.
func (k *Kernels) spread(exact func(f, post, comb, x oracle.Mat) oracle.Mat) func(f, post, comb,
	x oracle.Mat) oracle.Mat {
	return func(f, post, comb, x oracle.Mat) oracle.Mat {
		n, width := post.Cols, f.Cols
		wide := atLeast(k.sizes.Width, width)
		got, ok := k.call("mhc_post", "", bench.Problem{
			Attrs: hcAttrs(oracle.HCConfig{Streams: n, Iterations: 20, Eps: 1e-6, NormEps: 1e-6}),
			Operands: map[string]bench.Operand{
				"f": floats(bench.F32, pad(f, width, 1, wide), f.Rows, wide), "post": floats(bench.F32, post, f.Rows, n),
				"comb": floats(bench.F32, comb, f.Rows, n, n), "x": floats(bench.F32, pad(x, width, n, wide), f.Rows, n, wide),
			},
			Outputs: map[string]bench.Output{"out": bench.Out(bench.F32, f.Rows, n, wide)},
		}, "out", f.Rows, n*wide)
		if !ok {
			return exact(f, post, comb, x)
		}
		return unpad(got, width, n, wide)
	}
}

func hcAttrs(cfg oracle.HCConfig) bench.Attrs {
	return bench.Attrs{
		"hc_mult":             float64(cfg.Streams),
		"sinkhorn_iterations": float64(cfg.Iterations),
		"hc_eps":              cfg.Eps,
		"norm_eps":            cfg.NormEps,
	}
}
