package job

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"

	"github.com/assay-suite/assay/goldens"
	"github.com/assay-suite/assay/internal/suite"
	"github.com/assay-suite/assay/kernels_test/bench"
)

// insideRange is what the emulation of a contract does inside the model: goldens/kernels/inside.json, derived once by
// TestInsideRanges over insidePrompts prompts.
type insideRange struct {
	Lost  int     `json:"lost"`  // needles of insidePrompts
	Shift float64 `json:"shift"` // nats, 99.9 % range of the shift of a prompt's smallest margin
}

// insideFloor is the shift in nats that every kernel may make: five times what fp32 does against float64 in any order
// (2e-5), since a range is derived from one order of sums. The smallest fault of the catalogue moves margins by 0.01.
const insideFloor = 1e-4

// insidePrompts is how many prompts a range is derived from.
const insidePrompts = 24

// ShiftRange is the one-sided tolerance limit that covers 99.9 % of shifts with 95 % confidence, for shifts whose
// logarithms are Gaussian: exp(mean + k sd), with Natrella's approximation of the factor k (NBS Handbook 91, 2-13),
// which is on the safe side. Shifts below floor count as floor: what rounding alone does, which is 2e-5 nats for fp32
// against float64 in the model (ARCHITECTURE.md).
func ShiftRange(shifts []float64, floor float64) float64 {
	n := float64(len(shifts))
	mean, square := 0.0, 0.0
	for _, s := range shifts {
		v := math.Log(max(s, floor))
		mean += v / n
		square += v * v / n
	}
	const coverage, confidence = 3.0902, 1.6449 // normal quantiles of 0.999 and 0.95
	a := 1 - confidence*confidence/(2*(n-1))
	b := coverage*coverage - confidence*confidence/n
	k := (coverage + math.Sqrt(coverage*coverage-a*b)) / a
	sd := math.Sqrt(max(square-mean*mean, 0) * n / (n - 1))
	return math.Exp(mean + k*sd)
}

// insideRanges reads the committed ranges, by "op contract".
func insideRanges() (map[string]insideRange, error) {
	raw, err := goldens.FS.ReadFile("kernels/inside.json")
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]insideRange{}, nil // margins are then said not to be judged
	}
	if err != nil {
		return nil, fmt.Errorf("the ranges of contracts inside the model cannot be read: %w", err)
	}
	var file struct {
		Cases map[string]insideRange `json:"cases"`
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		return nil, fmt.Errorf("goldens/kernels/inside.json cannot be read: %w", err)
	}
	return file.Cases, nil
}

// judgeInside puts the range of the contract that an operator was found to follow beside what it does in the model.
func judgeInside(lines []Inside, all []Judged) error {
	ranges, err := insideRanges()
	if err != nil {
		return err
	}
	for i := range lines {
		l := &lines[i]
		at := slices.IndexFunc(all, func(j Judged) bool {
			return j.Facet.Op == l.Op && j.Facet.Mode == "" && j.State != Fault && j.Count(suite.Passed) > 0 &&
				readsFormat(j.Facet, l.DType)
		})
		if at < 0 {
			continue
		}
		l.Contract = all[at].Contract
		if r, ok := ranges[l.Op+" "+l.Contract]; ok {
			r.Shift = max(r.Shift, insideFloor)
			l.Range = &r
		}
	}
	return nil
}

func readsFormat(f bench.Facet, dtype string) bool {
	return f.Format == dtype || dtype == bench.F32 && f.Op == "indexer_logits" && f.Format == bench.BF16
}

// lost says what an operator loses inside the model beyond what its contract explains; nothing where it loses nothing.
func (i Inside) lost() string {
	if i.Err != nil || i.Recall.Of == 0 {
		return ""
	}
	may := 0
	if i.Range != nil && i.Range.Lost > 0 { // the same share, and one more for luck
		may = i.Range.Lost*i.Recall.Of/insidePrompts + 1
	}
	if gone := i.Exact.Found - i.Recall.Found; gone > may {
		return fmt.Sprintf("%s loses %d of %d needles that the exact model finds", i.Op, gone, i.Exact.Found)
	}
	if i.Range != nil && i.Shift > i.Range.Shift {
		return fmt.Sprintf("%s moves margins by %.2g nats; the emulation of %s stays below %.2g in 99.9 %% of prompts", i.Op,
			i.Shift, i.Contract, i.Range.Shift)
	}
	return ""
}
