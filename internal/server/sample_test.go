package server

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestGreedyTakesTheLowestOfTies(t *testing.T) {
	logits := []float64{-1, 3, math.Inf(-1), 3, 2}
	if got := (sampler{}).pick(logits, -1); got != 1 {
		t.Errorf("got token %d, want 1", got)
	}
	if got := (sampler{}).pick(logits, 1); got != 3 {
		t.Errorf("token 1 banned: got %d, want 3", got)
	}
}

// pearson is the chi-square statistic of counts against probabilities.
func pearson(counts []int, probs []float64) float64 {
	n := 0
	for _, c := range counts {
		n += c
	}
	var x float64
	for i, p := range probs {
		if p > 0 {
			d := float64(counts[i]) - float64(n)*p
			x += d * d / (float64(n) * p)
		}
	}
	return x
}

// Draws must follow the softmax at the temperature, cut by top_p. The expected probabilities are worked
// out by hand from weights 8:4:2:1:1 (logits are their logarithms); at temperature 1/2 weights are
// squared. The seeds are fixed, so the test either always passes or never; 27.9 is the chi-square
// quantile at 1e-5 for 4 degrees of freedom, and fewer degrees lie below it.
func TestDrawsFollowTheSoftmax(t *testing.T) {
	logits := []float64{math.Log(4), math.Log(8), math.Log(1), math.Log(2), math.Log(1)}
	for _, row := range []struct {
		name   string
		s      sampler
		banned int
		probs  []float64
	}{
		{"temperature 1", sampler{temperature: 1, topP: 1}, -1, []float64{4. / 16, 8. / 16, 1. / 16, 2. / 16, 1. / 16}},
		{"temperature 1/2", sampler{temperature: .5, topP: 1}, -1, []float64{16. / 86, 64. / 86, 1. / 86, 4. / 86, 1. / 86}},
		{"top_p 0.8 keeps three", sampler{temperature: 1, topP: .8}, -1, []float64{4. / 14, 8. / 14, 0, 2. / 14, 0}},
		{"top_p 0.75 keeps two exactly", sampler{temperature: 1, topP: .7499}, -1, []float64{4. / 12, 8. / 12, 0, 0, 0}},
		{"tiny top_p is greedy", sampler{temperature: 1, topP: 1e-9}, -1, []float64{0, 1, 0, 0, 0}},
		{"top_p counts what is allowed", sampler{temperature: 1, topP: .74}, 1, []float64{4. / 6, 0, 0, 2. / 6, 0}},
		{"banned best", sampler{temperature: 1, topP: 1}, 1, []float64{4. / 8, 0, 1. / 8, 2. / 8, 1. / 8}},
	} {
		t.Run(row.name, func(t *testing.T) {
			row.s.rng = rand.New(rand.NewPCG(1, 2))
			counts := make([]int, len(logits))
			for range 20000 {
				counts[row.s.pick(logits, row.banned)]++
			}
			for i, p := range row.probs {
				if p == 0 && counts[i] > 0 {
					t.Errorf("token %d was drawn %d times and must not be", i, counts[i])
				}
			}
			if x := pearson(counts, row.probs); x > 27.9 {
				t.Errorf("counts %v do not follow %v: chi-square %.1f", counts, row.probs, x)
			}
			// The planted fault: another distribution must be told apart.
			if pearson(counts, []float64{.2, .2, .2, .2, .2}) < 27.9 {
				t.Errorf("the test cannot tell %v from uniform", counts)
			}
		})
	}
}

func TestSeeds(t *testing.T) {
	draw := func(p *params, index int) []int {
		s := newSampler(p, index)
		out := make([]int, 64)
		for i := range out {
			out[i] = s.pick(make([]float64, 100), -1)
		}
		return out
	}
	seed, other := int64(-5), int64(6)
	p := &params{temperature: 1, topP: 1, seed: &seed}
	if !slices.Equal(draw(p, 0), draw(p, 0)) {
		t.Error("equal seeds draw different tokens")
	}
	if slices.Equal(draw(p, 0), draw(&params{temperature: 1, topP: 1, seed: &other}, 0)) {
		t.Error("different seeds draw equal tokens")
	}
	if slices.Equal(draw(p, 0), draw(p, 1)) {
		t.Error("two prompts of a request draw equal tokens")
	}
	free := &params{temperature: 1, topP: 1}
	if slices.Equal(draw(free, 0), draw(free, 0)) {
		t.Error("requests without a seed draw equal tokens")
	}
	if newSampler(&params{temperature: 1e-6}, 0).rng != nil {
		t.Error("a temperature that stands for 0 must be greedy")
	}
}

func TestLogSumExp(t *testing.T) {
	// Closed forms: n equal values give x + log n; far values vanish; shifts carry over.
	for name, row := range map[string]struct {
		x    []float64
		want float64
	}{
		"one":       {[]float64{-3}, -3},
		"overflow":  {[]float64{1000, 1000}, 1000 + math.Ln2},
		"underflow": {[]float64{-1000, -1000, -1000, -1000}, -1000 + 2*math.Ln2},
		"far":       {[]float64{0, math.Inf(-1), -800}, 0},
	} {
		if got := logSumExp(row.x); math.Abs(got-row.want) > math.Abs(row.want)*0x1p-52 {
			t.Errorf("%s: got %v, want %v", name, got, row.want)
		}
	}
}

func TestTopN(t *testing.T) {
	got := topN([]float64{1, 5, 5, 0}, 0, 3)
	want := []ranked{{1, 5}, {2, 5}, {0, 1}}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := topN([]float64{1, 2}, 0, 20); len(got) != 2 {
		t.Errorf("20 of 2: got %d", len(got))
	}
}

func TestCheckRow(t *testing.T) {
	for name, row := range map[string]struct {
		x  []float64
		ok bool
	}{
		"plain": {[]float64{1, 2}, true}, "one masked": {[]float64{math.Inf(-1), 2}, true},
		"nan": {[]float64{1, math.NaN()}, false}, "inf": {[]float64{1, math.Inf(1)}, false},
		"short": {[]float64{1}, false}, "all masked": {[]float64{math.Inf(-1), math.Inf(-1)}, false},
	} {
		if err := checkRow(row.x, 2, 0); (err == nil) != row.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}
