package checkpoint

import (
	"math"
	"strings"

	"github.com/assay-suite/assay/numerics/format"
)

// Block scales are made from the block's largest magnitude, so that it lands on a top code:
//
//	MXFP4, s = 2^ceil(log2(amax/6))     amax/s in (3, 6]: codes 3, 4 or 6
//	NVFP4, s = e4m3(amax/(6 s2))        amax/(s s2) in [5.6, 6.4]: code 6
//	fp8 128 x 128, power-of-two s       amax/s in (224, 448]
//	NVFP4, s2 = amax_tensor/(6 448)     the largest block scale of gate and up, or of down, is 448
//
// Other recipes (a lossless cast from MXFP4, four-over-six) break the second and the fourth for a whole
// checkpoint, so a tensor is judged against the median of its scheme, not against the rule.
//
// A tensor may fall short of the median by topSlack, or by eight times the spread among tensors or the
// sampling error of its own share.
const topSlack = 0.05

// blockTops reports fp4 and fp8 tensors with too many blocks below the top codes.
func (p *patient) blockTops(quants []*coded) {
	shares := map[scheme][]float64{}
	share := func(q *coded) (float64, bool) {
		r := q.weight.scan
		if r.blocks-r.zero < minVaried {
			return 0, false
		}
		return float64(r.top) / float64(r.blocks-r.zero), true
	}
	for _, q := range quants {
		if s, ok := share(q); ok {
			shares[q.scheme] = append(shares[q.scheme], s)
		}
	}
	for _, q := range quants {
		s, ok := share(q)
		usual, r := median(shares[q.scheme]), q.weight.scan
		sampling := math.Sqrt(usual * (1 - usual) / float64(max(1, r.blocks-r.zero)))
		if ok && s < usual-max(topSlack, 8*spread(shares[q.scheme]), 8*sampling) {
			p.add(Likely, KindBlockTop, []string{q.weight.stored}, "%s: the largest code is a top one in %.1f %% of its %d "+
				"blocks, in %.1f %% of the typical tensor; the codes do not belong to blocks of this size, were shifted, or were "+
				"not made by scaling to the block's maximum: convert the tensor again", q.weight.stored, 100*s, r.blocks-r.zero,
				100*usual)
		}
	}
}

// scaleTops reports NVFP4 tensors whose largest block scale is far from that of their peers.
func (p *patient) scaleTops(quants []*coded) {
	tops := map[string]float64{} // of w1 and w3 together, or of one weight
	var names []string
	var weights []*coded
	for _, q := range quants {
		if q.scheme != nvfp4 || q.scale == nil || q.scale.scan.maxCode == 0 {
			continue
		}
		key := strings.Replace(q.weight.canon, ".w3.", ".w1.", 1)
		if _, seen := tops[key]; !seen {
			names, weights = append(names, key), append(weights, q)
		}
		tops[key] = max(tops[key], format.E4M3FN.Decode(uint32(q.scale.scan.maxCode)))
	}
	byClass := map[string][]float64{} // a class may be calibrated in its own way
	for i, k := range names {
		class := strings.Replace(weights[i].weight.class, ".w3.", ".w1.", 1)
		byClass[class] = append(byClass[class], tops[k])
	}
	for i, k := range names {
		all := byClass[strings.Replace(weights[i].weight.class, ".w3.", ".w1.", 1)]
		usual := median(all)
		if v := tops[k]; len(all) >= 4 && (v < usual/1.25 || v > usual*1.25) {
			s := weights[i].scale.stored
			p.add(p.suspicion(), KindScaleTop, []string{s}, "%s: the largest block scale (with its fused twin) is %g, of the "+
				"typical tensor %g; block scales and global scale were made from different maxima: convert the tensor again", s, v,
				usual)
		}
	}
}

// suspicion is how sure a law is that the DeepSeek V4 recipes obey and others need not.
func (p *patient) suspicion() Severity {
	if p.config != nil && p.config.Family == "" {
		return Look
	}
	return Likely
}
