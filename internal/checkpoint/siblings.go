package checkpoint

import "strings"

// siblings says which scale tensors stand beside a weight, as a set of bits.
type siblings uint8

// The siblings of X.weight.
const (
	hasScale  siblings = 1 << iota // X.scale (X.weight_scale_inv): block scales of fp8 and MXFP4
	hasWeight                      // X.weight_scale: block scales of NVFP4
	hasGlobal                      // X.weight_scale_2: the tensor's factor in NVFP4
	hasInput                       // X.input_scale: of the activations
)

var siblingSuffix = [...]struct {
	bit    siblings
	suffix string
}{
	{hasScale, ".scale"},
	{hasWeight, ".weight_scale"},
	{hasGlobal, ".weight_scale_2"},
	{hasInput, ".input_scale"},
}

// weightOf gives the weight that a scale belongs to, in canonical spelling or by class.
func weightOf(name string) (weight string, bit siblings) {
	for _, s := range siblingSuffix {
		if stem, ok := strings.CutSuffix(name, s.suffix); ok {
			return stem + ".weight", s.bit
		}
	}
	return "", 0
}

// learnSchemes tells for every class of weights which scales more than half of its members have. A single
// lost or left-over scale is then a deviation from its class, in whatever scheme the class is stored.
func (p *patient) learnSchemes() {
	type tally struct {
		weights int
		with    [len(siblingSuffix)]int
	}
	classes := map[string]*tally{}
	of := func(class string) *tally {
		t := classes[class]
		if t == nil {
			t = &tally{}
			classes[class] = t
		}
		return t
	}
	for _, t := range p.tensors {
		if strings.HasSuffix(t.class, ".weight") {
			of(t.class).weights++
			continue
		}
		weight, bit := weightOf(t.class)
		for i, s := range siblingSuffix {
			if s.bit == bit {
				of(weight).with[i]++
			}
		}
	}
	p.schemes = make(map[string]siblings, len(classes))
	for class, t := range classes {
		var set siblings
		for i, s := range siblingSuffix {
			if 2*t.with[i] > t.weights {
				set |= s.bit
			}
		}
		if set != 0 {
			p.schemes[class] = set
		}
	}
}
