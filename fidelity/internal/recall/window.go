package recall

import (
	"fmt"
	"strings"
)

// WindowVerdict is the window test in words.
type WindowVerdict struct {
	Counts string // "tail 4/4 · just inside 4/4 · ..."
	Words  string // what the pattern says; empty when every arm was found
	Named  bool   // the pattern is a signature
}

var armNames = map[string]string{
	Tail: "tail", Inside: "just inside", Start: "start", Repeated: "repeated x8", Short: "short",
}

// JudgeWindow reads the pattern of the five arms. An arm is found from three quarters of its repeats,
// lost up to one quarter, mixed in between. The signatures are those of the fault table in docs/sources.md ("By
// depth"): selection of the last k and a lost first half lose the start and keep tail and repeats;
// random selection keeps repeats only (nano-v4 has no other way to its tail); a loss of everything
// down to the short control is no matter of place.
func JudgeWindow(obs []Observation) WindowVerdict {
	var counts []string
	state := map[string]string{}
	for _, arm := range WindowArms() {
		hits, of := Count(obs, func(o Observation) bool { return o.Cell.Family == Window && o.Cell.Arm == arm })
		if of == 0 {
			counts, state[arm] = append(counts, armNames[arm]+" unmeasured"), "unmeasured"
			continue
		}
		counts = append(counts, fmt.Sprintf("%s %d/%d", armNames[arm], hits, of))
		switch {
		case 4*hits >= 3*of:
			state[arm] = "found"
		case 4*hits <= of:
			state[arm] = "lost"
		default:
			state[arm] = "mixed"
		}
	}
	words, named := windowWords(state)
	return WindowVerdict{strings.Join(counts, " · "), words, named}
}

func windowWords(s map[string]string) (words string, named bool) {
	is := func(want string, arms ...string) bool {
		for _, a := range arms {
			if s[a] != want {
				return false
			}
		}
		return true
	}
	var open []string
	for _, arm := range WindowArms() {
		if s[arm] == "unmeasured" {
			open = append(open, armNames[arm])
		}
	}
	switch {
	case is("found", WindowArms()...):
		return "", false
	case is("unmeasured", WindowArms()...):
		return "nothing was measured", false
	case is("lost", Short):
		return "not even a short prompt is answered: the loss is no matter of where the needle stands", true
	case len(open) > 0:
		return "no pattern: " + strings.Join(open, ", ") + " unmeasured", false
	case is("found", Tail, Inside, Repeated, Short) && s[Start] != "found":
		return "start lost, tail and repeats found: the far path reads the recent part of the context only (selection of " +
			"the last k, a lost early part, or a window on every layer with its edge before the repeats)", true
	case is("found", Tail, Short) && is("lost", Inside, Start, Repeated):
		return "only the last sentences are read: a sliding window on every layer, the far path does nothing", true
	case is("found", Repeated, Short) && is("lost", Start):
		return "found when repeated, lost when alone, at the tail too: what is selected does not depend on what is asked " +
			"(random or mis-scored selection)", true
	case is("found", Short) && is("lost", Tail, Inside, Start, Repeated):
		return "found in a short prompt only: the long context as such is lost", true
	}
	return "mixed: no single signature fits", false
}
