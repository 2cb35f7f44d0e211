package exact

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/endpoint"
	"github.com/assay-suite/assay/internal/golden"
	"github.com/assay-suite/assay/internal/nano"
	"github.com/assay-suite/assay/internal/nano/served"
	"github.com/assay-suite/assay/internal/suite"
)

// planted are the faults of the table, none first.
var planted = []string{
	"", "v-scale-1.02", "window-one-short", "window-one-long", "hc-mix-bf16", "comb-transposed", "sinks-zero",
	"sinkhorn-one-step-short", "hc-eps-missing", "routed-scaling-missing", "attention-scale-halved",
	"compressor-overlap-dropped", "output-rope-kept", "select-last", "top-k-quarter", "compressed-rows-shifted",
}

const (
	tableModel = "nano-v4"
	tableSeed  = 1000 // of the emulated engines, none of a reference's
	tableUpTo  = 513  // tokens
)

// seenOf is what a server of a model would answer cold, without the server.
func seenOf(t testing.TB, start extend, r Reference, keep func(Cell) bool) []Seen {
	t.Helper()
	var out []Seen
	for i, c := range r.Cells {
		if !keep(c) {
			continue
		}
		p := prompts(t, r.Cells[i:i+1])[0]
		s := Seen{Cell: i, Phase: Cold, Exact: true, Prompt: endpoint.Count{N: c.Length, Known: true}}
		for j, row := range answer(t, start, p) {
			id := nano.Encode(p.Code)[j]
			s.Margins[j], s.Lists[j] = math.NaN(), math.NaN()
			if !s.Exact {
				continue // it has gone another way
			}
			d := digitOf(row)
			s.Margins[j] = marginAt(row, id)
			s.Lists[j], _ = r.Digits[i*digits+j].apart(d.Tokens, d.Logs)
			s.Exact = d.Tokens[0] == id
		}
		out = append(out, s)
	}
	return out
}

// outcome is a row of the golden fidelity/exact.
type outcome struct {
	Lost  int     `json:"lost"`  // prompts that are not answered exactly
	Of    int     `json:"of"`    // prompts
	Seen  bool    `json:"seen"`  // rejected by exact reference
	By    string  `json:"by"`    // gates and directions that reject
	Shift float64 `json:"shift"` // rms of the margins' shifts, nats
}

func outcomeOf(o Result) outcome {
	var x outcome
	var by []string
	for _, row := range o.Rows {
		if row.Phase == Cold && row.Digits > 0 {
			x.Shift = math.Max(x.Shift, row.RMS)
		}
		if row.Standing == Rejected {
			by = append(by, string(row.Part)+" "+gate(row))
		}
	}
	for _, d := range o.Directions {
		if len(by) == 0 || d.Explains > named {
			by = append(by, fmt.Sprintf("%.2g x %s", d.Amplitude, d.Fault))
			break
		}
	}
	for _, s := range o.Seen {
		if x.Of++; !s.Exact {
			x.Lost++
		}
	}
	x.Seen, x.By = o.Code == suite.Regression, strings.Join(by, ", ")
	return x
}

// TestPlanted measures what exact reference sees of faults that recall does not, under three formats, and keeps it as a
// golden: all of it under the full budget, else nothing but that the golden says what it must.
func TestPlanted(t *testing.T) {
	if os.Getenv("ASSAY_BUDGET") == "full" {
		r, err := Load(tableModel)
		require.NoError(t, err)
		keep := func(c Cell) bool { return c.Length <= tableUpTo }
		doc := golden.Doc{
			Provenance: golden.Provenance{
				Generator: "fidelity/internal/exact.TestPlanted", Source: vouched, Model: "fixtures/" + tableModel,
				Seed: fmt.Sprintf("emulated engines of seed %d", tableSeed),
			},
			Cases: map[string]any{},
		}
		for _, format := range []string{"fp32", "bf16", "fp8"} {
			f, err := served.ByName(format)
			require.NoError(t, err)
			m, err := served.New(loadNano(t, tableModel), f, tableSeed)
			require.NoError(t, err)
			for _, fault := range planted {
				engine := m
				if fault != "" {
					engine = faulty(t, m, fault)
				}
				o := Judge(r, seenOf(t, ofNano(engine), r, keep), "", format)
				x := outcomeOf(o)
				t.Logf("%s under %s: %+v", fault, format, x)
				doc.Cases[caseID(fault, format)] = x
			}
		}
		golden.Assert(t, "fidelity/exact", doc, golden.Rules{}.With("shift", golden.Rel(0.05,
			"emulated engines round otherwise where the processor's products differ in their last bits")))
	}
	f, err := golden.Read("fidelity/exact")
	require.NoError(t, err)
	for _, fault := range planted {
		x := readOutcome(t, f, fault, "fp32")
		assert.Equal(t, fault != "", x.Seen, "fault %q under fp32", fault)
	}
	for _, format := range []string{"bf16", "fp8"} {
		assert.False(t, readOutcome(t, f, "", format).Seen, "a sound engine under %s", format)
	}
	for _, fault := range []string{"v-scale-1.02", "window-one-short", "hc-mix-bf16", "sinks-zero"} {
		assert.Zero(t, readOutcome(t, f, fault, "fp32").Lost, "%s loses needles, which recall sees", fault)
	}
	assert.True(t, readOutcome(t, f, "v-scale-1.02", "bf16").Seen)
}

