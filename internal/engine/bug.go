package engine

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// Bug is a fault of one mechanism.
type Bug struct {
	Slug      string
	Mechanism string // room of the engine: template, tokenizer, detokeniser, pages, prefill, attention, sparse, ...
	Effect    string // what is seen, in one sentence
	Origin    string // public report of such a bug, empty where there is none
	Truth     Truth
	Stated    Statement // of the third set: written before a judge saw the bug

	oneRank bool                          // sits in one of several ranks
	equip   func(t *traits, r *rand.Rand) // the same beyond Params
	prepare func(p *Params, r *rand.Rand) // gives the server the mechanism, where not every server has it
	apply   func(pl *plant) string        // changes one decision and says what was drawn
}

// Truth is what a grader may know of a bug. Class and Depends are words of this package.
type Truth struct {
	Class string
	// Depends names the features of requests that the loss depends on: length, end-distance, start-distance, depth,
	// page-phase, chunk-phase, wording, warm, fork, stream, tools, turns, roles, order, served, period, concurrency,
	// replica, connection, answer-index, answer-length, unicode, logprobs, sampling, images, always.
	Depends []string
	// Answers says whether answers are wrong; otherwise only counts, log-probabilities or variety are.
	Answers bool
	// Needs names what a client must do to see it: clients (several at once), logprobs, tools, stream, sampling, images.
	Needs []string
}

// plant is what a bug may change.
type plant struct {
	e *Engine
	m *machine
	r *rand.Rand
}

// catalogue is every bug, by mechanism.
func catalogue() []Bug {
	return slices.Concat(tokenBugs(), templateBugs(), pageBugs(), prefillBugs(), maskBugs(), sparseBugs(), cacheBugs(),
		tierBugs(), batchBugs(), decodeBugs(), specBugs(), samplerBugs(), logprobBugs(), textBugs(), parserBugs(),
		fitBugs(),
		rankBugs())
}

var all = catalogue()

// Catalogue returns every bug of the two halves; Bugs(Fresh) are those of the third set.
func Catalogue() []Bug { return slices.Clone(all) }

// Lookup returns the bug of a slug.
func Lookup(slug string) (Bug, bool) {
	every := slices.Concat(all, fresh)
	i := slices.IndexFunc(every, func(b Bug) bool { return b.Slug == slug })
	if i < 0 {
		return Bug{}, false
	}
	return every[i], true
}

// Help lists bugs and sound servers for a usage text.
func Help() string {
	var b strings.Builder
	for _, x := range slices.Concat(all, fresh) {
		fmt.Fprintf(&b, "  %-28s %s: %s\n", x.Slug, x.Mechanism, x.Effect)
	}
	b.WriteString("\nSound servers of -engine=mechanism -control=:\n")
	for _, s := range slices.Concat(sounds, freshSounds) {
		fmt.Fprintf(&b, "  %-28s %s\n", s.Slug, s.About)
	}
	return b.String()
}
