package recall

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// Position is one needle token of an answer, compared with a golden only while everything before it
// is the same text.
type Position struct {
	Token  string  // the right token
	Margin float64 // log p(right) - log p(best other), nats
	AtMost bool    // the right token was not among the alternatives: Margin is an upper bound
	Top    []float64
}

// MarshalJSON writes a position on one line: token, margin, and the top log-probabilities to 1e-5 nat,
// a hundredth of the smallest shift that is ever acted on.
func (p Position) MarshalJSON() ([]byte, error) {
	var b strings.Builder
	sign := "="
	if p.AtMost {
		sign = "<="
	}
	fmt.Fprintf(&b, "%s %s%s :", strconv.Quote(p.Token), sign, five(p.Margin))
	for _, v := range p.Top {
		b.WriteString(" " + five(v))
	}
	return json.Marshal(b.String())
}

func five(v float64) string {
	if v == 0 || math.Abs(v) < 5e-6 {
		return "0"
	}
	return strings.TrimRight(strings.TrimRight(strconv.FormatFloat(v, 'f', 5, 64), "0"), ".")
}

var positionLine = regexp.MustCompile(`^("(?:[^"\\]|\\.)*") (<?=)(\S+) :(.*)$`)

// UnmarshalJSON reads what MarshalJSON writes.
func (p *Position) UnmarshalJSON(raw []byte) error {
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return fmt.Errorf("a position of a golden is no string: %w", err)
	}
	m := positionLine.FindStringSubmatch(s)
	if m == nil {
		return fmt.Errorf("the position %q of a golden cannot be read: want a quoted token, =margin, a colon and "+
			"log-probabilities", s)
	}
	var out Position
	var err error
	if out.Token, err = strconv.Unquote(m[1]); err != nil {
		return fmt.Errorf("the token %s of a golden cannot be read: %w", m[1], err)
	}
	out.AtMost = m[2] == "<="
	if out.Margin, err = strconv.ParseFloat(m[3], 64); err != nil {
		return fmt.Errorf("the margin %q of a golden cannot be read: %w", m[3], err)
	}
	for f := range strings.FieldsSeq(m[4]) {
		v, err := strconv.ParseFloat(f, 64)
		if err != nil {
			return fmt.Errorf("the log-probability %q of a golden cannot be read: %w", f, err)
		}
		out.Top = append(out.Top, v)
	}
	*p = out
	return nil
}
