package engine

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The halves are disjoint, whole, equal within one, and both have every mechanism that can be halved.
func TestHalves(t *testing.T) {
	a, z := Bugs(Tuning), Bugs(HeldOut)
	require.Len(t, slices.Concat(a, z), len(Catalogue()))
	assert.LessOrEqual(t, max(len(a), len(z))-min(len(a), len(z)), 1)
	count := map[string]map[Half]int{}
	for _, b := range Catalogue() {
		h := HalfOf(b.Slug)
		require.NotEmpty(t, h, b.Slug)
		if count[b.Mechanism] == nil {
			count[b.Mechanism] = map[Half]int{}
		}
		count[b.Mechanism][h]++
	}
	for mechanism, n := range count {
		assert.LessOrEqual(t, max(n[Tuning], n[HeldOut])-min(n[Tuning], n[HeldOut]), 1, mechanism)
	}
	s, u := SoundServers(Tuning), SoundServers(HeldOut)
	require.Len(t, slices.Concat(s, u), len(Sounds()))
}

// frozenHalf is the hash of the held-out slugs in order, taken at the freeze.
const frozenHalf uint64 = 0xdcc0cd914bac8206

// The split is frozen: whoever changes a slug, a mechanism or the salt changes what was held out, and this fails.
func TestSplitIsFrozen(t *testing.T) {
	var h uint64
	for _, b := range Bugs(HeldOut) {
		h = mix(h, hashString(b.Slug))
	}
	for _, s := range SoundServers(HeldOut) {
		h = mix(h, hashString(s.Slug))
	}
	assert.Equal(t, frozenHalf, h)
}

// The catalogue is complete in words: a grader can map every row.
func TestCatalogueRows(t *testing.T) {
	seen := map[string]bool{}
	for _, b := range Catalogue() {
		assert.False(t, seen[b.Slug], b.Slug)
		seen[b.Slug] = true
		assert.Regexp(t, `^[a-z0-9]+(-[a-z0-9]+)*$`, b.Slug)
		assert.NotEmpty(t, b.Mechanism, b.Slug)
		assert.NotEmpty(t, b.Effect, b.Slug)
		assert.NotEmpty(t, b.Truth.Class, b.Slug)
		assert.NotEmpty(t, b.Truth.Depends, b.Slug)
	}
	assert.GreaterOrEqual(t, len(seen), 60)
	assert.GreaterOrEqual(t, len(Sounds()), 25)
	declining := 0
	for _, s := range Sounds() {
		assert.False(t, seen[s.Slug], s.Slug)
		seen[s.Slug] = true
		if s.Declines > 0 {
			declining++
		}
	}
	assert.Equal(t, 10, declining)
	_, err := New(Options{Bugs: []string{"nobody"}})
	require.ErrorContains(t, err, `"nobody"`)
	_, err = New(Options{Sound: "nobody"})
	require.ErrorContains(t, err, "plain")
}

// frozenRanges is the hash of what seeds draw, taken at the freeze.
const frozenRanges uint64 = 0x86482ed28cfe18ec

// The ranges are frozen: parameters of servers, of every bug and of every sound server, over some seeds.
func TestRangesAreFrozen(t *testing.T) {
	var h uint64
	add := func(o Options) {
		e := mustNew(t, o)
		p := e.Params()
		p.DraftHit = math.Round(p.DraftHit * 1e6) // machines differ in the last bit of a fused product
		h = mix(h, hashString(fmt.Sprintf("%+v %v", p, e.Notes())))
	}
	for seed := range uint64(24) {
		add(Options{Seed: seed})
	}
	for _, b := range Catalogue() {
		add(Options{Seed: 5, Bugs: []string{b.Slug}, tune: func(p *Params) { p.Pool = p.Context }})
	}
	for _, s := range Sounds() {
		add(Options{Seed: 5, Sound: s.Slug})
	}
	assert.Equal(t, frozenRanges, h)
}

// Two bugs sit in one engine, each as it was drawn alone, and the engine still answers.
func TestTwoBugs(t *testing.T) {
	for _, two := range [][]string{
		{"overflow-keeps-end", "prefix-not-attended"},
		{"rank-window", "bonus-token-twice"},
		{"bos-doubled", "logprob-sign"},
		{"tile-tail-unwritten", "arguments-emptied"},
	} {
		e := mustNew(t, Options{Seed: 9, Bugs: two, Sound: "plain"})
		require.Len(t, e.Notes(), 2)
		for i, slug := range two {
			assert.True(t, strings.HasPrefix(e.Notes()[i], slug+": "), e.Notes()[i])
		}
		twin := mustNew(t, Options{Seed: 9, Bugs: two, Sound: "plain", sound: true})
		a, z := newPlayer(twin), newPlayer(e)
		differ := 0
		for _, st := range script() {
			if a.play(t, st) != z.play(t, st) {
				differ++
			}
		}
		assert.Positive(t, differ, "%v", two)
	}
}
