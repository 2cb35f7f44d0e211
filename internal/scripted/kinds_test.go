package scripted_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/scripted"
)

// fill is about n tokens of prose that answers nothing; another salt is another text.
func fill(n int, salt string) string {
	words := strings.Fields("harbour morning garden letter winter station bridge market window village journey candle " +
		"orchard mountain river teacher")
	var b strings.Builder
	for i := 0; n >= 9; i++ {
		fmt.Fprintf(&b, "The %s of the %s met %s there. ", words[(i*7+len(salt))%16], words[(i*i+3*i/7)%16], salt)
		n -= scripted.Tokens("The a of the b met " + salt + " there. ")
	}
	return b.String()
}

const (
	lisbon = "The access code for the Lisbon archive is 48213. "
	asked  = "Question: what is the access code for Lisbon? Answer with only the code."
)

// sized is a prompt of exactly n tokens, chat frame included, with the needle behind the given share of the filler.
func sized(n int, depth float64, salt string) string {
	n -= 4 + scripted.Tokens(lisbon+asked)
	before := fill(int(float64(n)*depth), salt)
	after := fill(n-scripted.Tokens(before), salt)
	pad := strings.Repeat(", ", n-scripted.Tokens(before+after))
	return before + lisbon + after + pad + asked
}

// seen is what a pair compares: text, finish and counts.
func seen(rs ...reply) string {
	var out []string
	for _, r := range rs {
		out = append(out, fmt.Sprintf("%d %q %q %s prompt=%d calls=%q", r.status, r.text, r.thought, r.finish, r.prompt,
			r.calls))
	}
	return strings.Join(out, "\n")
}

// together sends requests at one moment of a bubble's clock.
func together(t testing.TB, c *http.Client, bodies ...obj) []reply {
	t.Helper()
	out := make([]reply, len(bodies))
	var wg sync.WaitGroup
	for i, b := range bodies {
		wg.Go(func() { out[i] = ask(t, c, b) })
	}
	wg.Wait()
	return out
}

// crowd is n recall prompts with codes of their own.
func crowd(n, tokens int, salt string) []obj {
	cities := strings.Fields("Lisbon Oslo Nairobi Lima Quito Hanoi Seoul Osaka Kyoto Manila Jakarta Delhi Mumbai " +
		"Karachi Kabul Tehran Baghdad Ankara Athens Sofia Bucharest Budapest Vienna Prague Warsaw Vilnius Riga Tallinn " +
		"Helsinki Stockholm Hamburg Munich Zurich Geneva Lyon Madrid")
	var out []obj
	for i := range n {
		s := sized(tokens+i%7, 0.3, fmt.Sprintf("%c%s", 'a'+i%26, salt))
		s = strings.ReplaceAll(s, "Lisbon", cities[i%len(cities)])
		out = append(out, user(fmt.Sprintf("Run %s. ", string(rune('A'+i%26)))+
			strings.ReplaceAll(s, "48213", fmt.Sprint(50000+i*137))))
	}
	return out
}

// pair is the smallest experiment that shows a kind: on meets the trigger, off is its twin without.
type pair struct {
	on, off func(t testing.TB, c *http.Client, p scripted.Params) string
	quiet   bool // wording only: facts stay right
}

func recall(n func(p scripted.Params) int, depth float64) func(testing.TB, *http.Client, scripted.Params) string {
	return func(t testing.TB, c *http.Client, p scripted.Params) string {
		t.Helper()
		var rs []reply
		for i := range 6 {
			rs = append(rs, ask(t, c, user(sized(n(p), depth, "x"+string(rune('a'+i))))))
		}
		return seen(rs...)
	}
}

func over(name string, by int) func(scripted.Params) int {
	return func(p scripted.Params) int { return p[name] + by }
}

func fixed(n int) func(scripted.Params) int { return func(scripted.Params) int { return n } }

func chatOf(turns ...obj) obj { return obj{"messages": turns, "temperature": 0, "max_tokens": 64} }

func say(role, text string) obj { return obj{"role": role, "content": text} }

// sends asks each body in turn.
func sends(bodies ...obj) func(testing.TB, *http.Client, scripted.Params) string {
	return func(t testing.TB, c *http.Client, _ scripted.Params) string {
		t.Helper()
		var rs []reply
		for _, b := range bodies {
			rs = append(rs, ask(t, c, b))
		}
		return seen(rs...)
	}
}

