package scripted

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// The controls: engines without a fault that a suite must not flag.
const (
	Healthy        = "healthy"
	WeakModel      = "weak-model"      // misses 20 % of facts, at any length and in any arm
	SlowPrefill    = "slow-prefill"    // sends nothing, then comment lines, while it prefills
	Strict400      = "strict-400"      // refuses unknown fields and assistant turns without content
	BenignNoise    = "benign-noise"    // FK30
	ThinkingBudget = "thinking-budget" // FK41
)

// Controls lists the controls with what they are.
func Controls() map[string]string {
	return map[string]string{
		Healthy: "everything is right", WeakModel: "a model that misses one fact in five at any length",
		SlowPrefill: "prefill takes ten times as long, with comment lines meanwhile",
		Strict400:   "unknown fields and empty assistant turns are refused",
		BenignNoise: "FK30: wording differs under concurrency", ThinkingBudget: "FK41: long reasoning before every answer",
	}
}

// Options say what is served.
type Options struct {
	Faults  []string          // slugs or ids of Kinds, each at most once; any number
	Params  map[string]Params // by slug: values instead of drawn ones
	Control string            // of Controls; empty is healthy
	Seed    uint64
	Model   string // name; empty is "scripted". "name:adapter" is served too
	Window  int    // tokens of prompt and answer; 0 is 32768
	Pool    int    // tokens of the prefix cache's device tier; 0 is 65536, FK22 draws its own
	// Pace multiplies the times of an imagined engine (50 us a computed prompt token, 5 ms a generated one): 0 waits
	// for nothing. In a testing/synctest bubble 1 costs nothing.
	Pace float64
	// Gather is how long a request waits for others to join its batch, measured from the last arrival; 0 is 2 ms.
	// Waited only when a fault or control depends on concurrency.
	Gather time.Duration
}

// Engine is the scripted engine. It is safe for concurrent use.
type Engine struct {
	o      Options
	faults []*armed
	mux    *http.ServeMux
	gather bool
	strict bool

	mu      sync.Mutex
	cache   *prefixCache
	active  map[*call]struct{}
	arrived time.Time
	served  int
	comings map[uint64]int
	firsts  map[uint64]answer
	words   []string       // by id
	ids     map[string]int // of words
	owners  map[uint64]owner
	bad     map[uint64]bool
	last    [2]struct {
		key uint64
		out answer
	}
	aborted []string
	shown   int // times that the first aborted text was shown
	conns   uint64
}

// New builds an engine. An unknown fault, parameter or control is an error, so is a fault named twice.
func New(o Options) (*Engine, error) {
	if o.Model == "" {
		o.Model = "scripted"
	}
	if o.Window == 0 {
		o.Window = 32768
	}
	if o.Gather == 0 {
		o.Gather = 2 * time.Millisecond
	}
	if o.Control == "" {
		o.Control = Healthy
	}
	if _, ok := Controls()[o.Control]; !ok {
		return nil, fmt.Errorf("scripted control %q is unknown: use %s, %s, %s, %s, %s or %s", o.Control, Healthy, WeakModel,
			SlowPrefill, Strict400, BenignNoise, ThinkingBudget)
	}
	if o.Window < 64 || o.Pool < 0 || o.Pace < 0 || o.Gather < 0 {
		return nil, fmt.Errorf("scripted engine: window %d must be at least 64, pool %d, pace %v and gather %v not negative",
			o.Window, o.Pool, o.Pace, o.Gather)
	}
	names := slices.Clone(o.Faults)
	switch o.Control {
	case BenignNoise, ThinkingBudget:
		names = append(names, o.Control)
	}
	e := &Engine{o: o, ids: map[string]int{}, strict: o.Control == Strict400, active: map[*call]struct{}{}}
	if err := e.arm(names); err != nil {
		return nil, err
	}
	pool, host := o.Pool, false
	if pool == 0 {
		pool = 65536
	}
	for _, a := range e.faults {
		if n := a.par["pool"]; a.ID == "FK22" {
			host = true
			if o.Pool == 0 {
				pool = n
			}
		}
	}
	e.cache = newPrefixCache(pool, host)
	e.reset()
	e.routes()
	return e, nil
}

