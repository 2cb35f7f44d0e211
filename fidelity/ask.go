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
	"unicode"

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
	Arm      string // before the names of stored requests; empty where there is one arm
	Saw      func(Observation)

	builder needle.Builder
	prompts *sync.Map // by cell ID, shared by the arms of a comparison, so that all send the same bytes; nil: not kept
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
		return 0, errors.New("the server neither tokenizes nor reports prompt_tokens: prompts of a known length cannot be " +
			"made")
	}
	return ans.Usage.Prompt.N, nil
}

// Run asks every cell of a plan, as Ask does.
func (a *Asker) Run(ctx context.Context, p Plan) ([]Observation, error) { return a.Ask(ctx, p.Cells) }

// Ask asks cells and returns the observations in their order. Cells of one prompt are asked one after the other; those
// of one burst at once, after all others. An unreachable endpoint or a done context ends the run with an error; the
// cells that were not asked are then unmeasured.
func (a *Asker) Ask(ctx context.Context, cells []Cell) ([]Observation, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	out := make([]Observation, len(cells))
	var mu sync.Mutex
	save := func(i int, o Observation) {
		if endpoint.IsUnreachable(o.Err) {
			cancel(o.Err)
		}
		out[i] = o
		if a.Saw != nil {
			mu.Lock()
			defer mu.Unlock()
			a.Saw(o)
		}
	}
	groups := make(chan []int)
	var wg sync.WaitGroup
	for range max(1, a.Parallel) {
		wg.Go(func() {
			for group := range groups {
				for _, i := range group {
					save(i, a.put(ctx, a.build(ctx, cells[i])))
				}
			}
		})
	}
	var bursts [][]int
	for _, g := range groupCells(cells) {
		if cells[g[0]].Burst > 0 {
			bursts = append(bursts, g)
			continue
		}
		groups <- g
	}
	close(groups)
	wg.Wait()
	for _, g := range bursts {
		a.burst(ctx, cells, g, save)
	}
	return out, context.Cause(ctx)
}

// burst builds the prompts of some cells, which may take counting, and then sends them all at once.
func (a *Asker) burst(ctx context.Context, cells []Cell, group []int, save func(int, Observation)) {
	questions := make([]question, len(group))
	for k, i := range group {
		questions[k] = a.build(ctx, cells[i])
	}
	var wg sync.WaitGroup
	for k, i := range group {
		wg.Go(func() { save(i, a.put(ctx, questions[k])) })
	}
	wg.Wait()
}

// unit is what is asked, resumed and repeated as a whole: a prompt with all its cells, or a burst.
func (c Cell) unit() string {
	if c.Burst > 0 {
		return fmt.Sprintf("burst %d", c.Burst)
	}
	return c.Prompt
}

// groupCells returns the indices of cells of the same unit, in the order of the first.
func groupCells(cells []Cell) [][]int {
	at := map[string]int{}
	var out [][]int
	for i, c := range cells {
		g, ok := at[c.unit()]
		if !ok {
			g = len(out)
			at[c.unit()] = g
			out = append(out, nil)
		}
		out[g] = append(out[g], i)
	}
	return out
}

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
		o.Class, o.Err = string(needle.Unmeasured), context.Cause(ctx)
		return q
	}
	prompt, err := a.prompt(ctx, c)
	if err != nil {
		o.Class, o.Err = string(needle.Failed), err
		if o.Wire = string(endpoint.ClassOf(endpoint.Answer{}, err)); withoutRoom(o.Wire) {
			o.Class = string(needle.Unmeasured)
		}
		return q
	}
	o.Prompt, o.PromptSHA, o.Expected = prompt.Text, promptHash(c, prompt.Text), prompt.Truth.Code
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

func (a *Asker) put(ctx context.Context, q question) Observation {
	o := q.o
	if !q.ready {
		return o
	}
	began := time.Now()
	budget := answerBudget
	class := a.send(ctx, &o, q.truth, budget)
	if class == needle.Budget && ctx.Err() == nil {
		budget *= retryFactor
		if w := a.Flight.Window; w.Known && o.Tokens.Known {
			budget = max(answerBudget, min(budget, w.N-o.Tokens.N)) // servers count the budget against the window
		}
		class = a.send(ctx, &o, q.truth, budget)
	}
	if withoutRoom(o.Wire) {
		class = needle.Unmeasured
	}
	o.Class, o.Hit, o.Measured = string(class), class.Recalled(), class.Measured()
	if o.Class == string(needle.Budget) {
		o.Err = fmt.Errorf("all %d tokens went into thoughts and none into an answer", budget)
	}
	o.Seconds = time.Since(began).Seconds()
	return o
}

// withoutRoom reports whether the server was not there for a question, which says nothing about recall and is no
// failure of the engine. (An unreachable one ends the run besides.)
func withoutRoom(wire string) bool {
	switch endpoint.Class(wire) {
	case endpoint.Shed, endpoint.TooLong, endpoint.Cancelled, endpoint.Unreached:
		return true
	}
	return false
}

func (a *Asker) send(ctx context.Context, o *Observation, truth needle.Truth, budget int) needle.Class {
	req := endpoint.ChatRequest{
		Messages: []endpoint.Message{{Role: "user", Content: o.Prompt}},
		Sampling: endpoint.Sampling{MaxTokens: budget, TopLogprobs: a.Flight.Logprobs(), Extra: a.extra(o.Cell)},
	}
	ans, err := a.Client.Chat(ctx, req)
	o.Err, o.Answer, o.Reasoning, o.Finish = err, ans.Text, ans.Reasoning, ans.Finish
	o.Wire = string(endpoint.ClassOf(ans, err))
	o.Tokens, o.Cached = ans.Usage.Prompt, ans.Usage.Cached
	if a.Store != "" && len(ans.Exchange.Request) > 0 {
		if a.CurlRoot != "" {
			ans.Exchange.URL = a.CurlRoot + strings.TrimPrefix(ans.Exchange.URL, a.Client.Root())
		}
		name, serr := ans.Exchange.Save(a.Store, a.Arm+strings.TrimPrefix(o.Cell.ID, "fidelity/"))
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

// formed reports whether an answer is what was asked for, right or wrong: at least as many digits as the code has, or
// digits and nothing else.
func formed(text, code string) bool {
	digits, others := 0, 0
	for _, r := range needle.Visible(text) {
		switch {
		case r >= '0' && r <= '9':
			digits++
		case unicode.IsLetter(r):
			others++
		}
	}
	return digits >= len(code) || digits > 0 && others == 0
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
