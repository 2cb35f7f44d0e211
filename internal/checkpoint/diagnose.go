package checkpoint

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A diagnosis holds when it leaves at most this share of the values outside their half steps: a clipped
// or doubly rounded value must not hide it.
const leftOver = 0.02

// diagnose says what turns the base's tensor into the stored one. It looks at a first strip: what holds
// there has a name; what does not is reported as it is.
func (p *patient) diagnose(b *patient, v, w weight, d Deviation) (*Finding, error) {
	rows := min(v.rows, max(v.stripRows(), w.stripRows()))
	a, err := v.strip(0, rows)
	if err != nil {
		return nil, err
	}
	o, err := w.strip(0, rows)
	if err != nil {
		return nil, err
	}
	name := v.t.stored
	found := func(kind, format string, args ...any) (*Finding, error) {
		names := []string{name}
		if v.q != nil && (kind == KindBaseScale || kind == KindBaseBlocks) {
			for _, s := range []*tensor{v.q.scale, v.q.global} {
				if s != nil {
					names = append(names, s.stored)
				}
			}
		}
		return &Finding{Severity: Certain, Kind: kind, Tensors: names, Text: fmt.Sprintf(format, args...)}, nil
	}
	if share(a, o) > leftOver {
		if other, err := p.elsewhere(b, v, a, rows, v.cols); err != nil {
			return nil, err
		} else if other != "" {
			kind := KindBaseSwapped
			canon := v.t.plainName()
			if strings.HasSuffix(canon, "w1.weight") && other == strings.TrimSuffix(canon, "w1.weight")+"w3.weight" ||
				strings.HasSuffix(canon, "w3.weight") && other == strings.TrimSuffix(canon, "w3.weight")+"w1.weight" {
				kind = KindGateUpSwapped
			}
			return found(kind, "%s holds what the base has as %s; the two were exchanged or one was copied: put them back", name,
				other)
		}
		if share(a, o.permuted(func(i int) int { return i ^ 1 }, v.cols%2 == 0)) <= leftOver {
			return found(KindNibbles, "%s is the base with neighbouring columns exchanged: its codes are packed with the even "+
				"element in the high nibble; pack it into the low one", name)
		}
		for _, order := range fieldOrders {
			if share(a, v.reordered(o, order)) <= leftOver {
				return found(KindNibbles, "%s is the base with the eight columns of each word in the order %v: its codes are "+
					"packed "+
					"in the order of another format; pack them as this one does", name, order)
			}
		}
		if k := v.zeroOff(a, o); k != 0 {
			return found(KindZeroPoint, "%s is the base moved by %d steps of its scale in every value: its zero points are "+
				"off by "+
				"that much (GPTQ stores them less one in checkpoint_format gptq, and as they are in gptq_v2)", name, k)
		}
		if perm, what, ok := transposition(v, rows); ok && share(a, o.permuted(perm, true)) <= leftOver {
			return found(KindBaseTransposed, "%s is the base with %s transposed; transpose it back", name, what)
		}
	}
	g, blocks := v.gridOf(a, o)
	if f, constant := factor(a, o); constant && math.Abs(f-1) > bias(a, o, f) {
		if s := g.global * g.global; blocks && (g.inverted() || s != 1 && math.Abs(math.Log2(math.Abs(f)/s)) < 0.1) {
			return found(KindScaleInverted, "%s is %g times the base in every value, the square of its stored scale: the scale "+
				"is inverted; store what the codes are multiplied by", name, f)
		}
		return found(KindBaseScale, "%s is %g times the base in every value (relative L2 %.3g): a scale was taken twice, "+
			"left out or inverted; divide the scale by this factor", name, f, d.RelL2)
	}
	wrong := blocks && g.wrong()
	if wrong && g.inverted() {
		return found(KindScaleInverted, "%s is the base times the square of the stored scale, block by block: every scale "+
			"is inverted; store what the codes are multiplied by", name)
	}
	if where := g.displaced(); wrong && where != "" {
		return found(KindBaseBlocks, displacedText, name, g.off, g.of, rows, where)
	}
	if other, err := v.regrouped(a, o); err != nil {
		return nil, err
	} else if other {
		return found(KindBaseBlocks, "%s is the base with inputs under the scales of other groups: its codes are in the "+
			"order of activations (desc_act, actorder), and its index of groups (g_idx) is not the quantiser's; store that one",
			name)
	}
	if wrong {
		return found(KindBaseBlocks, displacedText, name, g.off, g.of, rows, "their scales belong to other blocks")
	}
	return found(KindBaseDiffers, "%s differs from the base by more than half a quantisation step in %d of %d values, "+
		"by up to %.3g half steps (relative L2 %.3g); convert it again from the base", name, d.Outside, v.rows*v.cols,
		d.HalfSteps, d.RelL2)
}

const displacedText = "%s is the base times a factor that changes from block to block, in %d of %d blocks of the " +
	"first %d rows: the codes are right, and of the scales %s; store the scales in the order of their blocks"