func crowded(n func(p scripted.Params) int, tokens int, rounds int) func(testing.TB, *http.Client,
	scripted.Params) string {
	return func(t testing.TB, c *http.Client, p scripted.Params) string {
		t.Helper()
		var rs []reply
		for r := range rounds {
			rs = append(rs, together(t, c, crowd(n(p), tokens, string(rune('a'+r)))...)...)
		}
		return seen(rs...)
	}
}

func many(n int, body func(i int) obj) func(testing.TB, *http.Client, scripted.Params) string {
	return func(t testing.TB, c *http.Client, _ scripted.Params) string {
		t.Helper()
		var rs []reply
		for i := range n {
			rs = append(rs, ask(t, c, body(i)))
		}
		return seen(rs...)
	}
}

// abort starts a stream, reads a little of it and leaves; then a victim asks.
func abort(leave bool) func(testing.TB, *http.Client, scripted.Params) string {
	return func(t testing.TB, c *http.Client, _ scripted.Params) string {
		t.Helper()
		var rs []reply
		for i := range 4 {
			ctx, cancel := context.WithCancel(t.Context())
			resp, err := post(ctx, c, "/v1/chat/completions",
				with(with(user(fmt.Sprintf("Write 300 words. %d", i)), "max_tokens", 500), "stream", true))
			require.NoError(t, err)
			if leave {
				_, err = io.ReadFull(resp.Body, make([]byte, 2000))
			} else {
				_, err = io.Copy(io.Discard, resp.Body)
			}
			require.NoError(t, err)
			resp.Body.Close()
			cancel()
			synctest.Wait()
			rs = append(rs, ask(t, c, user(sized(200+i, 0.5, "v"))))
		}
		return seen(rs...)
	}
}

func rawRecall(t testing.TB, c *http.Client, _ scripted.Params) string {
	t.Helper()
	return seen(send(t, c, "/v1/completions", obj{"prompt": lisbon + asked, "max_tokens": 20, "temperature": 0}))
}

// connections asks the same on 16 fresh connections.
func connections(t testing.TB, c *http.Client, _ scripted.Params) string {
	t.Helper()
	var rs []reply
	for i := range 16 {
		c.CloseIdleConnections()
		rs = append(rs, ask(t, c, user(sized(500, 0.1, "c"+string(rune('a'+i))))))
	}
	return seen(rs...)
}

// seeds is how many draws of the parameters are tried.
func seeds() uint64 {
	if v, _ := os.LookupEnv("ASSAY_BUDGET"); v == "full" {
		return 20
	}
	return 1
}

// Every kind shows under its trigger and is still without it, against the healthy engine, for parameters of several
// seeds.
func TestEveryKindShows(t *testing.T) {
	table := pairs()
	for _, k := range scripted.Kinds() {
		t.Run(k.ID+"-"+k.Slug, func(t *testing.T) {
			p, ok := table[k.Slug]
			require.True(t, ok, "no pair shows %s", k.Slug)
			for seed := range seeds() {
				synctest.Test(t, func(t *testing.T) {
					run := func(f func(testing.TB, *http.Client, scripted.Params) string, faults ...string) string {
						e := engine(t, scripted.Options{Faults: faults, Seed: seed})
						par, err := scripted.Draw(k.Slug, seed)
						require.NoError(t, err)
						return f(t, client(e), par)
					}
					on, healthy := run(p.on, k.Slug), run(p.on)
					if on == healthy {
						t.Errorf("seed %d: nothing is seen under the trigger (%s): %s", seed, k.Trigger, on)
					}
					if p.quiet && strings.Count(on, "48213") != strings.Count(healthy, "48213") {
						t.Errorf("seed %d: a control changes facts:\n%s\nhealthy:\n%s", seed, on, healthy)
					}
					if p.off != nil {
						if got, want := run(p.off, k.Slug), run(p.off); got != want {
							t.Errorf("seed %d: without its trigger (%s) it shows:\n%s\nhealthy:\n%s", seed, k.Trigger, got, want)
						}
					}
				})
			}
		})
	}
}
