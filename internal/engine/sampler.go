package engine

import "math"

// samplerOps are the decisions of the sampler that a bug can get wrong.
type samplerOps struct {
	temp func(req *request, slot float64) float64 // temperature to use
	best func(req *request, d dist) int32         // the token of a greedy step
	seed func(drawn uint64) uint64                // of a request that brings none
}

func soundSampler() samplerOps {
	return samplerOps{
		temp: func(_ *request, slot float64) float64 { return slot },
		best: func(_ *request, d dist) int32 { return d.best },
		seed: func(drawn uint64) uint64 { return drawn },
	}
}

// logprobOps are the decisions about log-probabilities that a bug can get wrong.
type logprobOps struct {
	value  func(lp float64) float64      // what is written of a natural logarithm
	temp   func(temp float64) float64    // temperature that the logits are divided by first
	from   func(now, before dist) dist   // step that the values are taken from
	list   func(now, before []alt) []alt // the alternatives shown beside the chosen token
	always bool                          // candidates are needed for greedy answers too
}

func soundLogprobs() logprobOps {
	return logprobOps{
		value: func(lp float64) float64 { return lp },
		temp:  func(float64) float64 { return 1 },
		from:  func(now, _ dist) dist { return now },
		list:  func(now, _ []alt) []alt { return now },
	}
}

// sample picks a token and reports its log-probability.
func (m *machine) sample(rk *rank, req *request, d dist) emitted {
	temp, share := req.temp, req.topP
	if req.slot >= 0 && req.slot < len(rk.batch.temps) {
		temp, share = m.smp.temp(req, rk.batch.temps[req.slot]), rk.batch.shares[req.slot]
	}
	e := emitted{tok: m.smp.best(req, d)}
	if temp > 0 && len(d.cands) > 0 {
		e.tok = draw(d, temp, share, unit(mix(req.seed, uint64(len(req.gen))*31+7)))
	}
	e.tok = m.dec.head(m, e.tok)
	if req.logprobs < 0 || len(d.cands) == 0 {
		return e
	}
	src := m.lps.from(d, req.mind.shown)
	req.mind.shown = d
	e.lp, e.top = m.logprobs(rk, req, src, e.tok, temp)
	e.top = m.lps.list(e.top, req.mind.listed)
	req.mind.listed = e.top
	return e
}

// logprobs returns the value of a token and of the best alternatives.
func (m *machine) logprobs(rk *rank, req *request, d dist, tok int32, temp float64) (float64, []alt) {
	t := m.lps.temp(temp)
	scaled := dist{cands: make([]alt, len(d.cands))}
	noise := 0.0
	if m.p.Noise > 0 && len(rk.batch.reqs) > 1 {
		noise = m.p.Noise * (unit(mix(d.hash, uint64(len(rk.batch.reqs)))) - 0.5)
	}
	for i, c := range d.cands {
		lp := c.lp
		if i > 0 {
			lp = min(0, lp+noise)
		}
		scaled.cands[i] = alt{c.tok, lp / t}
	}
	z := scaled.logZ()
	own := math.NaN()
	top := make([]alt, 0, req.logprobs)
	for i, c := range scaled.cands {
		v := m.lps.value(c.lp - z)
		if c.tok == tok {
			own = v
		}
		if i < req.logprobs {
			top = append(top, alt{c.tok, v})
		}
	}
	if math.IsNaN(own) {
		own = m.lps.value(scaled.cands[len(scaled.cands)-1].lp - restLogit - math.Log(float64(m.lex.size)) - z)
	}
	return own, top
}

// draw samples from the candidates that make up share of the probability.
func draw(d dist, temp, share, u float64) int32 {
	var sum, kept float64
	w := make([]float64, len(d.cands))
	for i, c := range d.cands {
		w[i] = math.Exp(c.lp / temp)
		sum += w[i]
	}
	n := len(w)
	if share > 0 && share < 1 {
		for n = 0; n < len(w) && kept < share*sum; n++ {
			kept += w[n]
		}
		sum = kept
	}
	u *= sum
	for i := range n {
		if u -= w[i]; u < 0 {
			return d.cands[i].tok
		}
	}
	return d.cands[0].tok
}
