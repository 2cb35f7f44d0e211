package fidelity

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// Golden is a recorded run: one cell per case ID.
type Golden struct {
	Family string // where it came from, for the reader
	Cells  map[string]GoldenCell
	Noise  Noise
}

// Noise is how far margins move between two runs of the same, healthy server: 0 for a deterministic
// float64 engine, otherwise the 99 % quantile over cells of the shift between the recorder's repeats.
type Noise struct {
	Nats    float64 `json:"nats"`
	Repeats int     `json:"repeats"` // how many repeats it rests on
	Source  string  `json:"source"`
}

// NoiseID is the key of the noise among a golden's cases.
const NoiseID = "fidelity/noise"

// GoldenCell is what a golden keeps of an observation. Prompt is a hash of the messages: cells pair only
// when it agrees.
type GoldenCell struct {
	Class     string     `json:"class"`
	Hit       bool       `json:"hit"`
	Prompt    string     `json:"prompt"`
	Tokens    int        `json:"tokens"`
	Positions []Position `json:"positions,omitempty"`
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
		return fmt.Errorf("the position %q of a golden cannot be read: want a quoted token, =margin, a colon and log-probabilities", s)
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

// Keep turns a measured observation into a golden cell.
func Keep(o Observation) GoldenCell {
	return GoldenCell{Class: o.Class, Hit: o.Hit, Prompt: o.PromptSHA, Tokens: o.Tokens.N, Positions: o.Positions}
}

// GoldenCases turns a run into the cases of a golden file. It fails when a cell was not measured: a
// golden with holes would later pass for a complete one.
func GoldenCases(obs []Observation, noise Noise) (map[string]any, error) {
	out := map[string]any{NoiseID: noise}
	for _, o := range obs {
		if !o.Measured {
			return nil, fmt.Errorf("no golden is recorded: the cell %q is %s: %w", o.Cell.ID, o.Class, o.Err)
		}
		out[o.Cell.ID] = Keep(o)
	}
	return out, nil
}

// ParseGolden reads the cases of a golden file, as decoded from JSON.
func ParseGolden(family string, cases map[string]any) (*Golden, error) {
	g := &Golden{Family: family, Cells: map[string]GoldenCell{}}
	for id, v := range cases {
		raw, err := json.Marshal(v)
		if err != nil {
			return nil, fmt.Errorf("golden %q, case %q: %w", family, id, err)
		}
		if id == NoiseID {
			err = json.Unmarshal(raw, &g.Noise)
		} else {
			var c GoldenCell
			err = json.Unmarshal(raw, &c)
			g.Cells[id] = c
		}
		if err != nil {
			return nil, fmt.Errorf("golden %q, case %q: %w", family, id, err)
		}
	}
	return g, nil
}

// Slug makes a model name the name of a golden: lower case, anything else than letters, digits and
// dots a hyphen.
func Slug(model string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(model) {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '.' {
			b.WriteRune(r)
		} else if s := b.String(); s != "" && !strings.HasSuffix(s, "-") {
			b.WriteByte('-')
		}
	}
	s := strings.Trim(b.String(), "-.")
	if s == "" {
		return "unnamed"
	}
	return s
}

// GoldenFamily is the name of the golden of a model, as internal/golden wants it. The profile is the set of
// prompts: with another haystack they are others, and pair with nothing recorded under this one.
func GoldenFamily(model, haystack string) string {
	return "fidelity/" + Slug(model) + "." + Slug(haystack)
}
