package report

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
)

// Progress shows how far a run is. On a terminal it is one line that overwrites
// itself and is gone after Done; elsewhere it is an occasional whole line. Its methods
// may be called from any goroutine, and on a nil *Progress, which shows nothing.
//
// Requests differ in cost by orders of magnitude (a prompt of 128 tokens and one of
// 131,072), so the time left is estimated from cost, not from the count, where the
// caller gives costs. Where it also says how long all of it is expected to take, the
// time left follows the pace of the last answers, and a whole line says so when that
// pace has changed.
type Progress struct {
	mu        sync.Mutex
	w         io.Writer
	o         ProgressOptions
	bar       *progressbar.ProgressBar // nil: plain lines
	theme     progressbar.Theme
	start     time.Time
	lastLine  time.Time
	lastTenth int
	lastDraw  time.Time
	done      int
	drawn     int // steps the bar knows of
	cost      float64
	recent    []stage // of the last steps, oldest first
	said      float64 // pace that the reader knows of: time used over time expected
	settled   int     // steps since it is another
	closed    bool
}

// ProgressOptions describes a progress line. Total is the number of steps, Cost their
// summed cost in any unit (0: every step costs the same), Expect how long they should
// take (0: not known). Now is the clock, nil for the wall clock.
type ProgressOptions struct {
	Label  string
	Total  int
	Cost   float64
	Expect time.Duration
	Style  Style
	Now    func() time.Time
}

// NewProgress starts a progress display on w, normally os.Stderr with StyleFor of it.
// If w is an *os.File the bar fits itself to the window.
func NewProgress(w io.Writer, o ProgressOptions) *Progress {
	if o.Now == nil {
		o.Now = time.Now
	}
	p := &Progress{w: w, o: o, start: o.Now(), said: 1}
	p.lastLine, p.recent = p.start, []stage{{p.start, 0}}
	if o.Style.Live && o.Total > 0 {
		p.theme = progressbar.Theme{Saucer: "█", SaucerPadding: "░"}
		if o.Style.ASCII {
			p.theme = progressbar.Theme{Saucer: "=", SaucerPadding: "."}
		}
		p.bar = progressbar.NewOptions(o.Total,
			progressbar.OptionSetWriter(w),
			progressbar.OptionSetDescription(padRight(oneLine(o.Label), labelWidth-2)),
			progressbar.OptionSetTheme(p.theme),
			progressbar.OptionSetWidth(34),
			progressbar.OptionSetPredictTime(false),
			progressbar.OptionSetElapsedTime(false),
			progressbar.OptionUseANSICodes(true), // erases by line, so a window made narrower does not wrap
			progressbar.OptionClearOnFinish(),
		)
		p.render(true)
	}
	return p
}

// Add reports n more steps done.
func (p *Progress) Add(n int) { p.AddCost(n, 0) }

// AddCost reports n more steps done, of cost in the unit of ProgressOptions.Cost.
func (p *Progress) AddCost(n int, cost float64) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	n = max(0, min(n, p.o.Total-p.done)) // the bar refuses more than its maximum
	p.done += n
	p.cost += max(cost, 0)
	p.pace()
	if p.bar == nil {
		p.plainLine(p.done == p.o.Total && n > 0)
		return
	}
	p.render(false)
}

// Interrupt clears the bar, runs f, which may print whole lines to the same
// terminal, and draws the bar again.
func (p *Progress) Interrupt(f func()) {
	if p == nil {
		f()
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar == nil || p.closed {
		f()
		return
	}
	_ = p.bar.Clear()
	f()
	p.render(true)
}

// Done removes the bar, so that what is printed next starts on a clean line. It may
// be called twice; later Adds are ignored.
func (p *Progress) Done() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	p.closed = true
	if p.bar != nil {
		_ = p.bar.Clear()
		_ = p.bar.Exit()
	}
}

// redraw is the shortest time between two drawings of the bar that nobody forced.
const redraw = 100 * time.Millisecond

// render draws the bar with the current count and time left, not more often than
// every redraw unless now is set. The caller holds mu.
func (p *Progress) render(now bool) {
	t := p.o.Now()
	if !now && t.Sub(p.lastDraw) < redraw {
		return
	}
	p.lastDraw = t
	p.theme.BarEnd = "  " + p.status()
	progressbar.OptionSetTheme(p.theme)(p.bar)
	if p.done < p.o.Total { // at its maximum the bar would end itself; Done does that
		_ = p.bar.Add(p.done - p.drawn) // a display that cannot be written must not end the run
		p.drawn = p.done
	}
	_ = p.bar.RenderBlank()
}

// status is "68/79   eta 9 s", and the time used once all steps are done.
func (p *Progress) status() string {
	s := fmt.Sprintf("%d/%d", p.done, p.o.Total)
	used := p.o.Now().Sub(p.start)
	if p.done >= p.o.Total {
		return s + "   in " + seconds(used)
	}
	share := float64(p.done) / float64(p.o.Total)
	if p.o.Cost > 0 {
		share = min(p.cost/p.o.Cost, 1)
	}
	if p.o.Expect > 0 {
		return s + "   eta " + seconds(p.left())
	}
	if share <= 0 {
		return s + "   eta unknown"
	}
	return s + "   eta " + seconds(time.Duration(float64(used)*(1-share)/share))
}

// plainLine prints a line at every tenth of the way and whenever 5 s have passed
// without one (30 s after the first minute: an hour must not fill a log), but no two
// within a second, except the last.
func (p *Progress) plainLine(last bool) {
	if p.o.Total <= 0 {
		return
	}
	now := p.o.Now()
	since := now.Sub(p.lastLine)
	quiet := 5 * time.Second
	if now.Sub(p.start) > time.Minute {
		quiet = 30 * time.Second
	}
	tenth := 10 * p.done / p.o.Total
	due := since >= quiet || tenth > p.lastTenth && since >= time.Second
	if !due && !last {
		return
	}
	p.lastLine, p.lastTenth = now, tenth
	_, _ = io.WriteString(p.w, padRight(oneLine(p.o.Label), labelWidth)+p.status()+"\n")
}

// seconds prints a duration as people say it: "9 s", "4 min 05 s", "2 h 10 min".
func seconds(d time.Duration) string {
	s := int(d.Round(time.Second) / time.Second)
	switch {
	case s < 100:
		return fmt.Sprintf("%d s", max(s, 0))
	case s < 3600:
		return fmt.Sprintf("%d min %02d s", s/60, s%60)
	}
	return fmt.Sprintf("%d h %02d min", s/3600, s%3600/60)
}
