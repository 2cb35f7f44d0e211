package engine

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
)

func mustNew(tb testing.TB, o Options) *Engine {
	tb.Helper()
	e, err := New(o)
	if err != nil {
		tb.Fatal(err)
	}
	return e
}

func scriptFor(b Bug, p Params) []step {
	s := script()
	if b.Mechanism == "host tier" || b.Slug == "evicted-still-known" {
		s = append(s, flood(p.Pool)...)
	}
	return s
}

// A planted bug that changes nothing is no bug: every one changes what some named request brings back, against a
// server of the same parameters without it.
func TestEveryBugShows(t *testing.T) {
	var mu sync.Mutex
	for _, b := range Catalogue() {
		t.Run(b.Slug, func(t *testing.T) {
			t.Parallel()
			seed := uint64(3)
			sound := mustNew(t, Options{Seed: seed, Sound: "plain", Bugs: []string{b.Slug}, sound: true})
			faulty := mustNew(t, Options{Seed: seed, Sound: "plain", Bugs: []string{b.Slug}})
			steps := scriptFor(b, sound.Params())
			a, z := newPlayer(sound), newPlayer(faulty)
			var where []string
			for _, st := range steps {
				want, got := a.play(t, st), z.play(t, st)
				if want == got || slices.Contains(where, st.name) {
					continue
				}
				where = append(where, st.name)
				if os.Getenv("SHOW") == "" {
					break
				}
				if len(where) < 4 {
					fmt.Printf("%s: %s\n   want %.300s\n   got  %.300s\n", b.Slug, st.name, want, got)
				}
			}
			mu.Lock()
			defer mu.Unlock()
			if os.Getenv("SHOW") != "" {
				fmt.Println("WHERE", b.Slug, faulty.Notes(), where)
			}
			if len(where) == 0 {
				t.Errorf("%s (%v) changes nothing of the script", b.Slug, faulty.Notes())
			}
		})
	}
}
