package diagnosis_test

import (
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fidelity/internal/probe"
	"github.com/assay-suite/assay/internal/endpoint"
	"github.com/assay-suite/assay/internal/engine"
	"github.com/assay-suite/assay/internal/golden"
)

const engineFamily = "fidelity/engine"

// tuningSeeds, heldOutSeeds and freshSeeds of each bug and each sound server of a set.
const (
	tuningSeeds  = 2
	heldOutSeeds = 1
	freshSeeds   = 1
)

// served is one server of the engine model at budget standard: a bug, or a sound server.
type served struct {
	bug, sound string
	seed       uint64
}

func (s served) id() string {
	if s.bug == "" {
		return fmt.Sprintf("%s/sound.%s/%d", engineFamily, s.sound, s.seed)
	}
	return fmt.Sprintf("%s/%s/%d", engineFamily, s.bug, s.seed)
}

// matrix is every kind of both halves and of the fresh set with its seeds.
func matrix() []served {
	var out []served
	for h, seeds := range map[engine.Half]uint64{
		engine.Tuning: tuningSeeds, engine.HeldOut: heldOutSeeds, engine.Fresh: freshSeeds,
	} {
		for seed := range seeds {
			for _, b := range engine.Bugs(h) {
				out = append(out, served{bug: b.Slug, seed: seed + 1})
			}
			for _, x := range engine.SoundServers(h) {
				out = append(out, served{sound: x.Slug, seed: seed + 1})
			}
		}
	}
	return out
}

// run diagnoses a server of the engine model in this process, in a bubble whose clock costs nothing.
func (s served) run(t *testing.T) (k kept) {
	t.Helper()
	h, err := text()
	require.NoError(t, err)
	synctest.Test(t, func(t *testing.T) {
		o := engine.Options{Seed: s.seed, Sound: s.sound}
		if s.bug != "" {
			o.Bugs = []string{s.bug}
		}
		e, err := engine.New(o)
		require.NoError(t, err)
		k.Drawn = fmt.Sprintf("%+v %q", e.Params(), e.Notes())
		client := func() (*endpoint.Client, error) {
			return endpoint.New(endpoint.Options{BaseURL: "http://engine.test", Transport: e.Transport()})
		}
		c, err := client()
		require.NoError(t, err)
		v, err := c.Survey(t.Context(), "survey")
		require.NoError(t, err)
		r, err := probe.New(probe.Options{
			Client: c.WithModel(v.Model), Survey: v, Fresh: client, Haystack: h, Budget: probe.Standard, Seed: s.seed,
			Nonce: fmt.Sprint("run-", s.seed), Disrupt: true, Known: probe.Known{Pool: e.Params().Pool},
		})
		require.NoError(t, err)
		k.Evidence, err = r.Run(t.Context())
		require.NoError(t, err)
		k.Answers, k.Logprobs = r.Answers(), r.Logprobs()
	})
	return k
}

// slice are the runs of every test run: a fault of place, one of content, and a sound server.
func slice() []served {
	return []served{{bug: "window-on-every-layer", seed: 1}, {bug: "bos-doubled", seed: 1}, {sound: "sparse", seed: 1}}
}

// What the engine model's kinds are called MUST come out again, to the word: a slice of them by default, all under
// ASSAY_BUDGET=full.
func TestEngine(t *testing.T) {
	runs := slice()
	if b, ok := os.LookupEnv("ASSAY_BUDGET"); ok && b == "full" {
		runs = matrix()
		defer debug.SetGCPercent(debug.SetGCPercent(400))
	}
	doc := golden.Doc{Provenance: golden.Provenance{
		Generator: "diagnosis_test.TestEngine: probes of budget standard against the engine model in this process",
		Seed:      "of engine and probes: the last segment of the case ID", Model: "engine", Profile: "generated",
		Source: "internal/engine, parameters drawn from the seed as the engines ship them; written and frozen before the " +
			"judge was tuned, on the kinds of one half",
	}, Cases: map[string]any{}}
	var mu sync.Mutex
	t.Run("runs", func(t *testing.T) {
		for _, s := range runs {
			t.Run(s.id(), func(t *testing.T) {
				t.Parallel()
				d := keep(t, s.id(), s.run).done(t)
				code, _ := d.Code()
				mu.Lock()
				defer mu.Unlock()
				doc.Cases[s.id()] = fmt.Sprintf("%d %s", code, said(d.Diagnosis))
			})
		}
	})
	golden.Assert(t, engineFamily, doc,
		golden.All(golden.Exact("a verdict is a word, and a run is a function of its seed")))
}

// The golden MUST hold the runs of the matrix and no others.
func TestEngineMatrix(t *testing.T) {
	var ids []string
	for _, s := range matrix() {
		ids = append(ids, s.id())
	}
	golden.Orphans(t, engineFamily, ids)
	if golden.Updating() {
		return // what is missing is being measured
	}
	g, err := golden.Read(engineFamily)
	require.NoError(t, err)
	for _, id := range ids {
		_, there := g.Cases[id]
		assert.True(t, there, "%s was not measured: ASSAY_BUDGET=full go test ./fidelity/diagnosis -run TestEngine "+
			"-timeout 2h -update", id)
	}
}

// unexplained is what a run is called whose wrong answers are a fault without a class.
const unexplained = "unexplained losses"

// score is what became of the runs of one kind or of many.
type score struct {
	runs      int
	detected  int // exit code 1
	clean     int // exit code 0
	first     int // the right class first
	two       int // the right class among the first two
	firm      int // with a firm class
	firmWrong int // with a firm class that is not right
	called    map[string]int
}

func (c *score) plus(d score) {
	c.runs, c.detected, c.clean, c.first, c.two = c.runs+d.runs, c.detected+d.detected, c.clean+d.clean, c.first+d.first,
		c.two+d.two
	c.firm, c.firmWrong = c.firm+d.firm, c.firmWrong+d.firmWrong
}

// scores sorts the golden's runs by kind.
func scores(cases map[string]any) map[string]*score {
	out := map[string]*score{}
	for id, v := range cases {
		line, _ := v.(string)
		code, line, _ := strings.Cut(line, " ")
		what, _, _ := strings.Cut(strings.TrimPrefix(id, engineFamily+"/"), "/")
		c := out[what]
		if c == nil {
			c = &score{called: map[string]int{}}
			out[what] = c
		}
		o := reread(line)
		if code == "1" && len(o.ranked) == 0 {
			o.ranked = []string{unexplained}
		}
		bug, _ := engine.Lookup(what)
		right := rightFor(bug)
		among := func(n int) bool {
			return slices.ContainsFunc(o.ranked[:min(n, len(o.ranked))],
				func(c string) bool { return slices.Contains(right, c) })
		}
		c.runs++
		for _, x := range []struct {
			n  *int
			ok bool
		}{
			{&c.detected, code == "1"},
			{&c.clean, code == "0"},
			{&c.first, among(1)},
			{&c.two, among(2)},
			{&c.firm, len(o.firm) > 0},
			{&c.firmWrong, slices.ContainsFunc(o.firm, func(c string) bool { return !slices.Contains(right, c) })},
		} {
			if x.ok {
				*x.n++
			}
		}
		name := map[string]string{"0": "clean", "3": "inconclusive"}[code]
		if name == "" {
			name = o.ranked[0]
		}
		c.called[name]++
	}
	return out
}
