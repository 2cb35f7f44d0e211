package recall

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/assay-suite/assay/fidelity/internal/ask"
	"github.com/assay-suite/assay/internal/endpoint"
	"github.com/assay-suite/assay/internal/nano"
	"github.com/assay-suite/assay/internal/needle"
)

// Asker sends the cells of a plan to one model and classes the answers.
type Asker struct {
	ask.Asker
	Haystack *needle.Haystack
	RunNonce string // differs between runs: salts, and the first words of cache prompts where salts do not work
	Parallel int    // cells at once
	Store    string // folder for the stored requests; empty: not stored
	Shown    string // the folder as curl lines should name it
	CurlRoot string // base URL for curl lines; empty: the client's
	Arm      string // before the names of stored requests; empty where there is one arm
	Saw      func(Observation)

	sent    atomic.Int64
	builder needle.Builder
	prompts *sync.Map // by cell ID, shared by the arms of a comparison, so that all send the same bytes; nil: not kept
}

// Prepare measures tokens per word once, so that prompts do not depend on the order of asking. The builder never shows
// the server the prompt that will be measured.
func (a *Asker) Prepare(ctx context.Context) error {
	a.builder = needle.Builder{Haystack: a.Haystack, Count: a.Count}
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

// SharePrompts makes the others send the very bytes that a sends, whatever their servers count.
func (a *Asker) SharePrompts(others ...*Asker) {
	a.prompts = &sync.Map{}
	for _, o := range others {
		o.builder, o.prompts = a.builder, a.prompts
	}
}

// isNano tells assay's own word-level models, whose vocabulary confuses some words and which print unknown ones as
// numbers.
func isNano(model string) bool {
	slug := Key(model)
	return strings.HasPrefix(slug, "nano-v4") || strings.HasPrefix(slug, "nano-flash") ||
		strings.HasPrefix(slug, "nano-llama")
}

// Run asks every cell of a plan, as Ask does.
func (a *Asker) Run(ctx context.Context, p Plan) ([]Observation, error) { return a.Ask(ctx, p.Cells) }

// Ask asks cells and returns the observations in their order. Cells of one prompt are asked one after the other; those
// of one burst at once, after all others. An unreachable endpoint or a done context ends the run with an error; the
// cells that were not asked are then unmeasured.
func (a *Asker) Ask(ctx context.Context, cells []Cell) ([]Observation, error) {
	out := make([]Observation, len(cells))
	for i, c := range cells {
		out[i] = Observation{Cell: c, Class: string(needle.Unmeasured), Wire: string(endpoint.Cancelled)}
	}
	var mu sync.Mutex
	save := func(i int, o Observation) error {
		out[i] = o
		if a.Saw != nil {
			mu.Lock()
			defer mu.Unlock()
			a.Saw(o)
		}
		if endpoint.IsUnreachable(o.Err) {
			return o.Err
		}
		return nil
	}
	units := Units(cells)
	err := ask.Each(ctx, a.Parallel, len(units), func(n int) bool { return cells[units[n][0]].Burst > 0 },
		func(ctx context.Context, n int) error {
			if cells[units[n][0]].Burst > 0 {
				return a.burst(ctx, cells, units[n], save)
			}
			for _, i := range units[n] {
				if err := save(i, a.put(ctx, a.build(ctx, cells[i]))); err != nil {
					return err
				}
			}
			return nil
		})
	return out, err
}

// burst builds the prompts of some cells, which may take counting, and then sends them all at once.
func (a *Asker) burst(ctx context.Context, cells []Cell, group []int, save func(int, Observation) error) error {
	questions := make([]question, len(group))
	for k, i := range group {
		questions[k] = a.build(ctx, cells[i])
	}
	errs := make([]error, len(group))
	var wg sync.WaitGroup
	for k, i := range group {
		wg.Go(func() { errs[k] = save(i, a.put(ctx, questions[k])) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// unit is what is asked, resumed and repeated as a whole: a prompt with all its cells, or a burst.
func (c Cell) unit() string {
	if c.Burst > 0 {
		return fmt.Sprintf("burst %d", c.Burst)
	}
	return c.Prompt
}

// Units returns the indices of cells that are asked together, in the order of the first of each unit, bursts last.
func Units(cells []Cell) [][]int {
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
	slices.SortStableFunc(out, func(a, b []int) int {
		return cmp.Compare(min(cells[a[0]].Burst, 1), min(cells[b[0]].Burst, 1))
	})
	return out
}
