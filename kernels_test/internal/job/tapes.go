package job

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/assay-suite/assay/internal/suite"
	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/kernels_test/internal/tape"
)

// keepAccepted, keepRejected are how many rows of a facet a tape keeps, keepBytes how many bytes of outputs in all.
const (
	keepAccepted, keepRejected = 2, 3
	keepBytes                  = 224 << 10
)

// Taper picks rows of facets and writes them as a tape.
type Taper struct {
	Folder string
	By     bench.Candidate // the second reference, which vouches for every row

	rows []taped
}

type taped struct {
	row   tape.Row
	bytes int
}

// See keeps a facet's smallest rows, the rejected ones apart: one a scenario, as far as there are as many.
func (t *Taper) See(ctx context.Context, j Judged, can bench.Capability) error {
	accepted, rejected := 0, 0
	var scenarios []string
	order := make([]int, 0, len(j.Rows))
	for i, r := range j.Rows {
		if len(r.taped) > 0 && r.Outcome != suite.Skip && (r.tapedBytes > 0 || r.Outcome == suite.Failed) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(j.Rows[a].tapedBytes, j.Rows[b].tapedBytes) })
	for _, i := range order {
		r := j.Rows[i]
		kept, limit := &accepted, keepAccepted
		if r.Outcome == suite.Failed {
			kept, limit = &rejected, keepRejected
		}
		if *kept == limit || slices.Contains(scenarios, r.Case.Scenario.ID) || r.Report.Nondeterministic {
			continue
		}
		vouched, err := tape.Vouch(ctx, r.Case, t.By)
		if err != nil {
			return fmt.Errorf("case %q cannot be vouched for: %w", r.Case.ID, err)
		}
		if vouched.By == "" {
			continue
		}
		*kept++
		scenarios = append(scenarios, r.Case.Scenario.ID)
		t.rows = append(t.rows, taped{tape.Row{
			Case: r.Case.ID, Op: r.Case.Family.Op, Facet: j.Facet.String(), Contract: r.Case.Contract.Name, MadeFor: can.MadeFor,
			Path: r.Report.Path, Accepted: r.Outcome == suite.Passed, Gate: r.Report.Gate(), Rho: finite(r.Report.Rho()),
			Vouched: vouched, Answers: r.taped,
		}, r.tapedBytes})
	}
	return nil
}

// Write writes the tape: rejected rows first, then the smallest, up to keepBytes.
func (t *Taper) Write(h bench.Hello, taken Outcome) (string, error) {
	slices.SortStableFunc(t.rows, func(a, b taped) int {
		return cmp.Or(cmp.Compare(boolInt(a.row.Accepted), boolInt(b.row.Accepted)), cmp.Compare(a.bytes, b.bytes))
	})
	out := tape.Tape{
		Worker: strings.ReplaceAll(h.Name, "/", "-"), Release: h.Version, Device: h.Device, Seed: suite.RandDescription,
		Taken: taken.Started.UTC(),
	}
	left := keepBytes
	for _, r := range t.rows {
		if left -= r.bytes; left < 0 {
			fmt.Fprintf(os.Stderr, "the tape is full: %d of %d rows are kept\n", len(out.Rows), len(t.rows))
			break
		}
		out.Rows = append(out.Rows, r.row)
	}
	slices.SortFunc(out.Rows, func(a, b tape.Row) int { return cmp.Compare(a.Case, b.Case) })
	return out.Write(t.Folder)
}

// finite is a number that JSON has.
func finite(v float64) float64 {
	if v != v || v > 1e300 {
		return 1e300
	}
	return v
}
