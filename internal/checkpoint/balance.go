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
	law := law{limit: critical(risk, len(list)), usual: median(follow), width: spread(follow), z: median(z)}
	for _, v := range z {
		law.pooled += v / math.Sqrt(float64(len(z)))
	}
	if law.pooled < -law.limit && law.z < 0 {
		p.allExchanged(list, law)
		return
	}
	if law.pooled < law.limit || law.usual < 0.3 {
		p.skipped = append(p.skipped, "gate against up, and the owner of down: in this checkpoint up does not follow down "+
			"more closely than gate does, so only a base checkpoint can tell")
		return
	}
	sound := list[:0:0]
	for _, b := range list {
		switch {
		case b.z < -law.limit && law.follows(b.rb, b.e):
			p.exchanged(b, law)
		case law.strange(b):
			p.mismatched(b, law)
		default:
			sound = append(sound, b)
		}
	}
	p.doubled(sound, median(distance), spread(distance))
}

// law is how well the experts of this checkpoint obey the balance.
type law struct {
	limit        float64 // of |z| for one expert
	usual, width float64 // Fisher's z of corr(up, down): median and spread
	z, pooled    float64 // of up against gate: median, and sum over the root of the number
}

// noise is the larger of the sampling error of an expert's correlation and the spread among experts.
func (l law) noise(e *profile) float64 {
	return math.Max(l.width, 1/math.Sqrt(float64(len(e.up)-3)))
}

// follows tells whether a correlation with down is what up's usually is.
func (l law) follows(r float64, e *profile) bool { return fisher(r) > l.usual-2.5*l.noise(e) }

// strange tells an expert in which up has nothing to do with down.
func (l law) strange(b balance) bool {
	return b.follow < l.usual/3 && l.usual-b.follow > 4*l.noise(b.e)
}

// allExchanged reports a checkpoint in which gate and up are swapped throughout.
func (p *patient) allExchanged(list []balance, l law) {
	var names []string
	for _, b := range list {
		names = append(names, b.e.w1.t.stored, b.e.w3.t.stored)
	}
	p.add(Likely, KindGateUpSwapped, names, "in all %d experts together the norms of w1's rows follow those of w2's "+
		"columns more closely than w3's do (pooled z = %.1f), which is up's property: w1 and w3 are exchanged throughout; "+
		"exchange them", len(list), l.pooled)
}

func (p *patient) exchanged(b balance, l law) {
	names := []string{b.e.w1.t.stored, b.e.w3.t.stored}
	p.add(Likely, KindGateUpSwapped, names, "%s and %s look exchanged: the rows of w1 follow the columns of w2 "+
		"(correlation of log norms %.2f) more closely than those of w3 (%.2f; z = %.1f, limit %.1f), in the typical expert "+
		"it is the other way round (z = %.1f); exchange them", names[0], names[1], b.rb, b.ra, b.z, -l.limit, l.z)
}

func (p *patient) mismatched(b balance, l law) {
	names := []string{b.e.w2.t.stored, b.e.w3.t.stored}
	p.add(Likely, KindMismatched, names, "the norms of %s by column and of %s by row do not go together (correlation "+
		"%.2f, in the typical expert %.2f): the two are of different experts, or block scales lie with the wrong block; "+
		"compare with a base checkpoint", names[0], names[1], b.ra, math.Tanh(l.usual))
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