// share is the part of the values outside their half steps.
func share(v, w strip) float64 {
	n := 0
	for i := range v.v {
		if outside(v, w, i) > 1 {
			n++
		}
	}
	return float64(n) / float64(max(1, len(v.v)))
}

// permuted is the strip with element i taken from from(i).
func (s strip) permuted(from func(int) int, ok bool) strip {
	out := strip{u: s.u, eta: s.eta, v: make([]float64, len(s.v))}
	if s.below != nil {
		out.below, out.above = make([]float64, len(s.v)), make([]float64, len(s.v))
	}
	for i := range s.v {
		j := from(i)
		if !ok || j < 0 || j >= len(s.v) {
			j = i
		}
		out.v[i] = s.v[j]
		if s.below != nil {
			out.below[i], out.above[i] = s.below[j], s.above[j]
		}
	}
	return out
}

// transposition gives the transposition that this tensor could have suffered: of the square comb block of
// mHC parameters (rows 2 s + s r + c of s (s + 2), Sinkhorn rows r and columns c), or of a square matrix.
func transposition(v weight, rows int) (perm func(int) int, what string, ok bool) {
	if rows < v.rows {
		return nil, "", false
	}
	c := v.t.canon
	if strings.HasSuffix(c, "hc_attn_fn") || strings.HasSuffix(c, "hc_ffn_fn") || strings.HasSuffix(c, "hc_attn_base") ||
		strings.HasSuffix(c, "hc_ffn_base") {
		s := int(math.Round(math.Sqrt(float64(v.rows)+1))) - 1
		if s < 2 || s*(s+2) != v.rows {
			return nil, "", false
		}
		return func(i int) int {
			r, k := i/v.cols, i%v.cols
			if r < 2*s {
				return i
			}
			r -= 2 * s
			return (2*s+r%s*s+r/s)*v.cols + k
		}, "the comb block (" + strconv.Itoa(s) + " x " + strconv.Itoa(s) + ")", true
	}
	if v.rows != v.cols || v.rows == 1 {
		return nil, "", false
	}
	return func(i int) int { return i%v.cols*v.cols + i/v.cols }, "the matrix", true
}

// elsewhere looks for the base tensor that the strip holds: gate or up of the same expert, the same part of
// another expert or layer.
func (p *patient) elsewhere(b *patient, v weight, a strip, rows, cols int) (string, error) {
	t := v.t
	class, canon := Class(t.plainName()), t.plainName()
	for _, c := range b.tensors {
		name := c.plainName()
		if name == canon || !peers(class, Class(name)) {
			continue
		}
		w, ok := b.valuesOf(c)
		if ok && v.w != nil && w.w != nil && v.w.InputMajor != w.w.InputMajor {
			w = w.flipped()
		}
		if !ok || w.cols != cols || w.rows < rows {
			continue
		}
		n := min(rows, w.stripRows())
		if w.q == nil || w.q.scheme != blockFP8 {
			n = min(n, max(1, 4096/max(1, cols))) // a few rows decide; a match is then compared in full
		}
		o, err := w.strip(0, n)
		if err != nil {
			return "", err
		}
		if share(a.head(n*cols), o) > leftOver {
			continue
		}
		if o, err = w.strip(0, rows); err != nil {
			return "", err
		}
		if share(a, o) <= leftOver {
			return name, nil
		}
	}
	return "", nil
}

func (s strip) head(n int) strip {
	s.v = s.v[:n]
	if s.below != nil {
		s.below, s.above = s.below[:n], s.above[:n]
	}
	return s
}

// peers tells classes that are easily confused: the same one, and gate and up.
func peers(a, b string) bool {
	return strings.Replace(a, ".w3.", ".w1.", 1) == strings.Replace(b, ".w3.", ".w1.", 1)
}

// bias is how far from 1 the least-squares factor may be without a scale being wrong: what is left over is the error of
// rounding, of relative size e, and codes that are few round most values towards zero, by about e^2 / 2.
func bias(v, w strip, f float64) float64 {
	var left, all float64
	for i := range v.v {
		d := v.v[i] - f*w.v[i]
		left, all = left+d*d, all+f*f*w.v[i]*w.v[i]
	}
	if all == 0 {
		return 0
	}
	return left / all
}

// factor is the least-squares factor from the base to the strip; constant tells whether it explains it all:
// what remains is no larger than quantisation leaves (a twelfth of a squared step on average, at most a
// quarter).
func factor(v, w strip) (f float64, constant bool) {
	var vw, ww float64
	for i := range v.v {
		vw += v.v[i] * w.v[i]
		ww += w.v[i] * w.v[i]
	}
	if ww == 0 || vw == 0 {
		return 1, false
	}
	f = vw / ww
	if r := math.Exp2(math.Round(math.Log2(math.Abs(f)))); math.Abs(math.Abs(f)/r-1) < 0.01 {
		f = math.Copysign(r, f)
	}
	return f, share(v, w.times(func(int) float64 { return f })) <= leftOver
}
