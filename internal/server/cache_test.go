package server_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/server"
)

// The planted fault of this file: the fake engine's numbers depend on where a prompt is cut. If they did
// not, "cold = warm" below would hold for any cache.
func TestFakeEngineSeesCuts(t *testing.T) {
	e := &fakeEngine{}
	prompt := idPrompt(100, 0)
	run := func(cuts ...int) float64 {
		st := e.NewState()
		from := 0
		var row []float64
		for _, to := range append(cuts, len(prompt)) {
			rows, err := st.Extend(context.Background(), prompt[from:to], 1)
			require.NoError(t, err)
			row, from = rows[0], to
		}
		return row[20]
	}
	if run(64) == run(63) || run(64) == run() || run(64) != run(64) {
		t.Error("the fake engine does not tell cuts apart, so it cannot prove cold = warm")
	}
}

func TestColdEqualsWarm(t *testing.T) {
	for _, n := range []int{1, 63, 64, 65, 128, 129, 300, 512, 513, 1000} {
		t.Run(fmt.Sprintf("len-%d", n), func(t *testing.T) {
			e := &fakeEngine{}
			ts := start(t, e, server.Config{})
			body := completionBody(idPrompt(n, 0), "")
			cold, warm := ask(t, ts, text, body), ask(t, ts, text, body)
			// The longest grid point before the last token.
			if want := (n - 1) / 64 * 64; cold.Usage.Details.CachedTokens != 0 || warm.Usage.Details.CachedTokens != want {
				t.Errorf("cached %d cold, %d warm, want 0, %d", cold.Usage.Details.CachedTokens, warm.Usage.Details.CachedTokens,
					want)
			}
			if !bytes.Equal(cold.Choices[0].Logprobs, warm.Choices[0].Logprobs) || cold.Choices[0].Text != warm.Choices[0].Text {
				t.Errorf("warm differs from cold:\n%s\n%s", cold.Choices[0].Logprobs, warm.Choices[0].Logprobs)
			}
		})
	}
}

// A prompt that shares only its head resumes from the kept grid point inside it, and its numbers are
// those of a server that never saw the other prompt.
func TestPartialHit(t *testing.T) {
	for _, row := range []struct {
		name         string
		shared, want int
	}{
		{"below the first step", 255, 0}, {"at a step", 256, 256}, {"past a step", 400, 256}, {"second step", 513, 512}, {
			"last grid point", 650, 640,
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			first := idPrompt(650, 0)
			second := append([]int(nil), first...)
			for i := row.shared; i < len(second); i++ {
				second[i] = 6
			}
			second = append(second, 7, 8)
			ts := start(t, &fakeEngine{}, server.Config{})
			ask(t, ts, text, completionBody(first, ""))
			warm := ask(t, ts, text, completionBody(second, ""))
			cold := ask(t, start(t, &fakeEngine{}, server.Config{}), text, completionBody(second, ""))
			if got := warm.Usage.Details.CachedTokens; got != row.want {
				t.Errorf("cached %d tokens, want %d", got, row.want)
			}
			if !bytes.Equal(cold.Choices[0].Logprobs, warm.Choices[0].Logprobs) {
				t.Errorf("warm differs from cold")
			}
		})
	}
}

// A second chat turn continues the first: its prefix is the first prompt, not the first answer's states.
func TestContinuationEqualsCold(t *testing.T) {
	e := &fakeEngine{}
	ts := start(t, e, server.Config{})
	prompt := idPrompt(200, 0)
	ids, _ := reference(e, prompt, 8)
	ask(t, ts, text, completionBody(prompt, ""))
	next := append(append(append([]int(nil), prompt...), ids...), 2, 30, 3)
	warm := ask(t, ts, text, completionBody(next, ""))
	cold := ask(t, start(t, &fakeEngine{}, server.Config{}), text, completionBody(next, ""))
	if warm.Usage.Details.CachedTokens != 192 || !bytes.Equal(warm.Choices[0].Logprobs, cold.Choices[0].Logprobs) {
		t.Errorf("cached %d, want 192; equal numbers: %v", warm.Usage.Details.CachedTokens,
			bytes.Equal(warm.Choices[0].Logprobs, cold.Choices[0].Logprobs))
	}
}

