package fidelity

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/assay-suite/assay/internal/endpoint"
	"github.com/assay-suite/assay/internal/nano"
	"github.com/assay-suite/assay/internal/needle"
)

// retryFactor multiplies the budget of the one retry after an answer that was all thoughts.
const retryFactor = 4

// Asker sends the cells of a plan to one model and classes the answers.
type Asker struct {
	Client   *endpoint.Client // with the model set
	Flight   endpoint.Preflight
	Haystack *needle.Haystack
	RunNonce string // differs between runs: salts, and the first words of cache prompts where salts do not work
	Parallel int    // cells at once
	Store    string // folder for the stored requests; empty: not stored
	Shown    string // the folder as curl lines should name it
	CurlRoot string // base URL for curl lines; empty: the client's
	Saw      func(Observation)

	builder needle.Builder
}

// Prepare measures tokens per word once, so that prompts do not depend on the order of asking.
func (a *Asker) Prepare(ctx context.Context) error {
	a.builder = needle.Builder{Haystack: a.Haystack, Count: a.count}
	if isNano(a.Flight.Model) {
		a.builder.Bucket = nano.Bucket
	}
	ratio, err := a.builder.Calibrate(ctx, 300)
	if err != nil {
		return err
	}
	a.builder.TokensPerUnit = ratio
	return nil
}

// isNano tells assay's own word-level model, whose vocabulary confuses some words and which prints
// unknown ones as numbers.
func isNano(model string) bool { return strings.HasPrefix(Slug(model), "nano-v4") }

// count is the server's own count of a user message: by its tokenize route, else by the usage of a
// request for one token. The builder never shows it the prompt that will be measured.
func (a *Asker) count(ctx context.Context, text string) (int, error) {
	msgs := []endpoint.Message{{Role: "user", Content: text}}
	if a.Flight.State("tokenize") == endpoint.Supported {
		t, err := a.Client.TokenizeChat(ctx, msgs)
		if err == nil && !t.Supported {
			err = errors.New("the tokenize route of the pre-flight is gone")
		}
		return t.Count, err
	}
	ans, err := a.Client.Chat(ctx, endpoint.ChatRequest{Messages: msgs, Sampling: endpoint.Sampling{MaxTokens: 1}})
	if err != nil {
		return 0, err
	}
	if !ans.Usage.Prompt.Known {
		return 0, errors.New("the server neither tokenizes nor reports prompt_tokens: prompts of a known length cannot be made")
	}
	return ans.Usage.Prompt.N, nil
}

// Run asks every cell and returns the observations in the plan's order. Cells of one prompt are asked
// one after the other. An unreachable endpoint or a done context ends the run with an error; the
// cells that were not asked are then unmeasured.
func (a *Asker) Run(ctx context.Context, p Plan) ([]Observation, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	out := make([]Observation, len(p.Cells))
	groups := make(chan []int)
	var wg sync.WaitGroup
	var mu sync.Mutex
	for range max(1, a.Parallel) {
		wg.Go(func() {
			for group := range groups {
				for _, i := range group {
					o := a.ask(ctx, p.Cells[i])
					if endpoint.IsUnreachable(o.Err) {
						cancel(o.Err)
					}
					out[i] = o
					if a.Saw != nil {
						mu.Lock()
						a.Saw(o)
						mu.Unlock()
					}
				}
			}
		})
	}
	for _, g := range groupByPrompt(p.Cells) {
		groups <- g
	}
	close(groups)
	wg.Wait()
	return out, context.Cause(ctx)
}

// groupByPrompt returns the indices of cells with the same prompt, in the order of the first.
func groupByPrompt(cells []Cell) [][]int {
	at := map[string]int{}
	var out [][]int
	for i, c := range cells {
		g, ok := at[c.Prompt]
		if !ok {
			g = len(out)
			at[c.Prompt] = g
			out = append(out, nil)
		}
		out[g] = append(out[g], i)
	}
	return out
}

