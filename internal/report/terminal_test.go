package report

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

// screen is the whole terminal text of a run.
func screen(t *testing.T, r Run, s Style) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, WriteHead(&b, r, s))
	require.NoError(t, WriteBody(&b, r, s))
	return b.String()
}

// TestTerminalExemplar compares with the exemplar of the main job, typed by hand.
func TestTerminalExemplar(t *testing.T) {
	const want = `assay  embedded nano-v4 (fp32)          your own server: OPENAI_BASE_URL=http://host:port go tool ` +
		`mage live
pre-flight   chat ok · completions ok · logprobs 20 · tokenize ok · cached_tokens ok · cache_salt ok · window 8192
plan         35 grid cells + 20 window + 24 cache; 97k prompt tokens; about 65 s on 2 cores

 depth     128   256   512  1024  1536  2048  4096      recall 34/35  [85.5 %, 99.5 %]
   0.00      ■     ■     ■     ■     ■     ■     ▣      ■ exact  ▣ near miss  □ lost  · unmeasured
   0.25      ■     ■     ■     ■     ■     ■     ■
   0.50      ■     ■     ■     ■     ■     ■     ■
   0.75      ■     ■     ■     ■     ■     ■     ■
   1.00      ■     ■     ■     ■     ■     ■     ■
window       tail 4/4 · just inside 4/4 · start 4/4 · repeated x8 4/4 · short 4/4
cache        warm = cold (hits proven 12/12)
golden       held: 0 lost, 0 won of 79 pairs
report       artifacts/2026-11-29T12-40-11Z/report.html
`
	r := healthyRun()
	r.Findings = nil
	if diff := cmp.Diff(want, screen(t, r, Style{})); diff != "" {
		t.Errorf("terminal text differs from the exemplar (-want +got):\n%s", diff)
	}
}

// TestTerminalFault compares the part below the heat map with the fault's exemplar.
func TestTerminalFault(t *testing.T) {
	const want = `diagnosis    sparse far path: selection or its scores
             evidence  cliff 2,048 ± 16 = index_topk 512 x ratio 4 · tail 8/8 · repeated x8 8/8 · verbatim ` +
		`cue 8/8, paraphrase 0/8
                       prompt_tokens exact · cold = warm · alone = 4 at once · no mod-4 pattern
             rivals    sliding window on all layers (excluded by x8 without a tail copy)
             next      SGLang: --enable-return-indexer-topk, then see whether the needle's block is selected; or ` +
		`bf16 index keys for one run
suspects     mhc-bf16 cleared (numerics: recall unchanged, rho 0.4 under tf32) · mma-decode not exercised in ` +
		`prefill · triton-indexer implicated (extend phase)
`
	r := failingRun()
	r.Findings, r.Report, r.Facts = nil, "", r.Facts[1:]
	_, got, ok := strings.Cut(screen(t, r, Style{}), "diagnosis")
	require.True(t, ok)
	if diff := cmp.Diff(want, "diagnosis"+got); diff != "" {
		t.Errorf("terminal text differs from the exemplar (-want +got):\n%s", diff)
	}
}

// TestFindingText compares with the exemplar of a failure.
func TestFindingText(t *testing.T) {
	const want = `--- FAIL: fidelity/recall/4096/0.00 (near-miss)
    claim    the needle MUST be answered exactly at every depth
    got      841730
    want     841736
    margin   "3" 3.30 (golden 3.20) · "6" -0.31 (golden 1.20)
    shape    1 of 35 cells, last digit only
    likely   coarse KV   (rivals: tie at the last digit)
    request  artifacts/run/requests/0042.json
    curl     curl -sS http://127.0.0.1:8088/v1/completions -H 'Content-Type: application/json' -d ` +
		`@artifacts/run/requests/0042.json
    again    go test ./fidelity -count=1 -run '^TestRecall$/^4096$/^0.00$'
`
	f := sampleFinding("fidelity/recall/4096/0.00", "near-miss", NearMiss, "841730", 1)
	f.Margins = f.Margins[4:]
	if diff := cmp.Diff(want, FindingText(f)); diff != "" {
		t.Errorf("finding text differs (-want +got):\n%s", diff)
	}
}

// TestTerminalNarrowASCII types by hand what a 60-column window without UTF-8 shows:
// legend below the grid, lines wrapped under their text, the path whole.
func TestTerminalNarrowASCII(t *testing.T) {
	const want = `assay  embedded nano-v4 (fp32)
       your own server: OPENAI_BASE_URL=http://host:port go tool mage live
plan         35 grid cells + 20 window + 24 cache; 97k
             prompt tokens; about 65 s on 2 cores

 depth     128   256   512  1024  1536  2048  4096
   0.00      #     #     #     #     #     #     ~
   0.25      #     #     #     #     #     #     #
   0.50      #     #     #     #     #     #     #
   0.75      #     #     #     #     #     #     #
   1.00      #     #     #     #     #     #     #
   recall 34/35  [85.5 %, 99.5 %]
   # exact  ~ near miss  x lost  . unmeasured
window       tail 4/4 - just inside 4/4 - start 4/4 -
             repeated x8 4/4 - short 4/4
failing      1 listed in the report, each with prompt,
             answer and curl line
report       artifacts/2026-11-29T12-40-11Z/a/rather/long/path/report.html
`
	r := healthyRun()
	r.Capabilities, r.Facts, r.Report = nil, r.Facts[:1], "artifacts/2026-11-29T12-40-11Z/a/rather/long/path/report.html"
	if diff := cmp.Diff(want, screen(t, r, Style{ASCII: true, Width: 60})); diff != "" {
		t.Errorf("narrow 7-bit text differs (-want +got):\n%s", diff)
	}
}

