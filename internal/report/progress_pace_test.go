package report

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestProgressPace: 40 steps that should take 3 s each. They do for 20 of them and take 12 s each from then on: the
// time left is the plan's before the first answer, and a line says when the pace has changed, once.
func TestProgressPace(t *testing.T) {
	c := newClock()
	var b strings.Builder
	p := NewProgress(&b, ProgressOptions{Label: "recall", Total: 40, Cost: 40, Expect: 2 * time.Minute, Now: c.now})
	if got := p.status(); got != "0/40   eta 2 min 00 s" {
		t.Errorf("before the first answer: %q", got)
	}
	for i := range 40 {
		step := 3 * time.Second
		if i >= 20 {
			step *= 4
		}
		c.wind(step)
		p.AddCost(1, 1)
	}
	var said []string
	for line := range strings.Lines(b.String()) {
		if strings.Contains(line, "answers take") {
			said = append(said, strings.TrimSpace(line))
		}
	}
	// 22 steps in, the last 8 are 6 of 3 s and 2 of 12 s, and one more counts as planned: 45/27 s is 1.6 times; 4 steps on
	// 2 and 6 of them: 81/27. What is left is 14 steps of 3 s, 3 times.
	want := []string{"recall       answers take 3.0 times as long as planned: about 2 min 06 s left"}
	if diff := cmp.Diff(want, said); diff != "" {
		t.Errorf("(-want +got):\n%s\nall:\n%s", diff, b.String())
	}
}

// TestProgressPaceHolds: answers that are 30 % slower or faster by turns change nothing.
func TestProgressPaceHolds(t *testing.T) {
	c := newClock()
	var b strings.Builder
	p := NewProgress(&b, ProgressOptions{Label: "recall", Total: 200, Cost: 200, Expect: 10 * time.Minute, Now: c.now})
	for i := range 200 {
		c.wind([]time.Duration{2100 * time.Millisecond, 3900 * time.Millisecond}[i/5%2])
		p.AddCost(1, 1)
	}
	if strings.Contains(b.String(), "answers take") {
		t.Error(b.String())
	}
}
