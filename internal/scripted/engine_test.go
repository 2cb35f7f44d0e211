package scripted_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/scripted"
)

func TestCatalogue(t *testing.T) {
	ks := scripted.Kinds()
	require.Len(t, ks, 44)
	slugs := map[string]bool{}
	for i, k := range ks {
		if want := fmt.Sprintf("FK%02d", i+1); k.ID != want {
			t.Errorf("kind %d is %s, want %s", i, k.ID, want)
		}
		if slugs[k.Slug] || !regexp.MustCompile(`^[a-z0-9-]+$`).MatchString(k.Slug) || k.Class == "" || k.Effect == "" ||
			k.Trigger == "" {
			t.Errorf("%s: slug %q twice, no slug, or a field is empty", k.ID, k.Slug)
		}
		slugs[k.Slug] = true
		for _, name := range []string{k.Slug, k.ID, strings.ToLower(k.ID)} {
			if got, err := scripted.Lookup(name); err != nil || got.ID != k.ID {
				t.Errorf("lookup %q: %v %v", name, got.ID, err)
			}
		}
	}
	different := 0
	for _, k := range ks {
		a, err := scripted.Draw(k.Slug, 1)
		require.NoError(t, err)
		for seed := range uint64(20) {
			b, err := scripted.Draw(k.Slug, seed)
			require.NoError(t, err)
			if fmt.Sprint(a) != fmt.Sprint(b) {
				different++
				break
			}
		}
	}
	if different < 30 {
		t.Errorf("only %d kinds draw parameters", different)
	}
}

func TestRefusals(t *testing.T) {
	for name, o := range map[string]scripted.Options{
		"is unknown":   {Faults: []string{"gremlins"}},
		"named twice":  {Faults: []string{"head-cut", "FK01"}},
		"no parameter": {Faults: []string{"head-cut"}, Params: map[string]scripted.Params{"head-cut": {"x": 1}}},
		"out of range": {
			Faults: []string{"junk-cliff"},
			Params: map[string]scripted.Params{"junk-cliff": {"variant": 9}},
		},
		"is 0, out of range": {Faults: []string{"phase"}, Params: map[string]scripted.Params{"phase": {"modulus": 0}}},
		"not among":          {Params: map[string]scripted.Params{"head-cut": {"limit": 1}}},
		"control \"odd\"":    {Control: "odd"},
		"window 3":           {Window: 3},
	} {
		if _, err := scripted.New(o); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v, want one with %q", err, name)
		}
	}
}

// Any two kinds can be had together, and the engine answers in its own protocol, whatever they do to each other.
func TestEveryPairServes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ks := scripted.Kinds()
		body := with(with(user(sized(500, 0.3, "p")), "tools", saveTool), "stream", true)
		chat := chatOf(say("user", "The code for Quito is 55120."), obj{
			"role":              "assistant",
			"content":           "<think>open",
			"reasoning_content": "x",
		},
			say("system", "Late."), say("user", facts+fill(1100, "q")+"Write 40 words, then the code for Quito."))
		for i := range ks {
			for j := range i {
				e, err := scripted.New(scripted.Options{Faults: []string{ks[i].Slug, ks[j].Slug}, Seed: uint64(i*44 + j)})
				require.NoError(t, err)
				if d := e.Drawn(); !strings.Contains(d, ks[i].ID) || !strings.Contains(d, ks[j].ID) {
					t.Errorf("drawn: %s", d)
				}
				c := client(e)
				for _, b := range []obj{body, chat, body} {
					if r := ask(t, c, b); r.status != http.StatusOK || r.finish == "" {
						t.Errorf("%s + %s: %s", ks[i].Slug, ks[j].Slug, r.raw)
					}
				}
			}
		}
	})
}

