package checkpoint

import "strings"

// gateUp checks that w1 and w3 of an expert share what a fused kernel reads once: the global scale and
// the input scale (ModelOpt examples/deepseek/deepseek_v4/quantize_to_nvfp4.py makes them equal). Engines take the
// larger input scale of others, and warn of global scales that differ.
func (p *patient) gateUp() {
	for _, t := range p.tensors {
		stem, ok := strings.CutSuffix(t.canon, ".w1.weight")
		if !ok {
			continue
		}
		suffixes, severity := []string{".weight_scale_2", ".input_scale"}, Certain
		if p.config != nil && p.config.Family == "" {
			suffixes, severity = suffixes[:1], Look
		}
		for _, suffix := range suffixes {
			w1, w3 := p.byCanon[stem+".w1"+suffix], p.byCanon[stem+".w3"+suffix]
			a, okA := w1.scalar()
			b, okB := w3.scalar()
			if okA && okB && a != b {
				p.add(severity, KindGateUpScale, []string{w1.stored, w3.stored},
					"%s is %g and %s is %g (ratio %g); gate and up are one GEMM and share the scale, so one half is off by that "+
						"factor: quantise both with the larger amax", w1.stored, a, w3.stored, b, b/a)
			}
		}
	}
}
