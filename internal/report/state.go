package report

// State says how a cell of a heat map is drawn. It is coarser than the answer's
// class: every class maps to exactly one state.
type State string

// The four states, best first. An unknown state is drawn as Unmeasured, so that a
// new class can hide nothing behind a green square.
const (
	Exact      State = "exact"
	NearMiss   State = "near-miss"
	Lost       State = "lost"
	Unmeasured State = "unmeasured"
)

// States lists the states in legend order.
func States() []State { return []State{Exact, NearMiss, Lost, Unmeasured} }

// Known returns s itself if it is one of the four states, Unmeasured otherwise.
func (s State) Known() State {
	switch s {
	case Exact, NearMiss, Lost:
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
	case Lost:
		return "31" // red
	default:
		return "2" // faint
	}
}