// Two faults must both show: neither hides behind the other's trigger.
func TestTwoFaultsBothShow(t *testing.T) {
	o := scripted.Options{
		Faults: []string{"head-cut", "warm-forgets"},
		Params: map[string]scripted.Params{"head-cut": {"limit": 2048}},
	}
	c := client(engine(t, o))
	if r := ask(t, c, user(sized(3000, 0, "a"))); r.prompt != 1026 || strings.Contains(r.text, "48213") {
		t.Errorf("head-cut: %+v", r)
	}
	body := user(sized(1000, 0.2, "b"))
	if r := ask(t, c, body); r.text != "48213" {
		t.Errorf("cold: %+v", r)
	}
	if r := ask(t, c, body); r.text == "48213" || r.cached < 900 {
		t.Errorf("warm: %+v", r)
	}
}

func TestControls(t *testing.T) {
	recalled := func(c *http.Client, n, length int) int {
		hits := 0
		for i := range n {
			if r := ask(t, c, user(sized(length, 0.3, fmt.Sprintf("%c%c", 'a'+i%26, 'a'+i/26)))); r.text == "48213" {
				hits++
			}
		}
		return hits
	}
	for _, length := range []int{120, 1500} {
		if n := recalled(client(engine(t, scripted.Options{})), 50, length); n != 50 {
			t.Errorf("healthy: %d of 50 at %d tokens", n, length)
		}
		// Binomial(200, 0.8): 1 in 10,000 leaves 137 to 181.
		if n := recalled(client(engine(t, scripted.Options{Control: scripted.WeakModel, Seed: 5})), 200, length); n < 137 ||
			n > 181 {
			t.Errorf("weak model: %d of 200 at %d tokens", n, length)
		}
	}
	weak := client(engine(t, scripted.Options{Control: scripted.WeakModel}))
	for i := range 10 {
		body := user(sized(200, 0.3, string(rune('a'+i))))
		if a, b := ask(t, weak, body), ask(t, weak, with(body, "stream", true)); a.text != b.text {
			t.Errorf("weak model: %q, then %q", a.text, b.text)
		}
	}
	strict, lax := client(engine(t, scripted.Options{Control: scripted.Strict400})), client(engine(t, scripted.Options{}))
	odd := with(user(lisbon+asked), "min_tokens_to_keep", 3)
	if a, b := ask(t, strict, odd), ask(t, lax, odd); a.status != http.StatusBadRequest || b.text != "48213" {
		t.Errorf("strict: %d, lax: %+v", a.status, b)
	}
	over := user(sized(40000, 0.5, "o"))
	if a, b := ask(t, strict, over),
		ask(t, lax, over); a.status != http.StatusBadRequest || b.status != http.StatusBadRequest ||
		!strings.Contains(b.raw, "maximum context length is 32768 tokens") {
		t.Errorf("over the window: %s %s", a.raw, b.raw)
	}
}

// FK41 is a budget, not a loss: four times the cap gives the code.
func TestThinkingBudgetIsCured(t *testing.T) {
	for seed := range uint64(4) {
		c := client(engine(t, scripted.Options{Control: scripted.ThinkingBudget, Seed: seed}))
		body := with(user(lisbon+asked), "max_tokens", 256)
		if r := ask(t, c, body); r.text != "" || r.completion != 256 || r.thought == "" {
			t.Errorf("small cap: %+v", r)
		}
		if r := ask(t, c, with(body, "max_tokens", 1024)); r.text != "48213" || r.finish != "stop" {
			t.Errorf("large cap: %+v", r)
		}
	}
}

