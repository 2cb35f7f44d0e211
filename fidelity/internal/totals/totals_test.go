package totals_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fidelity/internal/totals"
	_ "github.com/assay-suite/assay/internal/golden" // registers -update
	"github.com/assay-suite/assay/internal/suite"
)

// run is a run of about 450 answers, each wrong with the chance that wrong gives.
func run(seed uint64, wrong func(a totals.Answer) float64) []totals.Answer {
	r := rand.New(rand.NewPCG(seed, 77))
	var out []totals.Answer
	ask := func(n int, f func() totals.Answer) {
		for range n {
			a := f()
			a.Measured, a.Order, a.Conn = true, len(out)+1, fmt.Sprint("c", r.IntN(4))
			a.Reported = a.Tokens + r.IntN(20)
			a.Wrong = r.Float64() < wrong(a)
			out = append(out, a)
		}
	}
	needle := func(f totals.Form, tokens int) func() totals.Answer {
		return func() totals.Answer {
			return totals.Answer{Form: f, Task: "needle", Tokens: tokens, Distance: r.Float64()}
		}
	}
	ask(50, needle(totals.Short, 128))
	for _, n := range []int{512, 1024, 2048, 4096, 8192} {
		ask(40, needle(totals.Long, n))
	}
	for range 24 {
		ask(1, needle(totals.Cold, 1024))
		ask(3, needle(totals.Warm, 1024))
	}
	ask(80, needle(totals.Concurrent, 512))
	ask(24, func() totals.Answer {
		return totals.Answer{Form: totals.Streamed, Task: "copy", Tokens: 90, Distance: 1}
	})
	ask(24, func() totals.Answer { return totals.Answer{Form: totals.Tools, Task: "tools", Tokens: 90, Distance: 1} })
	return out
}

func judge(t *testing.T, answers []totals.Answer, known bool) totals.Result {
	t.Helper()
	r, err := totals.Judge(answers, known)
	require.NoError(t, err)
	return r
}

// declines is recall that falls to 1-share at 8,192 tokens, by a law that is not the one that is fitted.
func declines(share float64) func(totals.Answer) float64 {
	return func(a totals.Answer) float64 {
		odds := share / (1 - share) * math.Pow(float64(a.Tokens)/8192, 1.2)
		return odds / (1 + odds)
	}
}

// A sound server MUST NOT be called a fault, and one that misses little MUST mostly be a pass; one that declines with
// length is neither.
func TestSoundServers(t *testing.T) {
	const servers = 30
	for _, c := range []struct {
		name   string
		wrong  func(totals.Answer) float64
		passes int // at least
	}{
		{"never wrong", func(totals.Answer) float64 { return 0 }, servers},
		{"1 % everywhere", func(totals.Answer) float64 { return 0.01 }, servers * 9 / 10},
		{"3 % everywhere", func(totals.Answer) float64 { return 0.03 }, servers * 3 / 4},
		{"10 % lost at 8 K", declines(0.1), 0},
		{"30 % lost at 8 K", declines(0.3), 0},
		{"60 % lost at 8 K", declines(0.6), 0},
		{"no tools", func(a totals.Answer) float64 {
			if a.Form == totals.Tools {
				return 1
			}
			return 0.005
		}, servers * 9 / 10},
	} {
		passes := 0
		for k := range servers {
			r := judge(t, run(uint64(k), c.wrong), false)
			if !assert.NotEqual(t, suite.Regression, r.Code, "%s, seed %d: %v", c.name, k, r.Text) {
				break
			}
			if r.Code == suite.Pass {
				passes++
			}
		}
		t.Logf("%s: %d of %d pass", c.name, passes, servers)
		assert.GreaterOrEqual(t, passes, c.passes, c.name)
	}
	r := judge(t, run(1, declines(0.6)), false)
	assert.Equal(t, suite.Inconclusive, r.Code)
	assert.Contains(t, r.Text, "recall declines with length; bless a golden")
	assert.Equal(t, suite.Pass, judge(t, run(1, declines(0.6)), true).Code, "a golden knows the decline")
}

// A loss that is spread over all ways of asking, or stands in one of them, MUST be a fault, and named where it can be.
func TestLosses(t *testing.T) {
	one := func(share float64, f totals.Form) func(totals.Answer) float64 {
		return func(a totals.Answer) float64 {
			if a.Form == f {
				return share
			}
			return 0.01
		}
	}
	rare := func(is func(totals.Answer) bool) func(totals.Answer) float64 {
		return func(a totals.Answer) float64 {
			if is(a) {
				return 0.95
			}
			return 0.005
		}
	}
	for _, c := range []struct {
		name  string
		wrong func(totals.Answer) float64
		says  string
	}{
		{"every 4th request", rare(func(a totals.Answer) bool { return a.Order%4 == 0 }), "every 4th request fails"},
		{"every 7th request", rare(func(a totals.Answer) bool { return a.Order%7 == 3 }), "every 7th request fails"},
		{"22 % everywhere", func(totals.Answer) float64 { return 0.22 }, "short questions asked alone"},
		{"30 % everywhere", func(totals.Answer) float64 { return 0.3 }, "short questions asked alone"},
		{"a third of the hits", one(0.33, totals.Warm), "warm answers are wrong"},
		{"half under load", one(0.5, totals.Concurrent), "concurrent answers are wrong"},
		{"one connection", rare(func(a totals.Answer) bool { return a.Conn == "c2" }), "one connection fails (c2)"},
		{"from the 300th on", func(a totals.Answer) float64 {
			if a.Order > 300 {
				return 0.4
			}
			return 0.01
		}, "answers are worse from request"},
		{"a page in four", rare(func(a totals.Answer) bool { return a.Reported%16 == 5 }), " modulo "},
		{"nothing beyond 3,000", rare(func(a totals.Answer) bool { return a.Tokens > 3000 }), "no smooth decline"},
	} {
		found := 0
		const runs = 10
		for k := range runs {
			r := judge(t, run(uint64(100+k), c.wrong), false)
			if r.Code == suite.Regression && assert.Contains(t, r.Lines(), c.says, "%s, seed %d", c.name, k) {
				found++
			}
		}
		assert.GreaterOrEqual(t, found, runs-1, "%s: a fault in %d of %d runs", c.name, found, runs)
	}
}

// Every answer MUST be counted under its form, with its interval, and what was not measured apart.
func TestLines(t *testing.T) {
	answers := run(1, func(totals.Answer) float64 { return 0 })
	answers[0].Wrong, answers[1].Measured = true, false
	r := judge(t, answers, false)
	assert.Equal(t, totals.Count{Form: totals.Short, Asked: 49, Wrong: 1, NotJudged: 1}, r.Forms[0])
	// Wilson's interval of 1 in 49, by its formula: (p + z²/2n ± z √(p(1-p)/n + z²/4n²)) / (1 + z²/n).
	assert.Contains(t, r.Lines(), "short      49 asked, 1 wrong (2.0 %, 0.4 % to 10.7 %), 1 not measured")
	assert.Equal(t, suite.Inconclusive, judge(t, nil, false).Code, "nothing asked is no pass")
}

// Many wrong answers MUST never be a pass, whatever was left out.
func TestTooFewToTell(t *testing.T) {
	var answers []totals.Answer
	for i := range 60 {
		answers = append(
			answers,
			totals.Answer{Form: totals.Long, Task: "needle", Tokens: 2048, Measured: true, Wrong: i%7 == 0},
		)
	}
	assert.NotEqual(t, suite.Pass, judge(t, answers, false).Code)
}
