package recall

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/assay-suite/assay/internal/endpoint"
	"github.com/assay-suite/assay/internal/nano"
	"github.com/assay-suite/assay/internal/needle"
)

// question is a cell with its prompt.
type question struct {
	o     Observation
	truth needle.Truth
	ready bool // false: o says why there is no prompt
}

func (a *Asker) build(ctx context.Context, c Cell) question {
	q := question{o: Observation{Cell: c}}
	o := &q.o
	if ctx.Err() != nil {
		o.Class, o.Err, o.Wire = string(needle.Unmeasured), context.Cause(ctx), string(endpoint.Cancelled)
		return q
	}
	prompt, err := a.prompt(ctx, c)
	if err != nil {
		o.Class, o.Err, o.Wire = string(needle.Failed), err, string(endpoint.ClassOf(endpoint.Answer{}, err))
		if ctx.Err() != nil { // the run was ended while a prompt's tokens were counted
			o.Wire = string(endpoint.Cancelled)
		}
		if withoutRoom(o.Wire) {
			o.Class = string(needle.Unmeasured)
		}
		return q
	}
	o.Prompt, o.PromptSHA, o.Expected = prompt.Text, promptHash(c, prompt.Text), prompt.Truth.Code
	o.Nonced = a.spec(c).Nonce != ""
	if len(prompt.Copies) > 0 {
		o.Before, o.FromEnd = prompt.Copies[0].Before, prompt.Copies[0].FromEnd
	}
	if isNano(a.Flight.Model) {
		prompt.Truth.Haystack = nano.Decode(nano.Encode(prompt.Truth.Haystack))
	}
	q.truth, q.ready = prompt.Truth, true
	return q
}

func (a *Asker) prompt(ctx context.Context, c Cell) (needle.Prompt, error) {
	spec := a.spec(c)
	if a.prompts == nil || spec.Nonce != "" {
		return a.builder.Build(ctx, spec)
	}
	if kept, ok := a.prompts.Load(c.ID); ok {
		if p, ok := kept.(needle.Prompt); ok {
			return p, nil
		}
	}
	p, err := a.builder.Build(ctx, spec)
	if err == nil {
		a.prompts.Store(c.ID, p)
	}
	return p, err
}

// promptHash tells whether two prompts are the same question: the hash of their bytes, 16 hex digits. The first
// sentence of a cache prompt is left out, since it differs between runs where a server takes no salt.
func promptHash(c Cell, text string) string {
	if _, rest, ok := strings.Cut(text, "."); ok && c.Family == Cache {
		text = rest
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// extra keeps cells from hitting each other's cached prefixes, where the server takes a salt.
func (a *Asker) extra(c Cell) map[string]any {
	if !a.salted() {
		return nil
	}
	return map[string]any{"cache_salt": a.RunNonce + "/" + c.Prompt}
}

func (a *Asker) salted() bool { return a.Flight.State("cache-salt") == endpoint.Supported }

// spec is the prompt of a cell. Grid and window prompts are the same bytes in every run, so that margins
// pair with a golden. Cache prompts must be cold the first time: by salt, else by a nonce of the run.
func (a *Asker) spec(c Cell) needle.Spec {
	s := needle.Spec{Case: c.Prompt, Length: c.Tokens, Depth: c.Depth}
	switch c.Arm {
	case Tail, Short:
		s.Placement = needle.Tail
	case Inside:
		s.Placement, s.Window = needle.JustInside, assumedWindow
	case Start:
		s.Placement = needle.Start
	case Repeated:
		s.Placement, s.Repeat = needle.Spread, c.Copies
	}
	if c.Family == Cache && !a.salted() || c.Family == PaceCell {
		s.Nonce = a.RunNonce
	}
	return s
}
