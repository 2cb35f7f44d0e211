package fidelity_test

import (
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fidelity/internal/recall"
	"github.com/assay-suite/assay/internal/suite"
)

// answered makes the answers to one prompt: o right, x wrong by 5 nats, h right and t wrong by little. Every shift-th
// answer has another margin; 0 is none.
func answered(how string, shift int) []recall.Observation {
	var out []recall.Observation
	for i, c := range how {
		m := 10.0
		if shift > 0 && i%shift == 0 {
			m = 10.25
		}
		switch c {
		case 'x':
			m = -5
		case 't':
			m = -0.1
		case 'h': // right by as little
			m = 0.2
		}
		out = append(out, recall.Observation{
			Measured: true, Hit: c == 'o' || c == 'h', Positions: []recall.Position{{Token: "4", Margin: m}},
		})
	}
	return out
}

// Identical questions on fresh connections. The exact 99 % lower bounds of the wrong share (Clopper and Pearson, by
// bisection of the binomial tail) are 0.147 for 8 of 22, 0.094 for 5 of 15, 0.261 for 9 of 16 and 0.005 for 2 of 28; a
// fault is above 5 %.
func TestJudgeReplicas(t *testing.T) {
	for name, row := range map[string]struct {
		how      []string
		shift    int
		standing recall.Standing
		period   int
		says     string
		values   int
	}{
		"alike":              {[]string{"oooooo", "oooooo"}, 0, recall.Held, 0, "12 identical questions", 0},
		"a weak model":       {[]string{"xxxxxx", "oooooo"}, 0, recall.Held, 0, "12 identical questions", 0},
		"two by turns":       {[]string{"oxoxoxoxoxoxoxox", "oooooo"}, 0, recall.Regressed, 2, "more of 2 replicas", 0},
		"one of three":       {[]string{"ooxooxooxooxoox"}, 0, recall.Regressed, 3, "more of 3 replicas", 0},
		"at random":          {[]string{"oxxoxoooxxoxxoox"}, 0, recall.Regressed, 0, "wrong; replicas that differ", 0},
		"misses":             {[]string{"ooooooooooooooxx", "oooooo", "oooooo"}, 0, recall.Inconclusive, 0, "2 of 28", 0},
		"wrong by little":    {[]string{"ototootototootto"}, 0, recall.Regressed, 0, "replicas that differ", 0},
		"a tie by noise":     {[]string{"hthtthhththtthht"}, 0, recall.Inconclusive, 0, "hang by less than 1 nat", 0},
		"nobody answered":    {[]string{"", ""}, 0, recall.Absent, 0, "", 0},
		"two sets of values": {[]string{"oooooooooo"}, 2, recall.Held, 0, "take 2 values", 2},
		"noise in values":    {[]string{"oooooo"}, 5, recall.Held, 0, "6 identical questions", 0},
	} {
		t.Run(name, func(t *testing.T) {
			var by [][]recall.Observation
			for _, how := range row.how {
				by = append(by, answered(how, row.shift))
			}
			r, err := recall.JudgeReplicas(by)
			require.NoError(t, err)
			assert.Equal(t, row.standing, r.Standing, r.Text)
			assert.Equal(t, row.period, r.Period, r.Text)
			assert.Contains(t, r.Text, row.says)
			assert.Equal(t, row.values, r.Values, r.Text)
		})
	}
}

// router is a load balancer: chats go to one engine after the other, as those of a strict round robin do, whatever it
// does with the requests that count tokens.
type router struct {
	engines []*engine
	n       atomic.Int64
}

func (r *router) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	n := r.n.Load()
	if q.URL.Path == "/v1/chat/completions" {
		n = r.n.Add(1)
	}
	r.engines[int(n)%len(r.engines)].ServeHTTP(w, q)
}

// One broken replica of two MUST be a fault that is called one of replicas, before any place in the context is blamed;
// two sound ones MUST pass.
func TestReplicasLive(t *testing.T) {
	for name, row := range map[string]struct {
		second *engine
		code   suite.Code
		says   string
	}{
		"sound":    {&engine{}, suite.Pass, "8 identical questions on connections of their own are answered alike"},
		"far-lost": {&engine{answer: farLost}, suite.Regression, "one or more of 2 replicas that take turns"},
	} {
		t.Run(name, func(t *testing.T) {
			j, out := onFake(t, &router{engines: []*engine{{}, row.second}})
			d, err := j.Run(t.Context())
			require.NoError(t, err)
			assert.Equal(t, row.code, d.Judgement.Code, d.Judgement.Verdict)
			assert.Contains(t, out.String(), row.says)
			if row.code == suite.Regression {
				assert.Contains(t, d.Judgement.Verdict, row.says)
			}
		})
	}
}
