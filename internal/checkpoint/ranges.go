package checkpoint

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/assay-suite/assay/internal/quant"
	"github.com/assay-suite/assay/safetensors"
)

// Root mean squares of weights in sound checkpoints lie within these limits, with room of more than a factor of eight
// on either side of every family that is known here: linear layers from 0.003 (Kimi K2 experts, 0.006) to 0.33
// (nano-llama), embeddings from 0.005 to T5's, which begin at 1 and have no factor at the input. A scale that is
// inverted, or a divisor taken as a factor, is off by the square of the scale, 2^20 and more.
var rangeOf = map[int][2]float64{
	roleLinear: {0.000375, 2.75}, roleEmbed: {0x1p-13, 0x1p8}, roleHead: {0x1p-13, 32}, roleRouter: {0x1p-13, 32},
}

var roleNames = map[int]string{
	roleLinear: "weights of linear layers", roleEmbed: "the embedding", roleHead: "the output head", roleRouter: "routers",
}

// mostly is the share of a role's tensors that must be out of range for the range alone to speak: a few may be special.
const mostly = 0.9

// ranges reports roles whose weights have a size that no weights have: a fault in every tensor, which peers cannot
// show.
func (p *patient) ranges() error {
	type tally struct {
		out  []weight
		logs []float64
		all  int
	}
	type group struct {
		role   int
		layout string // one that is written wrong leaves the others alone
		routed bool   // experts are converted apart
		class  string // one projection, where its name is known
	}
	tallies := map[group]*tally{}
	for _, t := range p.tensors {
		role := roleOf(t)
		limits, judged := rangeOf[role]
		if !judged || !t.scan.nonzero {
			continue
		}
		w, ok := p.weightIn(t)
		if !ok {
			continue
		}
		size, known := p.sizes[t]
		if !known {
			m, err := w.corner(min(channels, w.rows), breadth)
			if err != nil {
				return err
			}
			size = logRMS(m)
		}
		keys := []group{{role, w.w.Layout, routed2(t), ""}}
		if role == roleLinear && usualSide(w.w.Module) != 0 {
			keys = append(keys, group{role, w.w.Layout, routed2(t), t.class})
		}
		for _, key := range keys {
			c := tallies[key]
			if c == nil {
				c = &tally{}
				tallies[key] = c
			}
			c.all++
			if lo, hi := math.Log2(limits[0]), math.Log2(limits[1]); size > hi || size < lo && size > -100 {
				c.out, c.logs = append(c.out, w), append(c.logs, size)
			}
		}
	}
	order := slices.SortedFunc(maps.Keys(tallies), func(a, b group) int { // all projections before one
		return cmp.Or(cmp.Compare(a.class, b.class), cmp.Compare(a.role, b.role), cmp.Compare(a.layout, b.layout))
	})
	for _, key := range order {
		c, role := tallies[key], key.role
		if key.class != "" && len(c.out) > 0 && p.blamed[c.out[0].t] {
			continue // said of all projections
		}
		if len(c.out) == 0 || float64(len(c.out)) < mostly*float64(c.all) || len(c.out) < 2 && role == roleLinear {
			continue
		}
		var names []string
		var factors []string
		explained, global := 0, 0
		for i, w := range c.out {
			names = append(names, w.t.stored)
			p.blamed[w.t] = true
			if at, _ := p.inverse(w, c.logs[i]+5); at != "" { // weights are about 2^-5
				explained++
				if w.q.global != nil && at == w.q.global.stored {
					global++
					factors = append(factors, at)
				}
			}
		}
		why := "their scales are wrong throughout; convert the checkpoint again"
		kind := KindRange
		switch {
		case 2*global > len(c.out):
			names = append(factors, names...)
			kind, why = KindScaleInverted, "the global scale ("+factors[0]+") is a divisor where a factor is read, or the "+
				"other way round: store its inverse"
		case 2*explained > len(c.out):
			kind, why = KindScaleInverted, "the square of the stored scales explains it: every scale is inverted; store "+
				"what the "+
				"codes are multiplied by"
		}
		p.add(Likely, kind, names, "%s have a root mean square of 2^%.1f in %d of %d tensors (from %s on), and in every "+
			"known "+
			"checkpoint it is between 2^%.0f and 2^%.0f: %s", roleNames[role], median(c.logs), len(c.out), c.all, names[0],
			math.Log2(rangeOf[role][0]), math.Log2(rangeOf[role][1]), why)
	}
	return nil
}

// relabelled reports plain weights whose values all have nearly one magnitude: bf16 bytes that are read as fp16 lie
// around 1, since what was an exponent is mostly mantissa now. The logarithms of a weight's magnitudes spread by 1.1
// (a uniform one by 1.4 in powers of two); of such bytes by a quarter.
func (p *patient) relabelled() error {
	var names []string
	all := 0
	for _, t := range p.tensors {
		w, ok := p.weightIn(t)
		if !ok || w.q != nil || roleOf(t) != roleLinear || t.info.DType != safetensors.F16 || !t.scan.differs {
			continue
		}
		all++
		m, err := w.corner(16, breadth)
		if err != nil {
			return err
		}
		var logs []float64
		for _, v := range m.data {
			if v != 0 {
				logs = append(logs, math.Log2(math.Abs(v)))
			}
		}
		if len(logs) > 64 && deviation64(logs) < 0.6 && math.Abs(median(logs)) < 3 {
			names = append(names, t.stored)
		}
	}
	if len(names) > 1 && float64(len(names)) >= mostly*float64(all) {
		p.add(Likely, KindRelabelled, names, "%d of %d weights that are stored as F16 hold values of nearly one magnitude, "+
			"%s the "+
			"first: they are bf16 under the name of fp16; write BF16 into the headers, or convert the checkpoint again",
			len(names), all, names[0])
	}
	return nil
}

