package engine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Options choose an engine. Two engines of equal options answer alike.
type Options struct {
	Seed  uint64
	Bugs  []string // slugs of Catalogue
	Sound string   // slug of Sounds; empty: a sound server as drawn
	// Pace is the share of a real engine's times (50 us a prompt token, 5 ms a step) that requests take; 0 waits for
	// nothing.
	Pace    float64
	Context int // longest prompt plus answer in tokens, 0 for the drawn one

	tune  func(p *Params) // tests change parameters last
	sound bool            // tests: prepare for the bugs and plant none, the sound twin
}

// Engine is one server. It is an http.Handler; Transport gives an http.RoundTripper.
type Engine struct {
	opts   Options
	p      Params
	m      *machine // of the front: template, tokenizer, parsers
	ranks  []*rank
	mux    *http.ServeMux
	notes  []string
	turn   atomic.Uint64 // requests routed
	asked  atomic.Uint64 // HTTP requests to the model
	sticky sync.Map      // connection to rank

	mu       sync.Mutex
	leftover string // system text of the last request, where the template keeps it
	shared   bool   // ranks share one index of prefixes, a bug
}

// New returns an engine, or an error that names the option and what is known.
func New(o Options) (*Engine, error) {
	r := rand.New(rand.NewPCG(o.Seed, 0x5eed))
	p := Draw(r)
	e := &Engine{opts: o, mux: http.NewServeMux()}
	if o.Sound != "" {
		s, ok := soundBySlug(o.Sound)
		if !ok {
			return nil, fmt.Errorf("sound server %q is unknown: use one of %s", o.Sound, strings.Join(soundSlugs(), ", "))
		}
		s.Change(&p, r)
	}
	t := traits{}
	if f := soundTraits[o.Sound]; f != nil {
		f(&t, r)
	}
	var bugs []Bug
	for _, slug := range o.Bugs {
		b, ok := Lookup(slug)
		if !ok {
			return nil, fmt.Errorf("bug %q is unknown: nanoserve -h lists the bugs of the mechanism engine", slug)
		}
		bugs = append(bugs, b)
	}
	for _, b := range bugs {
		if b.prepare != nil {
			b.prepare(&p, r)
		}
		if b.equip != nil {
			b.equip(&t, r)
		}
	}
	if o.Context > 0 {
		p.Context = o.Context
	}
	if o.tune != nil {
		o.tune(&p)
	}
	p.settle()
	e.p = p
	if o.sound {
		bugs = nil
	}
	m, err := newMachine(p, mix(o.Seed, 0x0de1))
	if err != nil {
		return nil, err
	}
	m.traits = t
	e.m = m
	one := m // the machine of the rank that some bugs sit in
	for _, b := range bugs {
		pl := plant{e: e, m: m, r: rand.New(rand.NewPCG(o.Seed, hashString(b.Slug)))}
		if b.oneRank {
			if one == m {
				c := *m
				one = &c
			}
			pl.m = one
		}
		e.notes = append(e.notes, b.Slug+": "+b.apply(&pl))
	}
	bad := int(mix(o.Seed, 0xbad) % uint64(p.Ranks))
	for i := range p.Ranks {
		mm := m
		if i == bad {
			mm = one
		}
		e.ranks = append(e.ranks, newRank(mm))
	}
	if e.shared {
		for _, rk := range e.ranks[1:] {
			rk.cache, rk.mu = e.ranks[0].cache, e.ranks[0].mu
		}
	}
	e.routes()
	return e, nil
}

// settle makes parameters agree after changes.
func (p *Params) settle() {
	p.Page, p.Ranks = max(1, p.Page), max(1, p.Ranks)
	p.Pool = max(p.Pool, p.Context+p.Context/8+2*p.Page) / p.Page * p.Page
	if p.Page == 1 {
		p.Tier = 0
	}
}

// Params returns what was drawn.
func (e *Engine) Params() Params { return e.p }

// Notes says for every bug what was drawn of it.
func (e *Engine) Notes() []string { return e.notes }

// route chooses a rank.
func (e *Engine) route(conn string, ids []int32) *rank {
	n := uint64(len(e.ranks))
	k := e.turn.Add(1) - 1
	switch e.p.Route {
	case "prefix":
		h := uint64(1)
		for _, t := range ids[:min(len(ids), 64)] {
			h = mix(h, uint64(t))
		}
		k = h
	case "sticky":
		got, _ := e.sticky.LoadOrStore(conn, k)
		k, _ = got.(uint64)
	}
	return e.ranks[k%n]
}

// drive runs a request to its end. on, where not nil, is given every new token outside of the rank's lock.
func (e *Engine) drive(ctx context.Context, rk *rank, req *request, on func(fresh []emitted) error) error {
	rk.mu.Lock()
	rk.submit(req)
	rk.mu.Unlock()
	given := 0
	for {
		rk.mu.Lock()
		var wait time.Duration
		if !req.done {
			if wait = rk.wait(); wait == 0 {
				before := rk.busy
				rk.step()
				rk.spend(rk.busy-before, e.opts.Pace*e.p.Slow)
			}
		}
		done, err, out := req.done, req.err, req.out
		rk.mu.Unlock()
		if on != nil && len(out) > given {
			if err := on(out[given:]); err != nil {
				e.abort(rk, req)
				return err
			}
			given = len(out)
		}
		if done {
			return err
		}
		if err := ctx.Err(); err != nil {
			e.abort(rk, req)
			return err
		}
		if wait > 0 {
			pause(ctx, wait)
		} else {
			runtime.Gosched()
		}
	}
}

// abort takes a request whose client has gone out of the rank.
func (e *Engine) abort(rk *rank, req *request) {
	rk.mu.Lock()
	defer rk.mu.Unlock()
	if req.done {
		return
	}
	req.done = true
	for i, w := range rk.waiting {
		if w == req {
			rk.waiting = append(rk.waiting[:i:i], rk.waiting[i+1:]...)
			return
		}
	}
	if req.slot >= 0 {
		slot := req.slot
		if rk.m.bat.writer {
			rk.leave(req)
		}
		rk.giveUp(req)
		rk.batch.remove(rk.m, slot)
	}
}

// wait is how long the last step still runs.
func (rk *rank) wait() time.Duration { return max(0, time.Until(rk.until)) }

// shortest pause that a timer is worth.
const shortest = 200 * time.Microsecond

// spend lets a step take its share of time; small shares are saved up.
func (rk *rank) spend(seconds, share float64) {
	rk.debt += time.Duration(seconds * share * float64(time.Second))
	if rk.debt >= shortest {
		rk.until, rk.debt = time.Now().Add(rk.debt), 0
	}
}

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
