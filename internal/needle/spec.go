package needle

import (
	"fmt"
	"math"
	"strconv"
)

// Placement says where the needle goes.
type Placement string

const (
	// AtDepth puts it at the sentence boundary nearest Depth x filler; the zero value.
	AtDepth Placement = ""
	// Start puts it before the first sentence, right after the nonce.
	Start Placement = "start"
	// Tail puts it right before the question: within about the last 30 tokens.
	Tail Placement = "tail"
	// JustInside puts it as far from the end as fits whole into the last Window tokens, with a
	// tenth of the window and 8 tokens of chat frame to spare, since distances are estimates.
	JustInside Placement = "just-inside"
	// Spread puts Repeat copies at depths 0, 1/Repeat, 2/Repeat, ...: none of them at the tail.
	Spread Placement = "spread"
)

// Spec is one prompt as a value. The same Spec, haystack and counter give the same bytes.
type Spec struct {
	Case      string    // slug of the case; with Seed it draws name, code and stretch
	Seed      uint64    // another seed is another set of questions
	Nonce     string    // salt of the first words; empty: from Seed, so that the prompt repeats
	Length    int       // wanted tokens of the whole prompt by the counter
	Depth     float64   // 0 start of the filler, 1 end of it; for AtDepth
	Placement Placement // where the needle goes
	Window    int       // tokens, for JustInside
	Repeat    int       // copies for Spread, 1 to 64; 0 means 8
	Others    int       // further needles with other names and codes, 0 to 16
	Form      Form      // wording of the question; empty: FormOnly
	Name      string    // a name of the caller's instead of a drawn one
	Code      string    // a code of the caller's instead of a drawn one, digits only
	Kind      Kind      // what is hidden; empty: Digits
	Count     int       // codes of Several, tellings of Nth, rivals of Distractors; 0: 3, 4, 4
	Which     int       // Nth: the telling that is asked for, from 1; 0: the last
	Pad       Pad       // where BuildExact puts its filler words; empty: PadFront
}

// Tolerance is how far from Length a prompt may be, in tokens: max(2 %, 16).
func Tolerance(length int) int {
	return max(16, length*2/100)
}

// WindowTest returns the five prompts that tell a lost far path from a weak model: tail, just
// inside the window, start, repeated 8 times (all at length), and start at the short length. Cases
// are base.Case with the variant as a further segment. window and the lengths are in tokens.
func WindowTest(base Spec, window, length, short int) []Spec {
	v := make([]Spec, 5)
	for i, p := range []struct {
		slug      string
		placement Placement
		length    int
	}{
		{"tail", Tail, length},
		{"just-inside", JustInside, length},
		{"start", Start, length},
		{"repeated-x8", Spread, length},
		{"short", Start, short},
	} {
		v[i] = base
		v[i].Case = base.Case + "/" + p.slug
		v[i].Placement, v[i].Length, v[i].Window, v[i].Repeat = p.placement, p.length, window, 8
	}
	return v
}

func (s Spec) check() error {
	switch s.Placement {
	case AtDepth:
		if !(s.Depth >= 0 && s.Depth <= 1) || math.IsNaN(s.Depth) {
			return fmt.Errorf("depth is %v, want a number from 0 to 1", s.Depth)
		}
	case JustInside:
		if s.Window < 1 {
			return fmt.Errorf("window is %d tokens, want at least 1 for %q", s.Window, s.Placement)
		}
	case Spread:
		if s.Repeat < 0 || s.Repeat > 64 {
			return fmt.Errorf("repeat is %d, want 1 to 64 copies", s.Repeat)
		}
	case Start, Tail:
	default:
		return fmt.Errorf("placement %q is unknown, want one of \"\", start, tail, just-inside, spread", string(s.Placement))
	}
	if s.Others < 0 || s.Others > 16 {
		return fmt.Errorf("%d further needles, want 0 to 16", s.Others)
	}
	if len(digitsOnly(s.Code)) != len(s.Code) {
		return fmt.Errorf("code %q, want digits only", s.Code)
	}
	if s.Length < 1 {
		return fmt.Errorf("length is %d tokens, want at least 1", s.Length)
	}
	if s.Pad != PadFront && s.Pad != PadBack {
		return fmt.Errorf("pad %q is unknown, want %q or %q", string(s.Pad), string(PadFront), string(PadBack))
	}
	_, err := s.Form.Question("")
	if err != nil {
		return err
	}
	if err := s.checkKind(); err != nil {
		return err
	}
	return nil
}

func (s Spec) copies() int {
	switch {
	case s.Placement != Spread:
		return 1
	case s.Repeat == 0:
		return 8
	}
	return s.Repeat
}

func (s Spec) seed() string { return strconv.FormatUint(s.Seed, 10) }

func digitsOnly(s string) string {
	out := make([]byte, 0, len(s))
	for i := range len(s) {
		if s[i] >= '0' && s[i] <= '9' {
			out = append(out, s[i])
		}
	}
	return string(out)
}