// TestTerminalColumnsInBlocks: a grid wider than the window is cut between columns.
func TestTerminalColumnsInBlocks(t *testing.T) {
	const want = `
 d        1     2     3
   a      ■     □     ·

 d        4
   a      ▣
   recall unmeasured
   ■ exact  ▣ near miss  □ lost  · unmeasured
`
	h := HeatMap{
		RowLabel: "d", Rows: []string{"a"}, Cols: []string{"1", "2", "3", "4"}, Recall: &Recall{},
		Cells: [][]Cell{{{State: Exact}, {State: Lost}, {State: "surprise"}, {State: NearMiss}}},
	}
	var b strings.Builder
	require.NoError(t, WriteBody(&b, Run{Grids: []HeatMap{h}}, Style{Width: 24}))
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("blocks differ (-want +got):\n%s", diff)
	}
}

// TestTerminalVerbatim: a command can be copied as one line, whatever the width.
func TestTerminalVerbatim(t *testing.T) {
	const want = "bless        OPENAI_BASE_URL=http://127.0.0.1:8088 go tool mage bless\n"
	var b strings.Builder
	f := Fact{Label: "bless", Text: "OPENAI_BASE_URL=http://127.0.0.1:8088 go tool mage bless", Verbatim: true}
	require.NoError(t, WriteBody(&b, Run{Facts: []Fact{f}}, Style{Width: 40}))
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("command (-want +got):\n%s", diff)
	}
}

func TestTerminalColour(t *testing.T) {
	colour := screen(t, healthyRun(), Style{Color: true})
	if !strings.Contains(colour, "\x1b[32m■\x1b[0m") {
		t.Errorf("no colours in the text for a colour terminal: %q", colour)
	}
	if plain := screen(t, healthyRun(), Style{}); strings.ContainsAny(plain, "\x1b\r") {
		t.Errorf("escape or carriage return in the plain text: %q", plain)
	}
}

// TestTerminalGrids holds for every size: one glyph per cell, nothing missing.
func TestTerminalGrids(t *testing.T) {
	for _, size := range [][2]int{{0, 0}, {1, 1}, {20, 30}, {3, 0}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			for _, w := range []int{0, 1, 40, 80, 200} {
				var b strings.Builder
				require.NoError(t, WriteBody(&b, Run{Grids: []HeatMap{gridOf(size[0], size[1])}}, Style{Width: w}))
				legend := 1
				if size[0]*size[1] == 0 {
					legend = 0
				}
				if got, want := strings.Count(b.String(), "■"), size[0]*size[1]+legend; got != want {
					t.Errorf("width %d: %d exact glyphs, want %d with the legend's", w, got, want)
				}
			}
		})
	}
}

// gridOf is a grid of exact cells with a margin each.
func gridOf(rows, cols int) HeatMap {
	h := HeatMap{RowLabel: "depth", ColLabel: "length"}
	for c := range cols {
		h.Cols = append(h.Cols, fmt.Sprint(1024*(c+1)))
	}
	for r := range rows {
		h.Rows = append(h.Rows, fmt.Sprintf("%.2f", float64(r)/20))
		var row []Cell
		for c := range cols {
			row = append(row, Cell{
				Case:   fmt.Sprintf("c/%d/%d", r, c),
				Class:  "exact",
				State:  Exact,
				Margin: new(float64(r - c)),
			})
		}
		h.Cells = append(h.Cells, row)
	}
	return h
}

func TestTerminalHostile(t *testing.T) {
	text := screen(t, hostileRun(), Style{Findings: 9})
	for _, bad := range []string{"\x1b", "\r", "\x00", "\x07", "\u202e", "\u009b"} {
		if strings.Contains(text, bad) {
			t.Errorf("%q reached the terminal", bad)
		}
	}
}

func TestTerminalEmpty(t *testing.T) {
	if diff := cmp.Diff("assay\n", screen(t, Run{}, Style{})); diff != "" {
		t.Errorf("empty run (-want +got):\n%s", diff)
	}
}

func TestTerminalTable(t *testing.T) {
	const want = `
recall by length
   length  hits  of  median margin
   128        5   5           9.40
   4096       4   5           5.10
   margins in nats
`
	r := healthyRun()
	r.Tables[0].Terminal = true
	var b strings.Builder
	require.NoError(t, WriteBody(&b, Run{Tables: r.Tables}, Style{}))
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

// TestStyleForFile: a file is no terminal, so neither colour nor overwriting; the
// glyphs follow the locale.
func TestStyleForFile(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "log"))
	require.NoError(t, err)
	defer f.Close()
	for _, row := range []struct {
		name, all, lang string
		ascii           bool
	}{
		{"no locale", "", "", false},
		{"UTF-8", "", "en_US.UTF-8", false},
		{"C.utf8", "C.utf8", "", false},
		{"C beats LANG", "C", "en_US.UTF-8", true},
		{"latin 1", "", "de_DE.ISO-8859-1", true},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Setenv("LC_ALL", row.all)
			t.Setenv("LC_CTYPE", "")
			t.Setenv("LANG", row.lang)
			if diff := cmp.Diff(Style{ASCII: row.ascii, Findings: 3}, StyleFor(f)); diff != "" {
				t.Errorf("style (-want +got):\n%s", diff)
			}
		})
	}
}