// The slow control says nothing for long, then comments, then the right answer; a hit is fast. The clock is the
// bubble's.
func TestTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		took := func(o scripted.Options, body obj, times int) (last time.Duration, r reply) {
			c := client(engine(t, o))
			for range times {
				at := time.Now()
				r = ask(t, c, body)
				last = time.Since(at)
			}
			return last, r
		}
		body := with(with(user(sized(4000, 0.3, "s")), "stream", true), "stream_options", obj{"include_usage": true})
		cold, _ := took(scripted.Options{Pace: 1}, body, 1)
		warm, r := took(scripted.Options{Pace: 1}, body, 2)
		// 4,000 tokens at 50 us and 5 tokens at 5 ms, against at most one page of 16 tokens.
		if cold != 225*time.Millisecond || warm > 26*time.Millisecond || r.cached < 3900 {
			t.Errorf("cold %v, warm %v with %d cached", cold, warm, r.cached)
		}
		slow, r := took(scripted.Options{Pace: 1, Control: scripted.SlowPrefill}, body, 1)
		if slow != 2025*time.Millisecond || r.comments != 3 || r.text != "48213" {
			t.Errorf("slow: %v, %+v", slow, r)
		}
		if d, _ := took(scripted.Options{}, body, 1); d != 0 {
			t.Errorf("pace 0 took %v", d)
		}
	})
}

// The same seed and order give the same bytes.
func TestDeterministic(t *testing.T) {
	run := func(seed uint64) string {
		c := client(engine(t, scripted.Options{Faults: []string{"drift", "late-degeneration", "warm-forgets"}, Seed: seed}))
		var rs []reply
		for i := range 80 {
			rs = append(rs, ask(t, c, with(user(sized(300+i%9, 0.2, "t")), "temperature", 1)))
			rs = append(rs, ask(t, c, with(user("Write 40 words."), "temperature", 1)))
		}
		return seen(rs...)
	}
	if once := run(3); once != run(3) {
		t.Error("one seed, two runs")
	}
	if run(3) == run(4) {
		t.Error("two seeds, one run")
	}
}

func TestSampling(t *testing.T) {
	c := client(engine(t, scripted.Options{}))
	texts := func(body obj) int {
		seen := map[string]bool{}
		for range 10 {
			seen[ask(t, c, body).text] = true
		}
		return len(seen)
	}
	story := user("Tell me a story.")
	for temperature, want := range map[float64]int{0: 1, 1: 10} {
		if got := texts(with(story, "temperature", temperature)); got != want {
			t.Errorf("temperature %v: %d texts, want %d", temperature, got, want)
		}
	}
	if got := texts(with(with(story, "temperature", 1), "seed", 7)); got != 1 {
		t.Errorf("with a seed: %d texts", got)
	}
	r := ask(t, c, with(with(story, "temperature", 1), "n", 10))
	if r.completion < 10*24 {
		t.Errorf("n=10: %+v", r)
	}
}

// A prompt is found again under its salt only, a branch up to where it leaves, and a flush forgets.
func TestPrefixCache(t *testing.T) {
	e := engine(t, scripted.Options{Pool: 4096})
	c := client(e)
	body := user(sized(1000, 0.3, "c"))
	for i, want := range []int{0, 992} {
		if r := ask(t, c, body); r.cached != want {
			t.Errorf("request %d: %d cached, want %d", i, r.cached, want)
		}
	}
	if r := ask(t, c, with(body, "cache_salt", "x")); r.cached != 0 {
		t.Errorf("another salt: %d cached", r.cached)
	}
	if r := ask(t, c, user("X"+sized(1000, 0.3, "c"))); r.cached != 0 {
		t.Errorf("another first character: %d cached", r.cached)
	}
	half := sized(1000, 0.3, "c")[:2000]
	if r := ask(t, c, user(half+"What else?")); r.cached < 300 || r.cached > 600 {
		t.Errorf("branch: %d cached", r.cached)
	}
	for i := range 5 {
		ask(t, c, user(sized(1000, 0.3, string(rune('p'+i)))))
	}
	if r := ask(t, c, body); r.cached != 0 {
		t.Errorf("after a flood of the pool: %d cached", r.cached)
	}
	e.Flush()
	if r := ask(t, c, body); r.cached != 0 {
		t.Errorf("after a flush: %d cached", r.cached)
	}
}
