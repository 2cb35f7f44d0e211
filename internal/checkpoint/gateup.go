package checkpoint

import "strings"

// gateUp checks that w1 and w3 of an expert share what a fused kernel reads once: the global scale and
// the input scale (ModelOpt examples/deepseek/deepseek_v4/quantize_to_nvfp4.py makes them equal).
func (p *patient) gateUp() {
	for _, t := range p.tensors {
		stem, ok := strings.CutSuffix(t.canon, ".w1.weight")
		if !ok {
			continue
		}
		for _, suffix := range []string{".weight_scale_2", ".input_scale"} {
			w1, w3 := p.byCanon[stem+".w1"+suffix], p.byCanon[stem+".w3"+suffix]
			a, okA := w1.scalar()
			b, okB := w3.scalar()
			if okA && okB && a != b {
				p.add(Certain, KindGateUpScale, []string{w1.stored, w3.stored},
					"%s is %g and %s is %g (ratio %g); gate and up are one GEMM and share the scale, so one half is off by that "+
						"factor: quantise both with the larger amax", w1.stored, a, w3.stored, b, b/a)
			}
		}
	}
}
