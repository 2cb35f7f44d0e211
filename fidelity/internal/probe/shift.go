package probe

import (
	"context"

	"github.com/assay-suite/assay/fidelity/evidence"
	"github.com/assay-suite/assay/internal/needle"
)

// shift moves whole prompts by single tokens, then needles over the seams of chunks.
func shift() probe {
	return probe{
		name: evidence.Shift,
		skip: func(r *Runner) string {
			if r.o.Survey.State("tokenize") != "supported" && r.o.Survey.State("usage") != "supported" {
				return "exact lengths need a server that counts tokens"
			}
			return notIn(Smoke)(r)
		},
		cost: func(r *Runner) Cost {
			c := asks(front(r)+back(r)+len(moduli)+4, 1100)
			for _, n := range chunks(r) {
				c = c.plus(asks(2*len(seamOffsets), n*5/4+512))
			}
			return c
		},
		run: func(ctx context.Context, t *task) error {
			if err := t.residues(ctx); err != nil {
				return err
			}
			for _, n := range chunks(t.r) {
				if err := t.seam(ctx, n); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func front(r *Runner) int {
	if r.o.Budget == Full {
		return 64
	}
	return 16
}

func back(r *Runner) int { return front(r) / 2 }

// moduli beyond the sixteen lengths of the sweep: a single failing length is followed at these distances.
var moduli = []int{16, 32, 64, 128, 256}

// shifted is one prompt of exactly so many tokens; the needle and its text depend on the series only.
func (r *Runner) shifted(arm, series string, tokens int, pad needle.Pad) step {
	return step{arm: arm, at: float64(tokens), tokens: tokens, make: func(ctx context.Context, s salt) (query, error) {
		n := needle.Spec{Case: "shift/" + series, Seed: r.o.Seed, Nonce: s.nonce + "/" + s.id, Depth: 0.4, Pad: pad}
		ps, err := r.exact.BuildExact(ctx, n, tokens)
		if err != nil {
			return query{}, err
		}
		return needleAsk(ps[0], nil), nil
	}}
}

// residues asks at consecutive lengths around a multiple of 256.
func (t *task) residues(ctx context.Context) error {
	r := t.r
	base := max(control, r.under(1032)-8)
	t.number("base", float64(base))
	var units []unit
	var lengths []int
	for k := range front(r) {
		arm := "front-" + itoa(k)
		units = append(units, one(t.id("%s", arm), r.shifted(arm, "front", base+k, needle.PadFront)))
		lengths = append(lengths, base+k)
	}
	for k := range back(r) {
		arm := "back-" + itoa(k)
		units = append(units, one(t.id("%s", arm), r.shifted(arm, "back", base+k, needle.PadBack)))
		lengths = append(lengths, base+k)
	}
	rss, err := t.take(ctx, units...)
	if err != nil {
		return err
	}
	failed := map[int]bool{}
	var bad []int
	for i, rs := range rss {
		if !rs[0].Measured {
			continue
		}
		if _, seen := failed[lengths[i]]; !seen || !rs[0].Right {
			if !rs[0].Right && !failed[lengths[i]] {
				bad = append(bad, lengths[i])
			}
			failed[lengths[i]] = !rs[0].Right
		}
	}
	m, residue, ok := modulus(failed)
	if len(bad) == 1 {
		m, residue, ok, err = t.follow(ctx, bad[0])
	} else if ok {
		ok, err = t.confirm(ctx, m, residue, base)
	}
	if err == nil && ok {
		t.number("modulus", float64(m))
		t.number("residue", float64(residue))
	}
	return err
}

// modulus finds the smallest modulus up to 64 of which one residue fails always and every other never.
func modulus(failed map[int]bool) (m, residue int, ok bool) {
next:
	for _, m := range []int{2, 4, 8, 16, 32, 64} {
		residue, bad, good := -1, 0, 0
		for n, f := range failed {
			if f {
				bad++
				if residue >= 0 && n%m != residue {
					continue next
				}
				residue = n % m
			}
		}
		for n, f := range failed {
			if !f {
				good++
				if n%m == residue {
					continue next
				}
			}
		}
		if bad >= 2 && good >= 2 {
			return m, residue, true
		}
	}
	return 0, 0, false
}

// confirm asks for other needles at two further lengths of the residue and at two beside it.
func (t *task) confirm(ctx context.Context, m, residue, base int) (bool, error) {
	var units []unit
	for i := range 4 {
		n := base + (residue-base%m+m)%m + m*(3+2*(i/2))
		if i%2 == 1 {
			n++
		}
		units = append(units, one(t.id("confirm/%d", i), t.r.shifted("", "confirm-"+itoa(i), n, needle.PadFront)))
	}
	rss, err := t.take(ctx, units...)
	if err != nil {
		return false, err
	}
	for i, rs := range rss {
		if rs[0].Right == (i%2 == 0) {
			return false, nil
		}
	}
	return true, nil
}

// follow looks for the modulus of a single failing length: the smallest distance at which it fails again, twice.
func (t *task) follow(ctx context.Context, length int) (m, residue int, ok bool, err error) {
	for _, m := range moduli {
		if t.r.edge > 0 && length+2*m > t.r.edge {
			break
		}
		rss, err := t.take(ctx,
			one(t.id("follow/%d", m), t.r.shifted("", "follow", length+m, needle.PadFront)),
			one(t.id("follow/%d-twice", m), t.r.shifted("", "follow-twice", length+2*m, needle.PadFront)))
		if err != nil {
			return 0, 0, false, err
		}
		if !rss[0][0].Right && !rss[1][0].Right && rss[0][0].Measured && rss[1][0].Measured {
			return m, length % m, true, nil
		}
	}
	return 0, 0, false, nil
}
