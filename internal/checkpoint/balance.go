package checkpoint

import (
	"math"
	"strings"
)

// risk is the chance that a statistical check alarms anywhere in a sound checkpoint, as far as its model
// of the noise holds.
const risk = 1e-3

// The balance of an expert. down(silu(gate x) * (up x)) does not change when row i of w3 is multiplied and
// column i of w2 divided by one factor, so gradient flow keeps |w3_i|^2 - |w2_i|^2 and weight decay drives
// it to zero (the conserved quantities of homogeneous layers: Du, Hu and Lee, Algorithmic Regularization in
// Learning Deep Homogeneous Models, 2018, theorem 2.1). silu is not homogeneous, so w1 obeys no such law.
// Hence, over the inner channels of an expert,
//
//   - the norms of w3's rows follow those of w2's columns, more closely than w1's do: gate and up can be
//     told apart;
//   - where they do not follow at all, w2 and w3 are of different experts;
//   - their mean ratio is near one, in every expert alike: a scale taken twice stands out.
//
// How well a checkpoint obeys is measured in it; where it does not, nothing is said.
type balance struct {
	e                *profile
	ra, rb, rab, z   float64 // corr(up, down), corr(gate, down), corr(gate, up), z of the first two
	follow, distance float64 // Fisher's z of corr(up, down); mean log2(|w3_i|/|w2_i|)
}

// balances runs the three checks.
func (p *patient) balances(all []*profile) {
	var list []balance
	var follow, distance, z []float64
	for _, e := range all {
		if len(e.up) < 32 {
			continue
		}
		b := balance{e: e, ra: pearson(e.up, e.down), rb: pearson(e.gate, e.down), rab: pearson(e.gate, e.up)}
		b.z = dependent(b.ra, b.rb, b.rab, len(e.up))
		b.follow = fisher(b.ra)
		for _, d := range differences(e.up, e.down) {
			b.distance += d / float64(len(e.up))
		}
		list = append(list, b)
		follow, distance, z = append(follow, b.follow), append(distance, b.distance), append(z, b.z)
	}
	if len(list) < 4 {
		if len(list) > 0 {
			p.skipped = append(p.skipped, "gate and up, and down's owner: fewer than four experts, too few for a baseline")
		}
		return
	}
	usual := median(follow)
	if usual < 0.3 {
		usual = 0 // half of the checkpoint may be exchanged: ask w1 whether it follows instead
	}
	p.exchanged(list, z)
	if usual > 0 {
		p.mismatched(list, usual, spread(follow))
	}
	p.doubled(list, median(distance), spread(distance))
}

// exchanged reports gate and up swapped: one expert against the others, or the whole checkpoint.
func (p *patient) exchanged(list []balance, z []float64) {
	limit := critical(risk, len(list))
	pooled := 0.0
	for _, v := range z {
		pooled += v / math.Sqrt(float64(len(z)))
	}
	if pooled < -limit && median(z) < 0 {
		e := list[0].e
		p.add(Suspect, KindGateUpSwapped, []string{e.w1.t.stored, e.w3.t.stored}, "in all %d experts the norms of w1's rows follow those of w2's columns more closely than w3's do (pooled z = %.1f), which is up's property: w1 and w3 are exchanged throughout, first in %s; exchange them", len(list), pooled, e.stem)
		return
	}
	if pooled < limit {
		p.skipped = append(p.skipped, "gate against up: in this checkpoint up does not follow down more closely than gate does, so only a base checkpoint can tell them apart")
		return
	}
	for _, b := range list {
		if b.z < -limit {
			p.add(Suspect, KindGateUpSwapped, []string{b.e.w1.t.stored, b.e.w3.t.stored}, "%s and %s look exchanged: the rows of w1 follow the columns of w2 (correlation of log norms %.2f) more closely than those of w3 (%.2f; z = %.1f, limit %.1f), in the typical expert it is the other way round (z = %.1f); exchange them", b.e.w1.t.stored, b.e.w3.t.stored, b.rb, b.ra, b.z, -limit, median(z))
		}
	}
}

// mismatched reports experts of which w2 and w3 have nothing to do with each other.
func (p *patient) mismatched(list []balance, usual, width float64) {
	for _, b := range list {
		noise := 1 / math.Sqrt(float64(len(b.e.up)-3))
		if b.follow > usual/3 || usual-b.follow < 6*math.Max(width, noise) {
			continue
		}
		if fisher(b.rb) > usual/2 {
			continue // gate and up exchanged: said there
		}
		names := []string{b.e.w2.t.stored, b.e.w3.t.stored}
		p.add(Suspect, KindMismatched, names, "the norms of %s by column and of %s by row do not go together (correlation %.2f, in the typical expert %.2f): the two are of different experts, or block scales lie with the wrong block; compare with a base checkpoint", names[0], names[1], b.ra, math.Tanh(usual))
	}
}

// doubled reports experts in which w3 and w2 differ in size by a factor that the others do not have.
func (p *patient) doubled(list []balance, usual, width float64) {
	sizes := [3][]float64{}
	for _, b := range list {
		if routed(b.e) {
			for i := range sizes {
				sizes[i] = append(sizes[i], b.e.size[i])
			}
		}
	}
	for _, b := range list {
		d := b.distance - usual
		if math.Abs(d) < math.Max(0.5, 8*width) {
			continue
		}
		// up too large or down too small: blame the one that is further from its own peers.
		at, of := b.e.w3, "w2"
		up, down := b.e.size[2]-median(sizes[2]), b.e.size[1]-median(sizes[1])
		if math.Abs(down) > math.Abs(up) {
			at, of = b.e.w2, "w3"
			d = -d
		}
		p.magnitude(at, d, "against "+of+" of the same expert", usual)
	}
}

func routed(e *profile) bool { return strings.Contains(e.stem, ".experts.") }
