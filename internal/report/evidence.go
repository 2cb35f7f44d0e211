package report

import "strconv"

// Evidence is what one probe measured, folded in the page.
type Evidence struct {
	Probe   string // slug
	Says    string // what it is for, or what came out, in a sentence
	Arms    []Arm
	Facts   []Fact // named numbers and words
	LeftOut string // why it did not run; empty if it did
}

// Arm is one way of asking with its outcome.
type Arm struct {
	Name    string
	Rate    Rate
	Classes string   // "exact 6, denial 2"
	Shows   []string // an example or two
}

// Position is the arm's coordinate, or empty for 0.
func (a Arm) Position() string {
	if a.Rate.At == 0 {
		return ""
	}
	return strconv.FormatFloat(a.Rate.At, 'f', -1, 64)
}

// Count sums the arms of a probe.
func (e Evidence) Count() Rate {
	var r Rate
	for _, a := range e.Arms {
		r.Hits, r.Of, r.Unmeasured = r.Hits+a.Rate.Hits, r.Of+a.Rate.Of, r.Unmeasured+a.Rate.Unmeasured
	}
	return r
}

// Exchange is one request with its answer, byte for byte as far as they are text. They must come without secrets, or
// through a Redactor that knows them.
type Exchange struct {
	Case     string
	Status   string // "200", or the transport's error
	Path     string // of the stored request
	Request  string
	Response string
	Curl     string
}

// exchangeView is an exchange with its texts cut to the page's budget.
type exchangeView struct {
	Exchange
	Elided bool
}

func newExchangeView(x Exchange, budget *int) exchangeView {
	v := exchangeView{Exchange: x}
	request, a := elide(x.Request, budget)
	response, b := elide(x.Response, budget)
	v.Request, v.Response, v.Elided = visible(request), visible(response), a || b
	return v
}
