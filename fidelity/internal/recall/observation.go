package recall

import (
	"slices"

	"github.com/assay-suite/assay/fidelity/internal/selfcheck"
	"github.com/assay-suite/assay/internal/endpoint"
)

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
	Positions []Position         // nil where the server gives no log-probabilities
	Logs      selfcheck.Logprobs // of the answer, against themselves
	Prompt    string
	PromptSHA string // see promptHash
	Nonced    bool   // its first words are this run's own: numbers are not those of another run's
	Before    int    // tokens before the needle, the first of several; 0 beside FromEnd 0: not known
	FromEnd   int    // tokens from the needle to the end of the prompt
	Tokens    endpoint.Count
	Cached    endpoint.Count
	Seconds   float64
	Order     int    // which question of the run, from 1; of a second attempt where there was one
	Conn      string // its connection, by the client's address; empty: not known
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

// Count returns hits and measured cells among those that keep takes.
func Count(obs []Observation, keep func(Observation) bool) (hits, of int) {
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

// checked holds the log-probabilities of all answers against themselves. Where they cannot be those of the answers it
// takes the margins out and says why.
func checked(obs []Observation) ([]Observation, string) {
	var sum selfcheck.Logprobs
	for _, o := range obs {
		sum = sum.Plus(o.Logs)
	}
	found := sum.Finding()
	if found == "" {
		return obs, ""
	}
	out := slices.Clone(obs)
	for i := range out {
		out[i].Positions = nil
	}
	return out, found
}

// LogprobsOf is what is wrong with the log-probabilities of one arm of a comparison; empty where nothing is.
func LogprobsOf(arm map[string]Observation) string {
	var sum selfcheck.Logprobs
	for _, o := range arm {
		sum = sum.Plus(o.Logs)
	}
	return sum.Finding()
}
