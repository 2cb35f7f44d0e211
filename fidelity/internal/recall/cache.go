package recall

import (
	"fmt"
	"slices"

	"github.com/assay-suite/assay/internal/stat"
)

// CacheResult is the comparison of answers computed cold with the same prompt's answers from the cache.
type CacheResult struct {
	Standing Standing // Absent: the server does not tell hits, nothing can be proven
	Pairs    int      // measured on both sides
	Proven   int      // pairs whose second request reports cached tokens and whose first reports none
	Differ   []string // prompt IDs whose answers differ
	Worst    Shift    // largest shift of a proven pair
	Text     string

	told bool // cached_tokens is in the answers
}

const cacheAlpha = 0.05 // paired test where the server's own noise is not known

// JudgeCache compares cold and warm answers pair by pair; only pairs with a proven hit count.
//
// Where the server's noise is known (a deterministic engine, or a golden that recorded it), one pair
// that moves beyond it is a fault: nothing about a hit may change an answer. Where it is not known,
// temperature 0 need not repeat, so that only lost needles count, by a paired exact test.
// reported: the pre-flight saw the server report hits.
func JudgeCache(obs []Observation, noise *Noise, reported bool) (CacheResult, error) {
	var r CacheResult
	cold := map[string]Observation{}
	unproven, lost, won := 0, 0, 0
	for _, o := range obs {
		if o.Cell.Family != Cache {
			continue
		}
		if o.Cell.Arm == "cold" {
			cold[o.Cell.Prompt] = o
			continue
		}
		c, ok := cold[o.Cell.Prompt]
		if !ok || !c.Measured || !o.Measured {
			continue
		}
		r.Pairs++
		if !o.Proven() || c.Cached.Known && c.Cached.N > 0 {
			unproven++
			continue
		}
		r.Proven++
		shift, _ := shiftOf(o.Positions, c.Positions)
		shift.ID = o.Cell.Prompt
		if shift.Size() >= r.Worst.Size() {
			r.Worst = shift
		}
		switch {
		case c.Hit && !o.Hit:
			lost++
		case !c.Hit && o.Hit:
			won++
		}
		moved := noise != nil && shift.Size() > max(practicalShift, noiseFactor*noise.Nats)
		if moved || o.Answer != c.Answer && (noise == nil || noise.Nats == 0) {
			r.Differ = append(r.Differ, o.Cell.Prompt)
		}
	}
	r.told = slices.ContainsFunc(obs, func(o Observation) bool { return o.Cached.Known })
	if hits, n := coldHits(obs); n > 0 && 2*hits > n {
		r.Standing = Inconclusive
		r.Text = fmt.Sprintf("cached_tokens proves nothing: %d of %d prompts that nobody sent before are counted as cached "+
			"for the most part", hits, n)
		return r, nil
	}
	return r, r.judge(noise, reported, lost, won)
}

// coldHits counts the cold prompts that the server says it took from its cache for the most part.
func coldHits(obs []Observation) (hits, of int) {
	for _, o := range obs {
		if o.Cell.Family == Cache && o.Cell.Arm == "cold" && o.Measured && o.Cached.Known && o.Tokens.Known {
			of++
			if 2*o.Cached.N > o.Tokens.N {
				hits++
			}
		}
	}
	return hits, of
}

func (r *CacheResult) judge(noise *Noise, reported bool, lost, won int) error {
	proven := fmt.Sprintf("hits proven %d/%d", r.Proven, r.Pairs)
	switch {
	case r.Pairs == 0:
		r.Standing, r.Text = Absent, "no pair was measured"
		return nil
	case r.Proven == 0 && !reported && r.told:
		r.Standing, r.Text = Absent, fmt.Sprintf("not examined: cached_tokens is reported, and none of %d prompts that were "+
			"sent again had a hit: a cache that is off, or a router that sends the same prompt to another replica", r.Pairs)
		return nil
	case r.Proven == 0 && !reported:
		r.Standing, r.Text = Absent, "not examined: the server does not report cached_tokens (vLLM: "+
			"--enable-prompt-tokens-details, SGLang: --enable-cache-report)"
		return nil
	case 2*r.Proven < r.Pairs:
		r.Standing, r.Text = Inconclusive, "warm arm without hits: nothing is proven ("+proven+")"
		return nil
	}
	if noise != nil {
		r.Standing, r.Text = Held, "warm = cold ("+proven+")"
		if len(r.Differ) > 0 {
			r.Standing = Regressed
			r.Text = fmt.Sprintf("warm differs from cold in %d of %d pairs, largest shift %s nat (%s)", len(r.Differ), r.Proven,
				Nats(r.Worst.Size()), proven)
		}
		return nil
	}
	p, err := stat.McNemar(lost, won, stat.Greater)
	if err != nil {
		return err
	}
	r.Standing = Held
	r.Text = fmt.Sprintf("warm loses %d and wins %d of %d needles against cold (%s); texts differ in %d, which proves "+
		"nothing while the server's own noise is unknown", lost, won, r.Proven, proven, len(r.Differ))
	switch {
	case p < cacheAlpha:
		r.Standing = Regressed
	case lost > won:
		r.Standing = Inconclusive
	case len(r.Differ) == 0:
		r.Text = "warm = cold (" + proven + ")"
	}
	return nil
}
