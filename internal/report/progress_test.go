package report

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// clock is a hand-wound clock.
type clock struct{ t time.Time }

func (c *clock) now() time.Time       { return c.t }
func (c *clock) wind(d time.Duration) { c.t = c.t.Add(d) }
func newClock() *clock                { return &clock{time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)} }

func plain(c *clock, n int) (*Progress, *strings.Builder) {
	var b strings.Builder
	return NewProgress(&b, ProgressOptions{Label: "recall", Total: n, Now: c.now}), &b
}

// TestProgressPlain: a step a second, 20 of them: a line at every tenth, whole lines
// only, and the last one says how long it took.
func TestProgressPlain(t *testing.T) {
	c := newClock()
	p, out := plain(c, 20)
	for range 20 {
		c.wind(time.Second)
		p.Add(1)
	}
	p.Done()
	const want = `recall       2/20   eta 18 s
recall       4/20   eta 16 s
recall       6/20   eta 14 s
recall       8/20   eta 12 s
recall       10/20   eta 10 s
recall       12/20   eta 8 s
recall       14/20   eta 6 s
recall       16/20   eta 4 s
recall       18/20   eta 2 s
recall       20/20   in 20 s
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("plain progress (-want +got):\n%s", diff)
	}
}

// TestProgressQuiet: fast runs say little, slow ones do not fall silent, long ones do
// not fill the log.
func TestProgressQuiet(t *testing.T) {
	for _, row := range []struct {
		name  string
		step  time.Duration
		total int
		lines int
	}{
		{"whole run within a second", time.Millisecond, 100, 1},
		{"slow steps: one line each", 7 * time.Second, 8, 8},
		// 3,600 steps of 1 s: 12 lines in the first minute (every 5 s), then one
		// every 30 s until 3,600 s, (3600-60)/30 = 118; tenths fall on that grid.
		{"an hour", time.Second, 3600, 130},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := newClock()
			p, out := plain(c, row.total)
			for range row.total {
				c.wind(row.step)
				p.Add(1)
			}
			if got := strings.Count(out.String(), "\n"); got != row.lines {
				t.Errorf("%d lines, want %d", got, row.lines)
			}
		})
	}
}

// TestProgressETAByCost: after the cheap half of the requests, a tenth of the tokens,
// 10 s have passed, so 90 s are left.
func TestProgressETAByCost(t *testing.T) {
	c := newClock()
	var b strings.Builder
	p := NewProgress(&b, ProgressOptions{Label: "recall", Total: 10, Cost: 1000, Now: c.now})
	c.wind(10 * time.Second)
	p.AddCost(5, 100)
	if want := "recall       5/10   eta 90 s\n"; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}

func TestProgressOverrunAndNil(t *testing.T) {
	c := newClock()
	p, out := plain(c, 3)
	p.Add(7)
	p.Add(-2)
	p.Done()
	p.Done()
	p.Add(1)
	if want := "recall       3/3   in 0 s\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
	var none *Progress
	none.Add(1)
	none.Done()
	ran := false
	none.Interrupt(func() { ran = true })
	if !ran {
		t.Error("Interrupt of a nil progress did not run the function")
	}
	empty, out := plain(c, 0)
	empty.Add(1)
	empty.Done()
	if out.String() != "" {
		t.Errorf("a run of no steps printed %q", out.String())
	}
}

// shown plays text to a one-screen terminal that knows line feed, carriage return and
// the two ways to erase in a line, and returns its lines without trailing blanks.
func shown(text string) []string {
	text = strings.NewReplacer("\x1b[2K", "\x01", "\x1b[0K", "\x02").Replace(text)
	var lines []string
	row, col := []rune{}, 0
	for _, r := range text {
		switch r {
		case '\r':
			col = 0
		case '\x01':
			row = nil
		case '\x02':
			row = row[:min(col, len(row))]
		case '\n':
			lines = append(lines, strings.TrimRight(string(row), " "))
			row, col = nil, 0
		default:
			for len(row) <= col {
				row = append(row, ' ')
			}
			row[col] = r
			col++
		}
	}
	return append(lines, strings.TrimRight(string(row), " "))
}

// TestProgressLive: the bar is drawn with count and time left, lines printed through
// Interrupt come out whole, and after Done nothing of the bar is left on the screen.
func TestProgressLive(t *testing.T) {
	var b strings.Builder
	c := newClock()
	p := NewProgress(&b, ProgressOptions{Label: "recall", Total: 4, Style: Style{Live: true}, Now: c.now})
	for range 3 {
		c.wind(3 * time.Second)
		p.Add(1)
	}
	if last := shown(b.String()); !strings.Contains(last[len(last)-1], "█") ||
		!strings.HasSuffix(last[len(last)-1], "3/4   eta 3 s") ||
		!strings.HasPrefix(last[len(last)-1], "recall      ") {
		t.Errorf("the screen shows %q", last)
	}
	for frame := range strings.SplitSeq(b.String(), "\r") {
		// 34 columns of bar: the count and the filled part must tell the same story.
		full := strings.Count(frame, "█")
		if steps := strings.Count(frame, "1/4")*8 + strings.Count(frame, "2/4")*17 +
			strings.Count(frame, "3/4")*25; full != steps {
			t.Errorf("frame %q has %d filled columns, want %d", frame, full, steps)
		}
	}
	p.Interrupt(func() { b.WriteString("a line\n") })
	p.Add(1)
	p.Done()
	b.WriteString("verdict      no fault found\n")
	if diff := cmp.Diff([]string{"a line", "verdict      no fault found", ""}, shown(b.String())); diff != "" {
		t.Errorf("screen after the run (-want +got):\n%s", diff)
	}
}

// TestProgressConcurrent is for the race detector, and counts that nothing is lost.
func TestProgressConcurrent(t *testing.T) {
	for _, live := range []bool{false, true} {
		var b strings.Builder
		p := NewProgress(&b, ProgressOptions{Label: "recall", Total: 400, Style: Style{Live: live}})
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for range 50 {
					p.Add(1)
					p.Interrupt(func() {})
				}
			})
		}
		wg.Wait()
		p.Done()
		if p.done != 400 {
			t.Errorf("live %v: %d steps counted, want 400", live, p.done)
		}
	}
}

func TestSeconds(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 s", 8600 * time.Millisecond: "9 s", 245 * time.Second: "4 min 05 s", 130 * time.Minute: "2 h 10 min",
		-time.Second: "0 s",
	} {
		if got := seconds(d); got != want {
			t.Errorf("seconds(%v) = %q, want %q", d, got, want)
		}
	}
}
