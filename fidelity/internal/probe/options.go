package probe

import (
	"errors"
	"fmt"

	"github.com/assay-suite/assay/fidelity/evidence"
	"github.com/assay-suite/assay/internal/endpoint"
	"github.com/assay-suite/assay/internal/needle"
)

// Budget says how much is sent.
type Budget string

// The budgets: minutes, half an hour, a night, on a server of some thousand prompt tokens a second.
const (
	Smoke    Budget = "smoke"
	Standard Budget = "standard"
	Full     Budget = "full"
)

// Known is what a user knows of the engine; zero fields are unknown and cost generality only.
type Known struct {
	TopK   int // selected entries of sparse attention
	Ratio  int // tokens an entry (compression)
	Window int // local window, tokens
	Chunk  int // prefill chunk, tokens
	Page   int // KV page, tokens
	Native int // context length before RoPE scaling, tokens
	Pool   int // KV pool, tokens
}

// Options configure New.
type Options struct {
	Client *endpoint.Client // with the model set
	Survey endpoint.Survey  // of that client; a zero one leaves out what needs a capability
	// a client with a connection of its own; nil leaves out the probe of sessions
	Fresh    func() (*endpoint.Client, error)
	Haystack *needle.Haystack // text around the needles
	// as in needle.Builder, for tokenizers that confuse words; nil: none
	Bucket   func(word string) int
	Budget   Budget // empty: standard
	Seed     uint64 // another seed is another set of questions
	Nonce    string // differs between runs; required, unless the ledger has one
	Parallel int    // cases at once, 1 to 4; 0 means 1
	// allows what may disturb other users: floods, aborts, soaks, more than four clients
	Disrupt bool
	// prompt and answer tokens after which no further case is begun; 0: none
	TokenCap int
	Known    Known                                        //
	Only     []string                                     // probes to run; nil: all
	Ledger   string                                       // file of answers, for resuming; empty: none
	Progress func(Progress)                               // called after each case, one call at a time; nil: none
	Keep     func(name string, x endpoint.Exchange) error // gets every exchange, one call at a time; nil: none
}

// Progress is where a run stands. A replayed case was answered by an earlier run.
type Progress struct {
	Probe, Case string
	Requests    int // sent by this run so far
	Tokens      int // of this run so far, as planned
	Replayed    bool
}

// maxParallel is how many cases are in flight at most: concurrency changes answers, and only the ladder asks about
// that.
const maxParallel = 4

func (o *Options) check() error {
	if o.Client == nil || o.Haystack == nil {
		return errors.New("probe: a client and a haystack are needed")
	}
	switch o.Budget {
	case "":
		o.Budget = Standard
	case Smoke, Standard, Full:
	default:
		return fmt.Errorf("probe: budget %q is unknown: use %q, %q or %q", string(o.Budget), Smoke, Standard, Full)
	}
	if o.Parallel < 0 || o.Parallel > maxParallel {
		return fmt.Errorf("probe: %d cases at once, want 1 to %d: more would measure the server's batching", o.Parallel,
			maxParallel)
	}
	o.Parallel = max(1, o.Parallel)
	known := map[string]bool{}
	for _, p := range evidence.Order() {
		known[p] = true
	}
	for _, p := range o.Only {
		if !known[p] {
			return fmt.Errorf("probe %q is unknown: use %q", p, evidence.Order())
		}
	}
	return nil
}
