package oracle

import "math"

// Manifold-constrained hyper-connections (mHC): the residual is n parallel streams X [T, n·C],
// stream-major. Before a sublayer the streams are mixed into one vector, after it the output is
// spread over the streams and the streams are mixed with a doubly stochastic matrix.
//
// Source: V4 inference/model.py and kernel.py hc_split_sinkhorn; arXiv 2512.24880 for the idea. Where
// paper and code differ (softmax + eps before the first column step) the code is followed.

// HCConfig holds the constants of one hyper-connection: n streams, Sinkhorn iterations, the eps of
// gate and Sinkhorn (hc_eps) and the eps of the norm (rms_norm_eps).
type HCConfig struct {
	Streams, Iterations int
	Eps, NormEps        float64
}

// HCMix is the mixing GEMM on the un-normalised residual, scaled by the norm afterwards:
//
//	mixes = (fn v) / sqrt(mean(v²) + normEps)
//
// v [T, n·C], fn [M, n·C] with M = (2+n)·n rows in the order pre (n), post (n), comb (n·n), or M = n
// for the head. Result [T, M]. There is no norm weight.
func HCMix(v, fn Mat, normEps float64) Mat {
	return HCMixWith(Linear)(v, fn, normEps)
}

// HCMixWith is HCMix on another GEMM [T, K] x [M, K] -> [T, M], for contracts that round inside it.
func HCMixWith(gemm func(x, w Mat) Mat) func(v, fn Mat, normEps float64) Mat {
	return func(v, fn Mat, normEps float64) Mat {
		mixes := gemm(v, fn)
		for t := range v.Rows {
			row := v.Row(t)
			r := 1 / math.Sqrt(dot(row, row)/float64(v.Cols)+normEps)
			for i := range mixes.Row(t) {
				mixes.Row(t)[i] *= r
			}
		}
		return mixes
	}
}

// HCSplit turns mixes into the three gates:
//
//	pre_j  = sigmoid(mixes_j · scale_0 + base_j) + eps
//	post_j = 2 sigmoid(mixes_(n+j) · scale_1 + base_(n+j))
//	comb   = Sinkhorn(mixes_(2n+jn+k) · scale_2 + base_(2n+jn+k))
//
// mixes [T, (2+n)n], scale [3], base [(2+n)n]; results pre [T, n], post [T, n], comb [T, n·n].
// eps is on pre alone.
func HCSplit(mixes Mat, scale, base []float64, cfg HCConfig) (pre, post, comb Mat) {
	n := cfg.Streams
	pre, post, comb = NewMat(mixes.Rows, n), NewMat(mixes.Rows, n), NewMat(mixes.Rows, n*n)
	for t := range mixes.Rows {
		m := mixes.Row(t)
		for j := range n {
			pre.Row(t)[j] = sigmoid(m[j]*scale[0]+base[j]) + cfg.Eps
			post.Row(t)[j] = 2 * sigmoid(m[n+j]*scale[1]+base[n+j])
		}
		for j := range n * n {
			comb.Row(t)[j] = m[2*n+j]*scale[2] + base[2*n+j]
		}
		Sinkhorn(comb.Row(t), n, cfg.Iterations, cfg.Eps)
	}
	return pre, post, comb
}

// Sinkhorn makes b [n·n] (row-major) nearly doubly stochastic, in place: softmax over each row plus
// eps, a column step, then iterations-1 times a row step and a column step; every step divides by
// the sum plus eps. The last step is a column step, so columns sum to 1 up to eps and rows almost.
func Sinkhorn(b []float64, n, iterations int, eps float64) {
	for j := range n {
		row := b[j*n : (j+1)*n]
		softmax(row)
		for k := range row {
			row[k] += eps
		}
	}
	columnStep(b, n, eps)
	for range iterations - 1 {
		rowStep(b, n, eps)
		columnStep(b, n, eps)
	}
}

func rowStep(b []float64, n int, eps float64) { balance(b, n, 1, n, eps) }

func columnStep(b []float64, n int, eps float64) { balance(b, 1, n, n, eps) }

// balance divides each of the n lines of b, line apart and with its elements step apart, by its sum and eps.
func balance(b []float64, line, step, n int, eps float64) {
	for i := range n {
		sum := eps
		for k := range n {
			sum += b[i*line+k*step]
		}
		for k := range n {
			b[i*line+k*step] /= sum
		}
	}
}

// HCPre collapses the streams: y_c = sum_j pre_j X[j, c]. x [T, n·C], pre [T, n]; result [T, C].
func HCPre(x, pre Mat) Mat {
	n := pre.Cols
	width := x.Cols / n
	out := NewMat(x.Rows, width)
	for t := range x.Rows {
		for j := range n {
			axpy(pre.Row(t)[j], x.Row(t)[j*width:(j+1)*width], out.Row(t))
		}
	}
	return out
}

// HCPost spreads a sublayer's output over the streams and mixes them:
//
//	X'[k] = post_k f + sum_j comb[j, k] X[j]
//
// comb is contracted over its FIRST index; a doubly stochastic matrix is not symmetric, so the
// direction matters. f [T, C], post [T, n], comb [T, n·n], x [T, n·C]; result [T, n·C].
func HCPost(f, post, comb, x Mat) Mat {
	n := post.Cols
	width := f.Cols
	out := NewMat(x.Rows, x.Cols)
	for t := range x.Rows {
		for k := range n {
			y := out.Row(t)[k*width : (k+1)*width]
			axpy(post.Row(t)[k], f.Row(t), y)
			for j := range n {
				axpy(comb.Row(t)[j*n+k], x.Row(t)[j*width:(j+1)*width], y)
			}
		}
	}
	return out
}

// HCHead gives the weights that collapse the streams once after the last layer:
// pre_j = sigmoid(mixes_j · scale + base_j) + eps. mixes [T, n]; result [T, n], for HCPre.
func HCHead(mixes Mat, scale float64, base []float64, eps float64) Mat {
	pre := NewMat(mixes.Rows, mixes.Cols)
	for t := range mixes.Rows {
		for j, m := range mixes.Row(t) {
			pre.Row(t)[j] = sigmoid(m*scale+base[j]) + eps
		}
	}
	return pre
}

func sigmoid(x float64) float64 {
	if x < 0 {
		e := math.Exp(x)
		return e / (1 + e)
	}
	return 1 / (1 + math.Exp(-x))
}

// softmax normalises x in place with the largest value subtracted first.
func softmax(x []float64) {
	top := math.Inf(-1)
	for _, v := range x {
		top = math.Max(top, v)
	}
	sum := 0.0
	for i, v := range x {
		x[i] = math.Exp(v - top)
		sum += x[i]
	}
	for i := range x {
		x[i] /= sum
	}
}
