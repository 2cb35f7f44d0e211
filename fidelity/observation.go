package fidelity

import (
	"github.com/assay-suite/assay/internal/endpoint"
)

// Position is one needle token of an answer, compared with a golden only while everything before it
// is the same text.
type Position struct {
	Token  string  // the right token
	Margin float64 // log p(right) - log p(best other), nats
	AtMost bool    // the right token was not among the alternatives: Margin is an upper bound
	Top    []float64
}

// Observation is what became of one cell.
type Observation struct {
	Cell      Cell
	Class     string // answer class slug
	Wire      string // endpoint.Class of the request
	Hit       bool
	Measured  bool // false: error, unmeasured, budget, cut off by transport; then Hit means nothing
	Formed    bool // the answer is the kind of thing that was asked for: digits, right or wrong
	Expected  string
	Answer    string
	Reasoning string
	Finish    string
	Positions []Position // nil where the server gives no log-probabilities
	Prompt    string
	PromptSHA string // see promptHash
	Tokens    endpoint.Count
	Cached    endpoint.Count
	Seconds   float64
	Err       error
	Stored    string // base name under requests/
	Curl      string
}

// MinMargin is the smallest margin over the needle's tokens and whether there is any.
func (o Observation) MinMargin() (float64, bool) {
	if len(o.Positions) == 0 {
		return 0, false
	}
	m := o.Positions[0].Margin
	for _, p := range o.Positions[1:] {
		m = min(m, p.Margin)
	}
	return m, true
}

// count returns hits and measured cells among those that keep takes.
func count(obs []Observation, keep func(Observation) bool) (hits, of int) {
	for _, o := range obs {
		if o.Measured && keep(o) {
			of++
			if o.Hit {
				hits++
			}
		}
	}
	return hits, of
}
