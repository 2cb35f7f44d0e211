package diagnosis

import (
	"fmt"
	"slices"
	"strings"
)

// Verdict is what a run says as a whole.
type Verdict string

// The verdicts. Ambiguous and fault both mean that something is wrong.
const (
	Clean      Verdict = "clean"
	Fault      Verdict = "fault"
	Ambiguous  Verdict = "ambiguous"
	Unmeasured Verdict = "unmeasured"
)

// Grade says how much a finding can carry.
type Grade string

// The grades. Firm is a contrast that chance gives in one run of 10,000 at most, or a count of tokens, by a rule that
// was right on every kind that it stood alone on, with no rival and nothing unexplained left; likely is the same with
// some of that left; weak is less than that: worth another run and no more.
const (
	Firm   Grade = "firm"
	Likely Grade = "likely"
	Weak   Grade = "weak"
)

// Confidence is a grade with what it rests on. P is the largest p of the contrasts that the finding needs; 0 where it
// rests on counts of tokens.
type Confidence struct {
	Grade Grade   `json:"grade"`
	Runs  int     `json:"runs"`
	Arms  int     `json:"arms"`
	P     float64 `json:"p"`
}

// Flag is the one switch to flip next, by engine. An empty one: that engine has none that splits this class.
type Flag struct {
	SGLang   string `json:"sglang,omitempty"`
	VLLM     string `json:"vllm,omitempty"`
	LlamaCpp string `json:"llama_cpp,omitempty"`
}

// For gives the flag of a server as evidence names it.
func (f Flag) For(server string) string {
	switch server {
	case "sglang":
		return f.SGLang
	case "vllm":
		return f.VLLM
	case "llama.cpp":
		return f.LlamaCpp
	}
	return ""
}

// Finding is one class that the evidence fits.
type Finding struct {
	Class      string     `json:"class"`
	Channel    string     `json:"channel"` // the way in which answers go wrong, a group of classes
	Says       string     `json:"says"`    // what is seen, in words
	Confidence Confidence `json:"confidence"`
	Evidence   []string   `json:"evidence"`
	Rivals     []string   `json:"rivals,omitempty"` // classes that the evidence does not rule out, likeliest first
	Splitter   string     `json:"splitter,omitempty"`
	Next       Flag       `json:"next"`
	// Note: no fault but something to know, such as reasoning that uses up max_tokens.
	Note bool `json:"note,omitempty"`
}

// Report is the diagnosis of one run.
type Report struct {
	Verdict    Verdict   `json:"verdict"`
	Findings   []Finding `json:"findings,omitempty"`
	Unmeasured []string  `json:"unmeasured,omitempty"` // probes without a measured answer, with the reason
}

// Ranked lists the classes of faults, best first: each finding's, then the rivals.
func (r Report) Ranked() []string {
	var out []string
	add := func(c string) {
		if !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	for _, f := range r.Findings {
		if !f.Note {
			add(f.Class)
		}
	}
	for _, f := range r.Findings {
		for _, c := range f.Rivals {
			if !f.Note {
				add(c)
			}
		}
	}
	return out
}

// Narrow tells whether the classes that are left are few: the first and up to three rivals.
func (r Report) Narrow() bool { return len(r.Ranked()) <= 4 }

// Line is the verdict in one line.
func (r Report) Line() string {
	switch r.Verdict {
	case Clean:
		if len(r.Unmeasured) > 0 {
			return fmt.Sprintf("clean in what was measured; %d probes unmeasured", len(r.Unmeasured))
		}
		return "clean"
	case Unmeasured:
		return "unmeasured: " + strings.Join(r.Unmeasured, "; ")
	}
	var parts []string
	for _, f := range r.Findings {
		switch {
		case f.Note:
		case len(f.Rivals) == 0:
			parts = append(parts, f.Class)
		default:
			parts = append(parts, strings.Join(append([]string{f.Class}, f.Rivals...), " or "))
		}
	}
	if len(parts) > 1 {
		for i, p := range parts {
			if strings.Contains(p, " or ") {
				parts[i] = "(" + p + ")"
			}
		}
	}
	line := strings.Join(parts, " and ")
	if ranked := r.Ranked(); r.Verdict == Ambiguous && !r.Narrow() {
		line = fmt.Sprintf("not narrowed down: %s or %d others", ranked[0], len(ranked)-1)
	}
	if r.Verdict == Ambiguous {
		line = "ambiguous: " + line
	}
	return line
}
