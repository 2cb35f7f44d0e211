package report

import "slices"

// State says how a cell of a heat map is drawn. It is coarser than the answer's
// class: every class maps to exactly one state.
type State string

// The five states, best first. An unknown state is drawn as Unmeasured, so that a
// new class can hide nothing behind a green square. Partial is some of several codes, or
// some of several repeats; legends name it only where it occurs.
const (
	Exact      State = "exact"
	NearMiss   State = "near-miss"
	Partial    State = "partial"
	Lost       State = "lost"
	Unmeasured State = "unmeasured"
)

// States lists the states in legend order.
func States() []State { return []State{Exact, NearMiss, Partial, Lost, Unmeasured} }

// Known returns s itself if it is one of the five states, Unmeasured otherwise.
func (s State) Known() State {
	switch s {
	case Exact, NearMiss, Partial, Lost:
		return s
	default:
		return Unmeasured
	}
}

// Glyph is the one-column sign of the state: a Unicode square, or a 7-bit character
// where the locale has no UTF-8. The signs differ in shape, never only in colour.
func (s State) Glyph(ascii bool) string {
	unicode, plain := "·", "."
	switch s.Known() {
	case Exact:
		unicode, plain = "■", "#"
	case NearMiss:
		unicode, plain = "▣", "~"
	case Partial:
		unicode, plain = "◧", "/"
	case Lost:
		unicode, plain = "□", "x"
	case Unmeasured:
	}
	if ascii {
		return plain
	}
	return unicode
}

// Word is the state's name in the legend.
func (s State) Word() string {
	if s.Known() == NearMiss {
		return "near miss"
	}
	return string(s.Known())
}

// sgr is the ANSI "select graphic rendition" code of the state.
func (s State) sgr() string {
	switch s.Known() {
	case Exact:
		return "32" // green
	case NearMiss:
		return "33" // yellow
	case Partial:
		return "36" // cyan
	case Lost:
		return "31" // red
	default:
		return "2" // faint
	}
}

// Rank orders states from best to worst: 0 is Exact, Unmeasured comes last.
func (s State) Rank() int { return slices.Index(States(), s.Known()) }

// StateOf maps an answer class, as package needle names them, to its state. A class that it does not know is
// Unmeasured.
func StateOf(class string) State {
	switch class {
	case "exact":
		return Exact
	case "near-miss":
		return NearMiss
	case "partial":
		return Partial
	case "other-needle", "filler-echo", "denial", "invented", "empty", "cut-off", "junk":
		return Lost
	default: // "budget", "error", "unmeasured": no trial
		return Unmeasured
	}
}

// legend lists the states that a grid's legend names: all but a Partial that does not occur.
func (h HeatMap) legend() []State {
	return slices.DeleteFunc(States(), func(s State) bool { return s == Partial && h.Count(s) == 0 })
}