// concurrent lists the conditions for which requests must be seen together.
var concurrent = wordSet("active band batch unequal mixed tools-or-load output-or-load")

func (e *Engine) arm(names []string) error {
	armedBy := map[string]bool{}
	for _, name := range names {
		f, err := lookup(name)
		if err != nil {
			return err
		}
		if armedBy[f.ID] {
			return fmt.Errorf("scripted fault %q is named twice: name it once", name)
		}
		armedBy[f.ID] = true
		a := &armed{fault: f, par: f.draw(e.o.Seed), seed: mix(e.o.Seed ^ hash64(f.ID))}
		for key, v := range e.o.Params[f.Slug] {
			if _, ok := a.par[key]; !ok {
				return fmt.Errorf("scripted fault %q has no parameter %q: %s", f.Slug, key, a.describe())
			}
			a.par[key] = v
		}
		for _, p := range f.Params {
			v := a.par[p.Name]
			// Sizes and moduli divide: only shares, counts of BOS and variants may be 0.
			zero := p.Words != nil || p.Name == "percent" || p.Name == "bos"
			if v < 0 || v == 0 && !zero || p.Words != nil && v >= len(p.Words) {
				return fmt.Errorf("scripted fault %q: parameter %q is %d, out of range", f.Slug, p.Name, v)
			}
		}
		e.faults = append(e.faults, a)
		for _, k := range f.when {
			e.gather = e.gather || concurrent[k.what]
		}
		e.gather = e.gather || f.ID == "FK28" || f.ID == "FK04"
	}
	for slug := range e.o.Params {
		if !slices.ContainsFunc(e.faults, func(a *armed) bool { return a.Slug == slug }) {
			return fmt.Errorf("scripted parameters are given for %q, which is not among the faults", slug)
		}
	}
	return nil
}

// Drawn tells the faults with the parameters that they have here, a line each.
func (e *Engine) Drawn() string {
	var out []string
	for _, a := range e.faults {
		out = append(out, a.describe())
	}
	return strings.Join(out, "\n")
}

// Params returns the parameters of an armed fault, nil when it is not armed.
func (e *Engine) Params(slug string) Params {
	for _, a := range e.faults {
		if a.Slug == slug {
			return a.par
		}
	}
	return nil
}

// reset is what a restart or a flush forgets.
func (e *Engine) reset() {
	e.cache.flush()
	e.comings, e.firsts = map[uint64]int{}, map[uint64]answer{}
	e.owners, e.bad = map[uint64]owner{}, map[uint64]bool{}
}

// maxMemory bounds the engine's memory of single prompts.
const maxMemory = 1 << 16

// enter registers a request and returns its leave.
func (e *Engine) enter(c *call) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.served++
	c.nth = e.served
	if len(e.comings) > maxMemory {
		e.comings = map[uint64]int{}
	}
	c.occ = e.comings[c.key]
	e.comings[c.key]++
	if e.gather {
		for p := range e.active {
			c.peers = append(c.peers, p)
			if !p.frozen {
				p.peers = append(p.peers, c)
			}
		}
		e.arrived = time.Now()
	}
	e.active[c] = struct{}{}
}

func (e *Engine) leave(c *call) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.active, c)
}

func (e *Engine) others(c *call) []*call {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(c.peers)
}

// join waits until nobody has arrived for the gather time, 20 times that at most, and freezes who was there.
func (e *Engine) join(ctx context.Context, c *call) error {
	if !e.gather {
		return nil
	}
	for range 20 {
		e.mu.Lock()
		left := e.o.Gather - time.Since(e.arrived)
		e.mu.Unlock()
		if left <= 0 {
			break
		}
		if err := pause(ctx, left); err != nil {
			return err
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	c.frozen = true
	slices.SortFunc(c.peers, func(a, b *call) int { // arrival is a race, content is not
		if a.key != b.key {
			if a.key < b.key {
				return -1
			}
			return 1
		}
		return a.occ - b.occ
	})
	return nil
}

func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return errors.Join(errGone, ctx.Err())
	}
}

// errGone says that the client left.
var errGone = errors.New("the client has gone away")
