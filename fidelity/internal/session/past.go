package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/assay-suite/assay/fidelity/internal/recall"
	"github.com/assay-suite/assay/fidelity/internal/selfcheck"
	"github.com/assay-suite/assay/internal/endpoint"
	"github.com/assay-suite/assay/internal/needle"
	"github.com/assay-suite/assay/internal/suite"
)

// ErrOtherRun says that a run folder cannot be continued or compared: it was made with other settings.
var ErrOtherRun = errors.New("the run folder is of another run")

// runID is the ledger's line about a run as a whole.
const runID = "fidelity/run"

// Settings are what a run's answers depend on, beside the server's own state.
type Settings struct {
	Model    string        `json:"model"`
	Haystack string        `json:"haystack"` // name and hash
	Budget   recall.Budget `json:"budget"`
	Window   int           `json:"window"`
	Suite    string        `json:"suite"`
	Server   recall.Server `json:"server"`
	Arms     []string      `json:"arms,omitempty"` // of a comparison, the servers
}

// answer is the detail of a cell's ledger line: what a continued run, a comparison or a diagnosis needs of it.
type answer struct {
	Repeat    int                 `json:"repeat"` // of the plan, from 0
	Arm       string              `json:"arm,omitempty"`
	Class     string              `json:"class"`
	Wire      string              `json:"wire,omitempty"`
	Gate      string              `json:"gate,omitempty"` // gated family
	Hit       bool                `json:"hit"`
	Measured  bool                `json:"measured"`
	Formed    bool                `json:"formed,omitempty"`
	Prompt    string              `json:"prompt,omitempty"` // hash
	Tokens    *int                `json:"tokens,omitempty"`
	Cached    *int                `json:"cached,omitempty"`
	Nonced    bool                `json:"nonced,omitempty"`   // the prompt begins with the run's own words
	Before    int                 `json:"before,omitempty"`   // tokens before the needle
	FromEnd   int                 `json:"from-end,omitempty"` // tokens from it to the end of the prompt
	Expected  string              `json:"expected,omitempty"`
	Answer    string              `json:"answer,omitempty"`
	Reasoning string              `json:"reasoning,omitempty"`
	Finish    string              `json:"finish,omitempty"`
	Order     int                 `json:"order,omitempty"` // which question of its run
	Conn      string              `json:"conn,omitempty"`
	Positions []recall.Position   `json:"positions,omitempty"`
	Logs      *selfcheck.Logprobs `json:"logs,omitempty"` // of the answer, against themselves
	Stored    string              `json:"stored,omitempty"`
	Curl      string              `json:"curl,omitempty"`
	Error     string              `json:"error,omitempty"`
}

// longestKept bounds an answer in the ledger, in bytes; the whole of it is in requests/.
const longestKept = 4096

func detailOf(o recall.Observation, repeat int, arm string, redact func(string) string) (json.RawMessage, error) {
	a := answer{
		Repeat: repeat, Arm: arm, Class: o.Class, Wire: o.Wire, Gate: string(o.Cell.Gate), Hit: o.Hit, Measured: o.Measured,
		Formed: o.Formed, Nonced: o.Nonced, Before: o.Before, FromEnd: o.FromEnd,
		Prompt: o.PromptSHA, Expected: o.Expected, Answer: head(redact(o.Answer)), Reasoning: head(redact(o.Reasoning)),
		Finish: o.Finish, Order: o.Order, Conn: o.Conn,
		Positions: o.Positions, Stored: o.Stored, Curl: o.Curl,
	}
	if o.Logs.Tokens > 0 {
		a.Logs = &o.Logs
	}
	if o.Tokens.Known {
		a.Tokens = &o.Tokens.N
	}
	if o.Cached.Known {
		a.Cached = &o.Cached.N
	}
	if o.Err != nil {
		a.Error = redact(o.Err.Error())
	}
	return json.Marshal(a)
}

func head(s string) string {
	if len(s) > longestKept {
		return strings.ToValidUTF8(s[:longestKept], "")
	}
	return s
}

// Past is what a run folder holds.
type Past struct {
	Folder   string
	Settings Settings
	Answers  []PastAnswer
}

// PastAnswer is one cell's line.
type PastAnswer struct {
	Repeat int
	Arm    string
	recall.Observation
}

