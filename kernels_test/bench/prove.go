package bench

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Proof is what became of a suite's own candidates.
type Proof struct {
	Cases, Runs int
	Problems    []string         // what must not be: a correct candidate flagged, a fault that survives
	Rho         map[string]Rhos  // of the built-in candidate, by case and output
	Kills       map[string]Kills // by plant
}

// Rhos are quantiles of |got − want| / bound of one output.
type Rhos struct{ Median, P99, Max, Martingale float64 }

// Kills is what became of one plant: the gate that stopped it, by case; empty where the case accepted it.
type Kills struct {
	Plant Plant
	Gates map[string]string
}

// Killers lists the cases that stopped the fault, sorted, and tells how many of them do not list its row in their
// catches.
func (k Kills) Killers(cases []Case) (ids []string, unlisted int) {
	for _, c := range cases {
		if k.Gates[c.ID] == "" {
			continue
		}
		ids = append(ids, c.ID)
		if k.Plant.Row == "" || !slices.ContainsFunc(c.Catches, func(s string) bool {
			return strings.Fields(s)[0] == k.Plant.Row
		}) {
			unlisted++
		}
	}
	return ids, unlisted
}

// Options of Prove. Every is how many cases pass between two that the correct candidates run on: 1 is all of them, and
// then every plant, too, runs on all of its cases; else a plant runs until enough cases have stopped it.
type Options struct {
	Every    int
	Progress func(done, of int)
}

// Prove judges a suite by candidates whose verdict is known: the built-in one, the variants and the plants, on the
// cases that Options say. (The built-in candidates run on every case in kernels_test.TestCases.) A correct candidate
// that is flagged is a problem, and so is a plant that fewer than two cases stop, or only such as list its row in their
// catches.
func (s Suite) Prove(ctx context.Context, o Options) (Proof, error) {
	cases := s.Cases()
	proof := Proof{Cases: len(cases), Rho: map[string]Rhos{}, Kills: map[string]Kills{}}
	hello := make([]Hello, len(s.Variants))
	for i, v := range s.Variants {
		h, err := v.Candidate.Hello(ctx)
		if err != nil {
			return proof, fmt.Errorf("variant %q: %w", v.Name, err)
		}
		hello[i] = h
	}
	every := max(o.Every, 1)
	benches := make([]func() (*Bench, error), len(cases))
	for i, c := range cases {
		benches[i] = sync.OnceValues(func() (*Bench, error) { return New(c) })
	}
	parts := make([]Proof, len(cases))
	var done atomic.Int64
	progress := func() {
		if n := int(done.Add(1)); o.Progress != nil {
			o.Progress(n, len(cases)+len(s.Plants))
		}
	}
	err := parallel(len(cases), func(i int) (err error) {
		defer progress()
		if i%every != 0 {
			return nil
		}
		b, err := benches[i]()
		if err == nil {
			parts[i], err = s.correct(ctx, b, hello)
		}
		return err
	})
	if err != nil {
		return proof, err
	}
	for _, part := range parts {
		proof.Runs += part.Runs
		proof.Problems = append(proof.Problems, part.Problems...)
		maps.Copy(proof.Rho, part.Rho)
	}
	kills := make([]Kills, len(s.Plants))
	err = parallel(len(s.Plants), func(i int) (err error) {
		defer progress()
		kills[i], err = s.kills(ctx, s.Plants[i], cases, benches, every == 1)
		return err
	})
	if err != nil {
		return proof, err
	}
	for i, p := range s.Plants {
		proof.Kills[p.Name] = kills[i]
		proof.Runs += len(kills[i].Gates)
		if text := kills[i].survives(cases); text != "" {
			proof.Problems = append(proof.Problems, text)
		}
	}
	slices.Sort(proof.Problems)
	return proof, nil
}

// survives says what is missing for a plant to count as killed, or nothing.
func (k Kills) survives(cases []Case) string {
	ids, unlisted := k.Killers(cases)
	switch {
	case len(ids) < 2:
		return fmt.Sprintf("fault %q (%s) is stopped by %d of the %d cases that it ran in, want at least 2", k.Plant.Name,
			k.Plant.Effect, len(ids), len(k.Gates))
	case unlisted == 0:
		return fmt.Sprintf("fault %q is stopped only by cases that list row %s in their catches: %s", k.Plant.Name,
			k.Plant.Row, strings.Join(ids, ", "))
	}
	return ""
}

// correct runs the built-in candidate and the variants on a case.
func (s Suite) correct(ctx context.Context, b *Bench, hello []Hello) (Proof, error) {
	part := Proof{Rho: map[string]Rhos{}}
	c := b.Case
	judge := func(name string, under Candidate) Report {
		part.Runs++
		r, err := b.Judge(ctx, under)
		switch {
		case err != nil:
			part.Problems = append(part.Problems, fmt.Sprintf("correct candidate %q breaks in %s: %v", name, c.ID, err))
		case !r.Accepted():
			part.Problems = append(part.Problems,
				fmt.Sprintf("correct candidate %q is flagged in %s:%s", name, c.ID, b.Failure(ctx, under, r, nil)))
		}
		return r
	}
	built, err := s.Built(c.Contract.Name)
	if err != nil {
		return part, err
	}
	for _, f := range judge("built-in", built).Findings {
		q := f.Verdict.Rho
		part.Rho[c.ID+" "+f.Output] = Rhos{q.Median, q.P99, q.Max, f.Verdict.RhoMartingale.Max}
	}
	for i, v := range s.Variants {
		if v.Concerns(c, hello[i]) {
			judge(v.Name, v.Candidate)
		}
	}
	return part, ctx.Err()
}

// kills runs a plant on its cases, on all of them or until enough have stopped it.
func (s Suite) kills(ctx context.Context, p Plant, cases []Case, benches []func() (*Bench, error), all bool) (Kills,
	error,
) {
	k := Kills{p, map[string]string{}}
	var ran []Case
	for i, c := range cases {
		if !p.Concerns(c) {
			continue
		}
		b, err := benches[i]()
		if err != nil {
			return k, err
		}
		gate, err := b.Kill(ctx, p)
		if err != nil {
			return k, err
		}
		k.Gates[b.Case.ID] = gate
		ran = append(ran, b.Case)
		if !all && gate != "" && k.survives(ran) == "" {
			break
		}
	}
	return k, ctx.Err()
}

// Kill runs a plant and returns the gate that stopped it, "error" where it crashed, empty where it was accepted.
func (b *Bench) Kill(ctx context.Context, p Plant) (string, error) {
	under, err := p.Build(b.Case.Contract.Name)
	if err != nil {
		return "", fmt.Errorf("fault %q: %w", p.Name, err)
	}
	r, err := b.Judge(ctx, under)
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case Unsupported(err):
		return "", nil
	case err != nil:
		return "error", nil //nolint:nilerr // a fault that makes the candidate crash is seen by the crash
	}
	return r.Gate(), nil
}

// parallel runs f for 0 to n-1 on all cores and returns the first error by index.
func parallel(n int, f func(i int) error) error {
	errs := make([]error, n)
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), max(n, 1)) {
		wg.Go(func() {
			for i := range next {
				errs[i] = f(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// Every is Options.Every by ASSAY_BUDGET: all cases under full, else a slice that keeps the default run short.
func Every() int {
	if full() {
		return 1
	}
	return 5
}