// zeroPoints holds the zero points of integer codes against their convention: of symmetric GPTQ they are the middle of
// the range, and of any scheme they leave the weights' mean near zero.
func (p *patient) zeroPoints(quants []*coded) error {
	for _, q := range quants {
		if q.w == nil || p.blamed[q.weight] {
			continue
		}
		switch q.w.Layout {
		case quant.GPTQ, quant.AWQ, quant.Int, quant.MLX, quant.Int4P:
		default:
			continue
		}
		w, ok := p.weightIn(q.weight)
		if !ok || w.rows < 16 || w.cols < 16 {
			continue
		}
		m, err := w.corner(min(channels, w.rows), breadth)
		if err != nil {
			return err
		}
		var sum, squares float64
		for _, v := range m.data {
			sum, squares = sum+v, squares+v*v
		}
		n := float64(len(m.data))
		mean, rms := sum/n, math.Sqrt(squares/n)
		if p.unbalanced(q) {
			continue
		}
		if p.notSymmetric(q) || !(math.Abs(mean) > meanLimit*rms) {
			continue
		}
		names := []string{q.weight.stored}
		about := "codes and zero points do not belong together"
		if zero := q.w.Part(quant.Zero); zero != "" {
			names, about = []string{zero, q.weight.stored}, zero+" is off"
			if q.w.Layout == quant.GPTQ {
				about += ", by one if its zero points are of the other checkpoint_format (gptq stores them less one, gptq_v2 " +
					"as they are)"
			}
		}
		p.add(Likely, KindZeroPoint, names, "the values of %s have a mean of %.2f of their root mean square, and "+
			"weights have "+
			"one near 0: %s; convert the tensor again, or correct checkpoint_format", q.weight.stored, mean/rms, about)
	}
	return nil
}

// unbalanced reports MLX scales and biases that do not belong together: a bias is the group's extreme value, a number
// of steps from zero that the codes can count, unless no value of the group has the other sign.
func (p *patient) unbalanced(q *coded) bool {
	if q.w.Layout != quant.MLX {
		return false
	}
	bias := p.shelf[q.w.Part(quant.Offset)]
	if bias == nil || q.scale == nil {
		return false
	}
	s, b := q.scale.head(), bias.head()
	far, all := 0, 0
	most := math.Exp2(float64(q.w.Declared().Bits))
	for i := range min(len(s), len(b)) {
		if s[i] == 0 {
			continue
		}
		all++
		if steps := math.Abs(b[i] / s[i]); steps > 1.5*most || steps < 0.2 {
			far++
		}
	}
	if all < 16 || 2*far < all {
		return false
	}
	p.add(Likely, KindMagnitude, []string{q.scale.stored, bias.stored, q.weight.stored}, "%s and %s do not belong "+
		"together: "+
		"in %d of %d groups the bias is not a number of steps from zero that %d bits count; convert the tensor again",
		q.scale.stored, bias.stored, far, all, q.w.Declared().Bits)
	return true
}

// notSymmetric reports zero points of GPTQ that is declared symmetric and are not the middle of the range: engines
// leave them unread, or shift every weight.
func (p *patient) notSymmetric(q *coded) bool {
	declared := q.w.Declared()
	zero := p.shelf[q.w.Part(quant.Zero)]
	if q.w.Layout != quant.GPTQ || !declared.SaidSymmetric || zero == nil || !zero.scan.scanned {
		return false
	}
	if declared.Bits != 4 && declared.Bits != 8 {
		return false
	}
	word := func(code uint64) uint64 {
		out := uint64(0)
		for s := 0; s < 64; s += declared.Bits {
			out |= code << s
		}
		return out
	}
	middle := uint64(1)<<(declared.Bits-1) - uint64(declared.ZeroLess)
	switch other := middle + 2*uint64(declared.ZeroLess) - 1; {
	case !zero.scan.differs && zero.scan.first == word(middle):
		return false
	case !zero.scan.differs && zero.scan.first == word(other):
		p.add(Certain, KindZeroPoint, []string{zero.stored, q.weight.stored}, "%s is %d throughout, and symmetric weights "+
			"of "+
			"%d bits have %d in this checkpoint_format: its zero points are of the other one (gptq stores them less one, "+
			"gptq_v2 "+
			"as they are); correct checkpoint_format or write them again", zero.stored, other, declared.Bits, middle)
		return true
	}
	p.add(Likely, KindZeroPoint, []string{zero.stored, q.weight.stored}, "%s varies or is not %d, and config.json "+
		"declares "+
		"symmetric weights (sym): engines that rely on it ignore these zero points; correct sym or write them again",
		zero.stored, middle)
	return true
}

// meanLimit is how far the mean of a weight's corner may lie from zero, in root mean squares: a zero point off by one
// moves it by a step, 0.3 of them at 4 bits. Sampling leaves 0.01, and trained layers have less than 0.05.
const meanLimit = 0.15