// ReadPast reads a run folder's ledger. It fails on a folder that holds no run of this job.
func ReadPast(folder string) (*Past, error) {
	results, err := suite.ReadLedgerFile(filepath.Join(folder, "results.jsonl"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%q is no run folder, it has no results.jsonl: %w", folder, ErrOtherRun)
	}
	if err != nil {
		return nil, err
	}
	p := &Past{Folder: folder}
	known := false
	for _, r := range results {
		switch {
		case len(r.Detail) == 0:
		case r.Case == runID:
			if err := json.Unmarshal(r.Detail, &p.Settings); err != nil {
				return nil, fmt.Errorf("%s: the settings of the run cannot be read: %w", folder, err)
			}
			known = true
		case known:
			var a answer
			if err := json.Unmarshal(r.Detail, &a); err != nil || a.Class == "" {
				continue // another part of the job
			}
			p.Answers = append(p.Answers, PastAnswer{a.Repeat, a.Arm, a.observation(r)})
		}
	}
	if !known {
		return nil, fmt.Errorf("%q holds no run of the fidelity job: %w", folder, ErrOtherRun)
	}
	return p, nil
}

func (a answer) observation(r suite.Result) recall.Observation {
	o := recall.Observation{
		Class: a.Class, Wire: a.Wire, Hit: a.Hit, Measured: a.Measured, Formed: a.Formed, Expected: a.Expected,
		Nonced: a.Nonced, Before: a.Before, FromEnd: a.FromEnd, Answer: a.Answer, Reasoning: a.Reasoning, Finish: a.Finish,
		Order: a.Order, Conn: a.Conn, Positions: a.Positions,
		PromptSHA: a.Prompt, Seconds: r.Seconds,
		Stored: a.Stored, Curl: a.Curl,
	}
	o.Cell.ID = r.Case
	if a.Logs != nil {
		o.Logs = *a.Logs
	}
	if a.Tokens != nil {
		o.Tokens = endpoint.Count{N: *a.Tokens, Known: true}
	}
	if a.Cached != nil {
		o.Cached = endpoint.Count{N: *a.Cached, Known: true}
	}
	if a.Error != "" {
		o.Err = errors.New(a.Error)
	}
	return o
}

// answered returns what a repeat of a plan need not ask again: the cells of every unit all of whose cells have an
// answer. A unit with a cell missing was in flight when the run ended, and is asked whole; so is what failed or was not
// measured for want of room, since the server may have it now.
func (p *Past) answered(plan []recall.Cell, repeat int) map[string]recall.Observation {
	if p == nil {
		return nil
	}
	have := map[string]recall.Observation{}
	for _, a := range p.Answers {
		if a.Repeat == repeat && a.Arm == "" && a.Class != string(needle.Failed) && a.Class != string(needle.Unmeasured) {
			have[a.Cell.ID] = a.Observation
		}
	}
	out := map[string]recall.Observation{}
	for _, g := range recall.Units(plan) {
		whole := true
		for _, i := range g {
			_, ok := have[plan[i].ID]
			whole = whole && ok
		}
		for _, i := range g {
			if o, ok := have[plan[i].ID]; ok && whole {
				o.Cell = plan[i]
				o.Prompt = p.prompt(o.Stored)
				out[plan[i].ID] = o
			}
		}
	}
	return out
}

// prompt reads a prompt back from the stored request, for the report; empty where that is gone.
func (p *Past) prompt(stored string) string {
	raw, err := os.ReadFile(filepath.Join(p.Folder, "requests", filepath.Base(stored)+".json"))
	var q struct {
		Messages []struct{ Content string } `json:"messages"`
	}
	if err != nil || json.Unmarshal(raw, &q) != nil || len(q.Messages) == 0 {
		return ""
	}
	return q.Messages[0].Content
}

// fits says why a run with other settings cannot go on from this one.
func (p *Past) fits(now Settings) error {
	was := p.Settings
	for _, d := range []struct{ what, was, now string }{
		{"model", was.Model, now.Model},
		{"haystack", was.Haystack, now.Haystack},
		{"budget", string(was.Budget), string(now.Budget)},
		{"context window", fmt.Sprint(was.Window), fmt.Sprint(now.Window)},
		{"assay's version", was.Suite, now.Suite},
	} {
		if d.was != d.now {
			return fmt.Errorf("%s cannot be continued, its %s was %q and is %q now: %w", p.Folder, d.what, d.was, d.now,
				ErrOtherRun)
		}
	}
	if was.Server.Hash != now.Server.Hash {
		return fmt.Errorf("%s cannot be continued, the server is another one now (%s): %w", p.Folder,
			strings.Join(was.Server.Differences(now.Server), "; "), ErrOtherRun)
	}
	return nil
}
