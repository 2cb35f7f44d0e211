package report

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestIncident types the ten lines of the full sample by hand.
func TestIncident(t *testing.T) {
	const want = `assay: FAULT (exit code 1), embedded nano-v4 (fp32), 2026-11-29 12:40 UTC
verdict: REGRESSED  far recall: 40 of 40 lost (golden 40/40), p < 1e-9
server: host embedded · model nano-v4 · tool assay 0.1.0, go1.26 · seed PCG, FNV of the case ID
recall: 11/34  [19.1 %, 49.2 %] · edge at 2,048 ± 16 tokens: 2,048: top-k 512 x ratio 4 as configured: sparse ` +
		`selection · 2,048: a prefill step of 2048 · half of a context that nobody told
diagnosis: sparse-selection (likely: 48 runs, 5 arms, p 1.2e-07); rivals: tail-only, junk-cliff
evidence: cliff 2,048 ± 16 = top-k 512 x ratio 4 · tail 8/8 · repeated x8 8/8 · paraphrase 0/8 · ` +
		`prompt_tokens exact · cold = warm
suspects: implicated stock sparse selection · not exercised mma-decode · cleared mhc-bf16
next: SGLang: --enable-return-indexer-topk
again: curl -sS http://127.0.0.1:8088/v1/completions -H 'Content-Type: application/json' -d ` +
		`@artifacts/run/requests/0042.json
report: artifacts/2026-11-29T12-40-11Z/report.html
`
	if diff := cmp.Diff(want, Incident(fullRun())); diff != "" {
		t.Errorf("ten lines (-want +got):\n%s", diff)
	}
}

// TestIncidentTakesWords: without a decided diagnosis the fact of that name speaks.
func TestIncidentTakesWords(t *testing.T) {
	text := Incident(failingRun())
	assert.Contains(t, text, "\ndiagnosis: sparse far path: selection or its scores; rivals: sliding window on all layers")
	assert.Contains(t, text, "\nnext: SGLang: --enable-return-indexer-topk, then")
}

// TestIncidentOfKernels: where nothing was diagnosed the first failing case speaks.
func TestIncidentOfKernels(t *testing.T) {
	const want = `assay: FAULT (exit code 1), candidate numpy
verdict: 1 of 600 cases differs
failing: 1, first kernels/sparse-attention/decode/page-64 (output), likely page stride   (rivals: split-K merge)
again: python3 artifacts/run/0001/repro.py
`
	if diff := cmp.Diff(want, Incident(kernelsRun())); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

// TestIncidentBounds: at most ten lines of a bounded length for any run, and nothing that moves a terminal.
func TestIncidentBounds(t *testing.T) {
	long := fullRun()
	long.Verdict.Text = strings.Repeat("word ", 5000)
	long.Diagnosis.Classes[0].Evidence = []string{strings.Repeat("x\n", 3000)}
	for name, r := range map[string]Run{
		"hostile": hostileRun(), "long": long, "full": fullRun(), "healthy": healthyRun(), "empty": {},
	} {
		text := Incident(r)
		lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		assert.LessOrEqual(t, len(lines), incidentLines, name)
		for _, l := range lines {
			assert.LessOrEqual(t, width(l), incidentWidth+len("diagnosis: "), name)
		}
		assert.Equal(t, printable(text), text, name)
	}
}

// TestIncidentOnTheTerminal: it ends the screen of a run with a faulty diagnosis and no other.
func TestIncidentOnTheTerminal(t *testing.T) {
	text := screen(t, fullRun(), Style{})
	assert.Contains(t, text, "\nfor the incident channel:\nassay: FAULT")
	assert.True(t, strings.HasSuffix(text, "report.html\n\n"), text[len(text)-200:])
	clean := healthyRun()
	clean.Diagnosis = &Diagnosis{Verdict: "clean", Text: "clean"}
	assert.NotContains(t, screen(t, clean, Style{}), "incident")
}

// TestAgain: a live cell is run again by sending its request again.
func TestAgain(t *testing.T) {
	assert.Contains(t, FindingText(Finding{Case: "x", Curl: "curl -d @requests/1.json"}),
		"\n    again    curl -d @requests/1.json\n")
}

func TestSummaryFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "summary.md")
	t.Setenv(summaryVariable, path)
	require.NoError(t, WriteAll(t.TempDir(), healthyRun(), nil))
	require.NoError(t, WriteAll(t.TempDir(), fullRun(), nil))
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, Summary(healthyRun())+Summary(fullRun()), string(data), "steps are appended")

	t.Setenv(summaryVariable, filepath.Join(path, "no folder"))
	dir := t.TempDir()
	err = WriteAll(dir, healthyRun(), nil)
	require.Error(t, err)
	assert.Contains(t, err.Error(), summaryVariable)
	assert.Len(t, names(t, dir), 3, "the other files are written all the same")
}

