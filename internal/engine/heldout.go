package engine

import (
	"cmp"
	"slices"
)

// Bugs, ranges of parameters and sound servers are frozen: they were written by someone who had not read the judge, and
// before it was tuned. What a judge says of them changes none of them; a second look at the held-out half needs new
// kinds and a new salt.

// Half is the half of the kinds that a kind belongs to: the judge is tuned on one, the other is run once.
type Half string

// The halves, and the third set that was written after a judge had seen both.
const (
	Tuning  Half = "tuning"
	HeldOut Half = "held-out"
	Fresh   Half = "fresh"
)

// splitSalt was chosen before any run of a judge; another salt is another split and needs new kinds.
const splitSalt = "assay/internal/engine/1"

// Bugs returns the bugs of one half, or of the third set.
//
// The split is of kinds, not of seeds: within every mechanism bugs are ordered by a
// hash of their slug and dealt in turn, so that both halves have every mechanism of two bugs or more. Mechanisms of an
// odd number give their odd one to the halves in turn.
func Bugs(h Half) []Bug {
	if h == Fresh {
		return slices.Clone(fresh)
	}
	return deal(all, h, func(b Bug) (group, slug string) { return b.Mechanism, b.Slug })
}

// SoundServers returns the sound servers of one half, dealt alike: those whose recall declines are one group.
func SoundServers(h Half) []Sound {
	if h == Fresh {
		return slices.Clone(freshSounds)
	}
	return deal(sounds, h, func(s Sound) (group, slug string) {
		if s.Declines > 0 {
			return "declines", s.Slug
		}
		return "by design", s.Slug
	})
}

// HalfOf returns the half or set of a bug or sound server, empty for an unknown slug.
func HalfOf(slug string) Half {
	for _, h := range []Half{Tuning, HeldOut, Fresh} {
		if slices.ContainsFunc(Bugs(h), func(b Bug) bool { return b.Slug == slug }) ||
			slices.ContainsFunc(SoundServers(h), func(s Sound) bool { return s.Slug == slug }) {
			return h
		}
	}
	return ""
}

func deal[T any](kinds []T, h Half, name func(T) (group, slug string)) []T {
	groups := map[string][]T{}
	var order []string
	for _, k := range kinds {
		g, _ := name(k)
		if groups[g] == nil {
			order = append(order, g)
		}
		groups[g] = append(groups[g], k)
	}
	var out []T
	odd := 0 // mechanisms with an odd number so far: the odd ones go to the halves in turn
	for _, g := range order {
		list := groups[g]
		slices.SortFunc(list, func(a, b T) int {
			_, x := name(a)
			_, y := name(b)
			return cmp.Or(cmp.Compare(hashString(splitSalt+x), hashString(splitSalt+y)), cmp.Compare(x, y))
		})
		first := odd % 2
		odd += len(list) % 2
		for i, k := range list {
			if half := []Half{Tuning, HeldOut}[(i+first)%2]; half == h {
				out = append(out, k)
			}
		}
	}
	return out
}
