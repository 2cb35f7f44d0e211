package report

import (
	"fmt"
	"io"
	"time"
)

// stage is where a run stood at a time.
type stage struct {
	at   time.Time
	cost float64
}

// window is how many steps the pace is taken over: enough that what is in flight at once does not shake it, and few
// enough that a change shows. A change is said after settle more steps, when most of the window is of the new pace.
const (
	window = 8
	settle = 4
)

// changed is the ratio of two paces that a reader is told of: an estimate that is off by it is no longer within a
// factor of two once chance is added.
const changed = 1.6

// pace takes note of a step, and says in a line of its own when the pace is no longer the one that was said.
func (p *Progress) pace() {
	if p.o.Expect <= 0 || p.o.Cost <= 0 {
		return
	}
	if p.recent = append(p.recent, stage{p.o.Now(), p.cost}); len(p.recent) > window+1 {
		p.recent = p.recent[1:]
	}
	now, left := p.now(), p.left()
	if ratio := now / p.said; len(p.recent) <= window || ratio < changed && ratio > 1/changed || left < 10*time.Second {
		p.settled = 0
		return
	}
	if p.settled++; p.settled <= settle {
		return
	}
	p.said, p.settled = now, 0
	line := fmt.Sprintf("answers take %.1f times as long as planned: about %s left", now, seconds(left))
	if p.bar != nil {
		_ = p.bar.Clear()
	}
	_, _ = io.WriteString(p.w, padRight(oneLine(p.o.Label), labelWidth)+line+"\n")
	if p.bar != nil {
		p.render(true)
	}
}

// now is the pace of the last steps, time used over time expected. One more step counts as if it had kept the pace that
// was said, so that the first answers alone do not set it.
func (p *Progress) now() float64 {
	first, last := p.recent[0], p.recent[len(p.recent)-1]
	unit := float64(p.o.Expect) / p.o.Cost
	want, prior := (last.cost-first.cost)*unit, float64(p.o.Expect)/float64(max(p.o.Total, 1))
	return (float64(last.at.Sub(first.at)) + prior*p.said) / (want + prior)
}

// left is the time that the rest takes at the pace of the last steps.
func (p *Progress) left() time.Duration {
	return time.Duration(p.now() * float64(p.o.Expect) * max(0, 1-p.cost/p.o.Cost))
}