func (a *Asker) ask(ctx context.Context, c Cell) Observation {
	o := Observation{Cell: c}
	if ctx.Err() != nil {
		o.Class, o.Err = string(needle.Unmeasured), context.Cause(ctx)
		return o
	}
	began := time.Now()
	prompt, err := a.builder.Build(ctx, a.spec(c))
	if err != nil {
		o.Class, o.Err = string(needle.Failed), err
		return o
	}
	sum := sha256.Sum256([]byte(prompt.Text))
	o.Prompt, o.PromptSHA, o.Expected = prompt.Text, hex.EncodeToString(sum[:8]), prompt.Truth.Code
	if isNano(a.Flight.Model) {
		prompt.Truth.Haystack = nano.Decode(nano.Encode(prompt.Truth.Haystack))
	}
	budget := answerBudget
	class := a.send(ctx, &o, prompt.Truth, budget)
	if class == needle.Budget && ctx.Err() == nil {
		budget *= retryFactor
		if w := a.Flight.Window; w.Known && o.Tokens.Known {
			budget = max(answerBudget, min(budget, w.N-o.Tokens.N)) // servers count the budget against the window
		}
		class = a.send(ctx, &o, prompt.Truth, budget)
	}
	o.Class, o.Hit, o.Measured = string(class), class.Recalled(), class.Measured()
	if o.Class == string(needle.Budget) {
		o.Err = fmt.Errorf("all %d tokens went into thoughts and none into an answer", budget)
	}
	o.Seconds = time.Since(began).Seconds()
	return o
}

func (a *Asker) send(ctx context.Context, o *Observation, truth needle.Truth, budget int) needle.Class {
	req := endpoint.ChatRequest{
		Messages: []endpoint.Message{{Role: "user", Content: o.Prompt}},
		Sampling: endpoint.Sampling{MaxTokens: budget, TopLogprobs: a.Flight.Logprobs(), Extra: a.extra(o.Cell)},
	}
	ans, err := a.Client.Chat(ctx, req)
	o.Err, o.Answer, o.Reasoning, o.Finish = err, ans.Text, ans.Reasoning, ans.Finish
	o.Tokens, o.Cached = ans.Usage.Prompt, ans.Usage.Cached
	if a.Store != "" && len(ans.Exchange.Request) > 0 {
		if a.CurlRoot != "" {
			ans.Exchange.URL = a.CurlRoot + strings.TrimPrefix(ans.Exchange.URL, a.Client.Root())
		}
		name, serr := ans.Exchange.Save(a.Store, strings.TrimPrefix(o.Cell.ID, "fidelity/"))
		o.Stored, o.Curl = name, ans.Exchange.Curl(path.Join(a.Shown, name+".json"))
		o.Err = errors.Join(o.Err, serr)
	}
	if err == nil {
		o.Positions = positions(ans.Tokens, truth.Code)
		o.Formed = formed(ans.Text, truth.Code)
	}
	return needle.Classify(needle.Answer{Text: ans.Text, Reasoning: ans.Reasoning, Finish: ans.Finish, Err: err}, truth)
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
	if c.Family == Cache && !a.salted() {
		s.Nonce = a.RunNonce
	}
	return s
}

// formed reports whether an answer has at least as many digits as the code: it understood the question.
func formed(text, code string) bool {
	n := 0
	for _, r := range needle.Visible(text) {
		if r >= '0' && r <= '9' {
			n++
		}
	}
	return n >= len(code)
}

// positions takes the margins of the code's digits up to the first that went wrong: what follows a
// wrong token has another context than the golden's.
func positions(tokens []endpoint.Token, code string) []Position {
	steps := make([]needle.Step, len(tokens))
	for i, t := range tokens {
		steps[i].Alt = needle.Alt{Text: t.Text, Logprob: t.Logprob}
		for _, alt := range t.Top {
			steps[i].Top = append(steps[i].Top, needle.Alt{Text: alt.Token, Logprob: alt.Logprob})
		}
	}
	var out []Position
	last := -1
	for i, m := range needle.Margins(steps, code) {
		if m.Bound == needle.Absent || m.OffPath {
			break
		}
		p := Position{Token: code[i : i+1], Margin: m.Nats, AtMost: m.Bound == needle.AtMost}
		if m.Step != last { // a token of several digits has one list
			for _, alt := range tokens[m.Step].Top {
				p.Top = append(p.Top, alt.Logprob)
			}
			sort.Sort(sort.Reverse(sort.Float64Slice(p.Top)))
			last = m.Step
		}
		out = append(out, p)
	}
	return out
}
