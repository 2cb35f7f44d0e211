// Package evidence is what probes measure and a diagnosis reads: arms with counts, and named numbers. It holds no
// judgement.
//
// An arm is one way of asking (a length, a depth, warm, eight clients): how often it ran, how often the answer was
// right, and the classes of the answers. An arm that did not run is not in the evidence; one that ran and got no answer
// has Unmeasured. Probes (fidelity/internal/probe) write it, the decision procedure (fidelity/diagnosis) reads it, the
// report shows it.
package evidence

import (
	"cmp"
	"slices"
)

// Arm is one arm of one probe.
type Arm struct {
	Probe      string         `json:"probe"` // slug, see the constants
	Name       string         `json:"name"`  // slug within the probe
	At         float64        `json:"at"`    // its coordinate: tokens, clients, turn, residue; 0 where it has none
	Runs       int            `json:"runs"`  // measured runs
	Right      int            `json:"right"`
	Classes    map[string]int `json:"classes,omitempty"` // answer classes over the measured runs
	Unmeasured int            `json:"unmeasured,omitempty"`
	Shows      []string       `json:"shows,omitempty"` // an example or two, for the evidence lines
}

// Rate is the share of right answers, and whether anything was measured.
func (a Arm) Rate() (float64, bool) {
	if a.Runs == 0 {
		return 0, false
	}
	return float64(a.Right) / float64(a.Runs), true
}

// Share is the share of a class among the measured runs.
func (a Arm) Share(class string) float64 {
	if a.Runs == 0 {
		return 0
	}
	return float64(a.Classes[class]) / float64(a.Runs)
}

// Set is the evidence of one run.
type Set struct {
	Server  string             `json:"server"` // vllm, sglang, llama.cpp, or empty
	Budget  string             `json:"budget"`
	Arms    []Arm              `json:"arms"`
	Numbers map[string]float64 `json:"numbers,omitempty"`  // "<probe>/<name>": prompt-token differences, edges, spreads
	Words   map[string]string  `json:"words,omitempty"`    // "<probe>/<name>": what is no number
	LeftOut map[string]string  `json:"left_out,omitempty"` // probe -> why it did not run
	Answers []Answer           `json:"answers,omitempty"`  // every answer of every probe, in their order
}

// Arm finds an arm; ok is false where it did not run.
func (s Set) Arm(probe, name string) (Arm, bool) {
	for _, a := range s.Arms {
		if a.Probe == probe && a.Name == name {
			return a, true
		}
	}
	return Arm{}, false
}

// Of lists a probe's arms by their coordinate, then name.
func (s Set) Of(probe string) []Arm {
	var out []Arm
	for _, a := range s.Arms {
		if a.Probe == probe {
			out = append(out, a)
		}
	}
	slices.SortFunc(out, func(a, b Arm) int { return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Name, b.Name)) })
	return out
}

// Number is a named number, and whether it was measured.
func (s Set) Number(probe, name string) (float64, bool) {
	v, ok := s.Numbers[probe+"/"+name]
	return v, ok
}

// Count adds one run to an arm, which it makes where it is new.
func (s *Set) Count(probe, name string, at float64, class string, right, measured bool, shows string) {
	i := slices.IndexFunc(s.Arms, func(a Arm) bool { return a.Probe == probe && a.Name == name })
	if i < 0 {
		s.Arms = append(s.Arms, Arm{Probe: probe, Name: name, At: at, Classes: map[string]int{}})
		i = len(s.Arms) - 1
	}
	a := &s.Arms[i]
	if !measured {
		a.Unmeasured++
		return
	}
	a.Runs++
	a.Classes[class]++
	if right {
		a.Right++
	}
	if shows != "" && len(a.Shows) < 2 && !right {
		a.Shows = append(a.Shows, shows)
	}
}

// Set names a number.
func (s *Set) Set(probe, name string, v float64) {
	if s.Numbers == nil {
		s.Numbers = map[string]float64{}
	}
	s.Numbers[probe+"/"+name] = v
}

// Say names a word.
func (s *Set) Say(probe, name, v string) {
	if s.Words == nil {
		s.Words = map[string]string{}
	}
	s.Words[probe+"/"+name] = v
}

// Leave notes that a probe was left out, and why.
func (s *Set) Leave(probe, why string) {
	if s.LeftOut == nil {
		s.LeftOut = map[string]string{}
	}
	s.LeftOut[probe] = why
}