func caseID(fault, format string) string {
	if fault == "" {
		fault = "none"
	}
	return "fidelity/exact/" + fault + "/" + format
}

func readOutcome(t testing.TB, f *golden.File, fault, format string) outcome {
	t.Helper()
	raw, err := json.Marshal(f.Cases[caseID(fault, format)])
	require.NoError(t, err)
	var x outcome
	require.NoError(t, json.Unmarshal(raw, &x))
	require.Positive(t, x.Of, "%s under %s is not in the golden", fault, format)
	return x
}

// TestSound: no sound engine may be rejected: ten seeds of four formats behind the real server, cold, warm and in
// batches. It runs under the full budget; TestPhases has one of fp32 and one of bf16.
func TestSound(t *testing.T) {
	if os.Getenv("ASSAY_BUDGET") != "full" {
		t.Skip("full budget: forty engines")
	}
	m := loadNano(t, "nano-flash")
	for _, format := range []string{"fp32", "bf16", "fp8", "mxfp4"} {
		f, err := served.ByName(format)
		require.NoError(t, err)
		for seed := range uint64(10) {
			t.Run(fmt.Sprintf("%s/%d", format, seed), func(t *testing.T) {
				e, err := served.New(m, f, 2000+seed)
				require.NoError(t, err)
				a := ofModel(t, e, "nano-flash", shortWindow)
				o := run(t, a, format)
				if o.Code != suite.Pass {
					t.Error(o.Fact().Text)
				}
				worst := 0.0
				for _, row := range o.Rows {
					worst = math.Max(worst, row.Verdict.Rho.Max)
				}
				t.Logf("%s, worst digit at %.2f of its limit", o.Verdict, worst)
			})
		}
	}
}

// TestFaultTable keeps the table of docs/exact.md: the golden of TestPlanted, and the smallest factor on attention's
// values of every model and format.
func TestFaultTable(t *testing.T) {
	const path, begin, end = "../../../docs/exact.md",
		"<!-- faults: generated by fidelity/internal/exact.TestFaultTable -->\n", "<!-- /faults -->\n"
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	head, rest, ok := strings.Cut(string(raw), begin)
	require.True(t, ok, "%s has no line %q", path, begin)
	_, tail, ok := strings.Cut(rest, end)
	require.True(t, ok, "%s has no line %q", path, end)
	f, err := golden.Read("fidelity/exact")
	require.NoError(t, err)
	var b strings.Builder
	b.WriteString("\n| fault | lost | under fp32 | under bf16 | under fp8 |\n| --- | --: | --- | --- | --- |\n")
	for _, fault := range planted {
		fmt.Fprintf(&b, "| %s | %d |", strings.TrimSuffix(strings.TrimPrefix(caseID(fault, ""), "fidelity/exact/"), "/"),
			readOutcome(t, f, fault, "fp32").Lost)
		for _, format := range []string{"fp32", "bf16", "fp8"} {
			x := readOutcome(t, f, fault, format)
			said := "not seen"
			if x.Seen {
				said = "**seen**: " + x.By
			}
			if fault == "" && !x.Seen {
				said = "held"
			}
			fmt.Fprintf(&b, " %s (rms %.2g) |", said, x.Shift)
		}
		b.WriteString("\n")
	}
	b.WriteString("\nThe smallest factor on attention's values that 95 % of runs show, in place of 1.02:\n\n| |")
	for _, format := range Formats() {
		b.WriteString(" " + format + " |")
	}
	b.WriteString("\n| --- |" + strings.Repeat(" --: |", len(Formats())) + "\n")
	for _, model := range []string{"nano-v4", "nano-flash"} {
		r, err := Load(model)
		require.NoError(t, err)
		fmt.Fprintf(&b, "| %s |", model)
		for _, format := range Formats() {
			fmt.Fprintf(&b, " 1 + %.2g |", smallest(r, format)-1)
		}
		b.WriteString("\n")
	}
	golden.Page(t, path, head+begin+b.String()+"\n"+end+tail)
}
