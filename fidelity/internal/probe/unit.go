package probe

import (
	"context"

	"github.com/assay-suite/assay/fidelity/internal/selfcheck"
	"github.com/assay-suite/assay/internal/endpoint"
)

// unit is one case: steps that belong together, such as the cold and the warm asking of one prompt. It is done when all
// of its answers are in the ledger, and asked again whole otherwise.
type unit struct {
	id       string // slug, unique in a run
	steps    []step
	together bool // all steps at one moment, and no other case beside them
	// settle looks at all answers of the unit before they are counted, and may take back that some are measured.
	settle func(rs []Record)
}

// step is one answer of a unit.
type step struct {
	arm    string // empty: counted in no arm
	at     float64
	tokens int     // planned, prompt and answer
	depth  float64 // of its needle; 0 for the start, and where it has none
	make   func(ctx context.Context, s salt) (query, error)
}

// salt makes a unit's prompts new to every cache. It depends on run, unit and how often the run was resumed.
type salt struct{ nonce, id string }

// query is one question to the server with its judge.
type query struct {
	chat  endpoint.ChatRequest
	raw   *endpoint.CompletionRequest // instead of chat
	post  map[string]any              // instead of both: the exact fields of a chat request, nothing filled in
	leave map[string]any              // instead of all: a stream that is left in its middle
	// native asks a route of the server's own and judges its answer.
	native func(ctx context.Context, c *endpoint.Client) (Verdict, endpoint.Exchange, error)
	client *endpoint.Client // nil: the runner's
	once   bool             // no second attempt with a larger budget
	// judge reads an answer. A nil judge makes the record measured and right: only numbers are wanted.
	judge func(a endpoint.Answer) Verdict
	// refused judges an error of the server's; nil leaves it unmeasured, but for a prompt refused as too long.
	refused func(class endpoint.Class, err error) Verdict
}

// Verdict is what a judge says about one answer.
type Verdict struct {
	Class    string             `json:"class"`
	Right    bool               `json:"right,omitempty"`
	Measured bool               `json:"measured,omitempty"`
	Numbers  map[string]float64 `json:"numbers,omitempty"`
	Marks
}

// Record is one answer as the ledger keeps it.
type Record struct {
	Case  string  `json:"case"`
	Step  int     `json:"step"`
	Arm   string  `json:"arm,omitempty"`
	At    float64 `json:"at,omitempty"`
	Epoch int     `json:"epoch,omitempty"` // how often the run had been resumed
	Verdict
	Text       string  `json:"text,omitempty"` // its first 400 bytes
	Hash       string  `json:"hash,omitempty"` // of the whole text and its tool calls
	Finish     string  `json:"finish,omitempty"`
	Thoughts   int     `json:"thoughts,omitempty"` // bytes
	Prompt     int     `json:"prompt"`             // as reported; -1: not said
	Completion int     `json:"completion"`
	Cached     int     `json:"cached"`
	First      float64 `json:"first,omitempty"` // seconds to the first text, of a stream; else to the first byte
	Tries      int     `json:"tries,omitempty"`
	// log-probabilities of a greedy answer, against themselves
	Logs  *selfcheck.Logprobs `json:"logs,omitempty"`
	Order int                 `json:"order,omitempty"` // which request of this run
	Conn  string              `json:"conn,omitempty"`  // its connection, by the client's address
	Error string              `json:"error,omitempty"`
}

func (u unit) cost() Cost {
	var c Cost
	for _, s := range u.steps {
		c.Requests++
		c.Tokens += s.tokens
	}
	return c
}
