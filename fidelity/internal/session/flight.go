package session

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/assay-suite/assay/fidelity/internal/recall"
	"github.com/assay-suite/assay/internal/endpoint"
	"github.com/assay-suite/assay/internal/report"
)

// beginFlight shows from the first second that servers are asked: a slow one answers its first questions in minutes.
// For each of n servers there are the steps of its survey and so many questions.
func beginFlight(live io.Writer, style report.Style, hosts string, n, questions int) *report.Progress {
	if live == nil {
		return nil
	}
	if !style.Live {
		fmt.Fprintf(live, "pre-flight   asks %s what it can do\n", hosts)
	}
	return report.NewProgress(live, report.ProgressOptions{
		Label: "pre-flight", Total: n * (endpoint.SurveySteps + questions), Style: style,
	})
}

// measure finds out how long questions take: by the given rate, by questions, or, where they fail, by the pre-flight.
// An error is the end of ctx, or a server that went away.
func (j Job) measure(ctx context.Context, d *Done, nonce string, flightTook time.Duration, bar *report.Progress) error {
	per := func(tokensASecond float64) recall.Pace {
		return recall.Pace{Long: 1000 / tokensASecond, Beyond: 1000, Parallel: 1}
	}
	if j.Rate > 0 {
		d.pace = per(j.Rate)
		return nil
	}
	a := j.asker(d, nonce+"-pace", 0)
	err := a.Prepare(ctx)
	if err == nil {
		d.pace, err = a.Measure(ctx, d.Plan, j.Parallel, func() { bar.Add(1) })
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case endpoint.IsUnreachable(err):
		return err
	case err != nil: // what it failed of, the plan's own questions will show; about ten prompts of two hundred tokens
		d.pace = per(float64(d.Flight.Requests*200) / max(flightTook.Seconds(), 0.001))
	default:
		d.measured = true
	}
	return nil
}

func (j Job) paceWords(d Done) string {
	switch p := d.pace; {
	case j.Rate > 0:
		return " on 2 cores"
	case d.measured:
		return fmt.Sprintf(", as %d questions of %d tokens took %s together and as many of %d %s", p.Parallel, p.At,
			brief(p.Short), p.Beyond, brief(p.Long))
	}
	return " at the pre-flight's speed"
}

// brief prints seconds with two digits: 0.25 s, 3.1 s, 42 s.
func brief(s float64) string {
	if s < 0.001 {
		return "1 ms"
	}
	if s < 0.1 {
		return fmt.Sprintf("%.0f ms", 1000*s)
	}
	if s < 10 {
		return fmt.Sprintf("%.1f s", s)
	}
	return duration(s)
}