func TestSaltIsolates(t *testing.T) {
	ts := start(t, &fakeEngine{}, server.Config{})
	body := func(salt string) string { return completionBody(idPrompt(300, 0), salt) }
	for i, row := range []struct {
		salt string
		want int
	}{
		{"", 0}, {"", 256}, {`,"cache_salt":"a"`, 0}, {`,"cache_salt":"b"`, 0}, {`,"cache_salt":"a"`, 256}, {"", 256},
	} {
		if got := ask(t, ts, text, body(row.salt)).Usage.Details.CachedTokens; got != row.want {
			t.Errorf("request %d with %q: cached %d, want %d", i, row.salt, got, row.want)
		}
	}
}

func TestFlush(t *testing.T) {
	for _, route := range []string{"/flush_cache", "/reset_prefix_cache"} {
		t.Run(route[1:], func(t *testing.T) {
			ts := start(t, &fakeEngine{}, server.Config{})
			body := completionBody(idPrompt(300, 0), "")
			ask(t, ts, text, body)
			status, _, data := call(t, ts, route, "")
			if status != 200 || !bytes.Contains(data, []byte(`"flushed":1`)) {
				t.Errorf("%d %s, want one kept state", status, data)
			}
			if got := ask(t, ts, text, body).Usage.Details.CachedTokens; got != 0 {
				t.Errorf("cached %d after the flush", got)
			}
		})
	}
}

// A hit must save work, not only report it.
func TestHitSavesWork(t *testing.T) {
	e := &fakeEngine{}
	ts := start(t, e, server.Config{})
	body := `{"prompt":` + fmt.Sprint("\"", words(1000), "\"") + `,"max_tokens":1}`
	ask(t, ts, text, body)
	cold := e.tokens.Load()
	ask(t, ts, text, body)
	if warm := e.tokens.Load() - cold; cold != 1001 || warm != 1001-960 {
		t.Errorf("took in %d tokens cold and %d warm, want 1001 and 41", cold, warm)
	}
}

func words(n int) string {
	return string(bytes.Repeat([]byte("w "), n))
}

func TestCacheIsBounded(t *testing.T) {
	// Room for one prompt's states (256 + 256) and not for two; the older one must go.
	ts := start(t, &fakeEngine{}, server.Config{CacheTokens: 600})
	a, b := completionBody(idPrompt(300, 1), ""), completionBody(idPrompt(600, 2), "") // states: 256 | 256, 512, 576
	ask(t, ts, text, a)
	if got := ask(t, ts, text, a).Usage.Details.CachedTokens; got != 256 {
		t.Errorf("a again: cached %d, want 256", got)
	}
	ask(t, ts, text, b)
	if got := ask(t, ts, text, a).Usage.Details.CachedTokens; got != 0 {
		t.Errorf("a after b: cached %d, want 0", got)
	}
	off := start(t, &fakeEngine{}, server.Config{CacheTokens: -1})
	ask(t, off, text, a)
	if got := ask(t, off, text, a).Usage.Details.CachedTokens; got != 0 {
		t.Errorf("cache off: cached %d", got)
	}
}

// Echo asks for rows of all positions and so stays outside the cache, both ways.
func TestEchoSkipsCache(t *testing.T) {
	ts := start(t, &fakeEngine{}, server.Config{})
	echo, plain := completionBody(idPrompt(300, 0), `,"echo":true`), completionBody(idPrompt(300, 0), "")
	for i, row := range []struct {
		body string
		want int
	}{{echo, 0}, {plain, 0}, {echo, 0}, {plain, 256}} {
		if got := ask(t, ts, text, row.body).Usage.Details.CachedTokens; got != row.want {
			t.Errorf("request %d: cached %d, want %d", i, got, row.want)
		}
	}
}