func TestSummaryWithoutGitHub(t *testing.T) {
	t.Setenv(summaryVariable, "")
	dir := t.TempDir()
	require.NoError(t, WriteAll(dir, healthyRun(), nil))
	assert.Equal(t, []string{IncidentFile, JUnitFile, HTMLFile}, names(t, dir))
}

func TestSummarySays(t *testing.T) {
	s := Summary(fullRun())
	for _, want := range []string{
		"### ❌ assay: fault · embedded nano\\-v4", "**REGRESSED  far recall\\: 40 of 40 lost",
		"suspects: implicated stock sparse selection", "   0.00      ■     ■     ◧     □",
		"| mhc\\-bf16 | **cleared** |", "cases: 20 fail", "--- FAIL: fidelity/recall/512/0.00 (denial)",
	} {
		assert.Contains(t, s, want)
	}
	assert.Contains(t, Summary(healthyRun()), "### ✅ assay: pass")
}

// outside is what of a Markdown text lies outside of fences, read as CommonMark 4.5 says: a fence ends at a line of at
// least as many backticks and nothing else.
func outside(text string) string {
	var out []string
	fence := ""
	for line := range strings.SplitSeq(text, "\n") {
		ticks := regexp.MustCompile("^`{3,}").FindString(line)
		switch {
		case fence == "" && ticks != "":
			fence = ticks
		case fence != "" && len(ticks) >= len(fence) && strings.TrimSpace(line) == ticks:
			fence = ""
		case fence == "":
			out = append(out, line)
		}
	}
	if fence != "" {
		out = append(out, "a fence stays open")
	}
	return strings.Join(out, "\n")
}

// TestSummaryHostile: no text of others becomes markup, a link, an image or the end of a block of code.
func TestSummaryHostile(t *testing.T) {
	hostile := "```\n# own heading\n![x](http://evil.example/x) <img src=x> | @team `code` [a](b) https://evil.example " +
		"````` \x1b[2J"
	r := fullRun()
	r.Title, r.Verdict.Text, r.Findings[0].Answer, r.Findings[0].Got = hostile, hostile, hostile, ""
	r.Suspects[0].Name, r.Suspects[0].Evidence, r.Grids[0].RowLabel = hostile, []string{hostile}, hostile
	s := Summary(r)
	assert.NotContains(t, s, "\x1b")
	plain := outside(s)
	assert.NotContains(t, plain, "a fence stays open")
	assert.NotContains(t, plain, "\n# own")
	unescaped := regexp.MustCompile(`(^|[^\\])(<|!\[|\]\(|@team|https?:)`).FindString(plain)
	assert.Empty(t, unescaped, "outside of code:\n%s", plain)
	rows := regexp.MustCompile(`(?m)^\|.*$`).FindAllString(plain, -1)
	require.Len(t, rows, 5)
	for _, row := range rows {
		assert.Len(t, regexp.MustCompile(`(^|[^\\])\|`).FindAllString(row, -1), 5, "cells of %s", row)
	}
	// The look itself sees what it is for.
	assert.Contains(t, outside("```\nin\n````\n# out\n"), "# out")
	assert.Contains(t, outside("```\nin"), "a fence stays open")
}
