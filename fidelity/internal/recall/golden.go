package recall

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/assay-suite/assay/internal/endpoint"
	"github.com/assay-suite/assay/internal/gate"
)

// Golden is a recorded run: one cell per case ID, and what the gate needs to know of them.
type Golden struct {
	Header
	Family string // where it came from, for the reader
	Cells  map[string]GoldenCell
}

// Header is what a golden says about all of its cells.
type Header struct {
	Reason string     `json:"reason"` // why it was made
	Suite  string     `json:"suite"`  // version of assay
	Server Server     `json:"server"`
	Exact  bool       `json:"exact"` // the engine repeats itself to the bit: any other numbers are another computation
	Noise  Noise      `json:"noise"`
	Gate   []Baseline `json:"gate"`
}

// Server is the fingerprint of the server that answered.
type Server struct {
	Kind    string           `json:"kind"`
	Version string           `json:"version,omitempty"`
	Hash    string           `json:"hash,omitempty"` // endpoint.Identity.Hash
	Fields  []endpoint.Field `json:"fields,omitempty"`
}

// ServerOf takes the fingerprint from an identity.
func ServerOf(id endpoint.Identity) Server {
	return Server{Kind: string(id.Kind), Version: id.Version, Hash: id.Hash, Fields: id.Fields}
}

// Differences lists what differs between two fingerprints, one line a field.
func (s Server) Differences(now Server) []string {
	return endpoint.Identity{Fields: s.Fields}.Differences(endpoint.Identity{Fields: now.Fields})
}

// Baseline is gate.Baseline without the outcomes, which stand in the cells.
type Baseline struct {
	Family   gate.Family `json:"family"`
	Stable   []string    `json:"stable"` // case IDs in the gate's order
	Unstable []string    `json:"unstable,omitempty"`
	Recall   float64     `json:"recall"`
	Margins  bool        `json:"margins"`
	AA       float64     `json:"aa-nats"`
}

// Noise is how far margins move between two runs of the same, healthy server: 0 for a deterministic
// float64 engine, otherwise the 99 % quantile over cells of the shift between the recorder's repeats.
type Noise struct {
	Nats    float64 `json:"nats"`
	Repeats int     `json:"repeats"` // how many repeats it rests on
	Source  string  `json:"source"`
}

// HeaderID is the key of the header among a golden's cases.
const HeaderID = "fidelity/golden"

// GoldenCell is what a golden keeps of a cell: the baseline, which is the last of gate.Repeats repeats, and the
// repeats before it, which chose the stable cells. Prompt is a hash of the messages: cells pair only when it agrees.
type GoldenCell struct {
	Class     string     `json:"class"`
	Hit       bool       `json:"hit"`
	Prompt    string     `json:"prompt"`
	Tokens    int        `json:"tokens"`
	Positions []Position `json:"positions,omitempty"`
	Before    []Repeat   `json:"before,omitempty"` // empty where the engine repeats itself to the bit
}

// Repeat is one of the answers that chose the stable cells.
type Repeat struct {
	Class  string   `json:"class"`
	Prompt string   `json:"prompt"`
	Tokens int      `json:"tokens"`
	Margin *float64 `json:"margin,omitempty"` // mean over the answer's positions, nats
}

// Keep turns a measured observation into a golden cell. The top log-probabilities are kept for grid, window and cache
// test; further cells are compared by margins.
func Keep(o Observation) GoldenCell {
	c := GoldenCell{
		Class:     o.Class,
		Hit:       o.Hit,
		Prompt:    o.PromptSHA,
		Tokens:    o.Tokens.N,
		Positions: slices.Clone(o.Positions),
	}
	if o.Cell.Further {
		for i := range c.Positions {
			c.Positions[i].Top = nil
		}
	}
	return c
}

// ParseGolden reads the cases of a golden file, as decoded from JSON.
func ParseGolden(family string, cases map[string]any) (*Golden, error) {
	g := &Golden{Family: family, Cells: map[string]GoldenCell{}}
	for id, v := range cases {
		raw, err := json.Marshal(v)
		if err != nil {
			return nil, fmt.Errorf("golden %q, case %q: %w", family, id, err)
		}
		if id == HeaderID {
			err = json.Unmarshal(raw, &g.Header)
		} else {
			var c GoldenCell
			err = json.Unmarshal(raw, &c)
			g.Cells[id] = c
		}
		if err != nil {
			return nil, fmt.Errorf("golden %q, case %q: %w", family, id, err)
		}
	}
	if len(g.Gate) == 0 {
		return nil, fmt.Errorf("golden %q has no %q with the gate's cells: it was made by an earlier version, bless again",
			family, HeaderID)
	}
	return g, nil
}
