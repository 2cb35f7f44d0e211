package engine

import "strings"

// machine is all mechanisms of one rank. Ranks share it unless a bug sits in one of them.
type machine struct {
	p    Params
	seed uint64
	lex  *lexicon
	tok  *tokenizer
	// traits are settings beyond Params.
	traits traits
	// tight lets a rank preempt as one does whose pool is nearly full.
	tight bool

	tmpl templateOps
	fit  fitOps
	pg   pageOps
	pre  prefillOps
	att  maskOps
	sp   sparseOps
	cch  cacheOps
	bat  batchOps
	dec  decodeOps
	spc  specOps
	smp  samplerOps
	lps  logprobOps
	det  detokOps
	stp  stopOps
	str  streamOps
	tls  toolOps
	rsn  reasonOps
	use  usageOps
}

// newMachine puts the sound mechanisms together.
func newMachine(p Params, seed uint64) (*machine, error) {
	v, err := vocabOf(p.Merges, p.Digits)
	if err != nil {
		return nil, err
	}
	m := &machine{
		p: p, seed: seed, tmpl: soundTemplate(p), fit: soundFit(), pg: soundPages(), pre: soundPrefill(), att: soundMask(),
		sp: soundSparse(), cch: soundCache(), bat: soundBatch(), dec: soundDecode(), spc: soundSpec(), smp: soundSampler(),
		lps: soundLogprobs(), det: soundDetok(), stp: soundStop(), str: soundStream(), tls: soundTools(),
		rsn: soundReason(p),
		use: soundUsage(),
	}
	m.lex = newLexicon(v, m.tmpl.fam.names)
	m.tok = newTokenizer(v, soundTokens())
	return m, nil
}

// stopOps are the decisions about the end of an answer that a bug can get wrong.
type stopOps struct {
	token func(m *machine, tok int32) bool      // whether a token ends the answer
	find  func(text string, stops []string) int // where a stop string begins, -1
	hold  func(text string, stops []string) int // bytes at the end that may begin a stop string
	rest  func(held string) string              // what of those comes out when the answer ends
	carry func(stops []string) []string         // stop strings in force for a request that brings stops
	shown bool                                  // the end token is part of the text
}

func soundStop() stopOps {
	return stopOps{
		token: func(m *machine, tok int32) bool {
			c := m.lex.class(tok)
			return c == spEOS || c == spEnd && !m.tmpl.fam.special
		},
		find: func(text string, stops []string) int {
			best := -1
			for _, s := range stops {
				if i := strings.Index(text, s); i >= 0 && (best < 0 || i < best) {
					best = i
				}
			}
			return best
		},
		hold: func(text string, stops []string) int {
			most := 0
			for _, s := range stops {
				for n := min(len(s)-1, len(text)); n > most; n-- {
					if strings.HasSuffix(text, s[:n]) {
						most = n
					}
				}
			}
			return most
		},
		rest:  func(held string) string { return held },
		carry: func(stops []string) []string { return stops },
	}
}

// fitOps are the decisions about prompts that do not fit.
type fitOps struct {
	limit func(context int) int             // longest prompt that is left alone
	cut   func(ids []int32, to int) []int32 // what is kept of a longer one; nil refuses it
	count func(sent, kept int) int          // what usage reports
	rank  func(ids []int32) []int32         // what a rank keeps of a prompt; nil: all
}

func soundFit() fitOps {
	return fitOps{
		limit: func(context int) int { return context },
		cut:   func([]int32, int) []int32 { return nil },
		count: func(_, kept int) int { return kept },
	}
}

// usageOps are the decisions about what usage reports.
type usageOps struct {
	cached func(req *request) int
}

func soundUsage() usageOps {
	return usageOps{cached: func(req *request) int { return req.hit }}
}
