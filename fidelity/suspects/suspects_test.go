package suspects_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fidelity/suspects"
)

// A patches file that cannot be meant MUST be refused with a sentence that names what is wrong.
func TestLoad(t *testing.T) {
	for _, row := range []struct{ name, text, want string }{
		{"good", `{"patches":[{"name":"a","operator":"topk","phases":["decode"],"off":"--x"}]}`, ""},
		{"no json", `patches:`, "no patches file"},
		{"misspelt field", `{"patches":[{"name":"a","operator":"topk","phase":["decode"]}]}`, `unknown field "phase"`},
		{"no patch", `{"patches":[]}`, "names no patch"},
		{"no operator", `{"patches":[{"name":"a"}]}`, `name "a" and operator ""`},
		{"twice", `{"patches":[{"name":"a","operator":"topk"},{"name":"a","operator":"rope"}]}`, `patch "a" twice`},
		{"unknown phase", `{"patches":[{"name":"a","operator":"topk","phases":["verify"]}]}`, `phase "verify"`},
		{"more", `{"patches":[{"name":"a","operator":"topk"}]} {}`, "goes on"},
	} {
		t.Run(row.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "patches.json")
			require.NoError(t, os.WriteFile(path, []byte(row.text), 0o600))
			_, err := suspects.Load(path)
			if row.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, row.want)
		})
	}
	_, err := suspects.Load(filepath.Join(t.TempDir(), "none.json"))
	require.ErrorContains(t, err, "ASSAY_SUSPECTS")
}

// ledger writes run folders, oldest first, and gathers them.
func ledger(t *testing.T, runs ...[]string) suspects.Evidence {
	t.Helper()
	dir := t.TempDir()
	for i, lines := range runs {
		run := filepath.Join(dir, "2026-01-0"+string(rune('1'+i)))
		require.NoError(t, os.Mkdir(run, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(run, "results.jsonl"), []byte(strings.Join(lines, "\n")), 0o600))
	}
	e, err := suspects.Gather(dir)
	require.NoError(t, err)
	return e
}

func kernel(id, op, phase, outcome string) string {
	return `{"case":"kernels/` + id + `","outcome":"` + outcome + `","detail":{"op":"` + op + `","phase":"` + phase +
		`","path":"sm90","candidate":"mine","cause":"scale"}}`
}

const selection = `{"case":"fidelity/diagnosis","outcome":"fail",` +
	`"detail":{"diagnosis":[{"class":"sparse-selection","confidence":"8 of 8 against 0 of 8"}]}}`

// A patch MUST be cleared by its own kernel in every phase that it is used in, implicated by a failing case or a
// finding that points at it and that nothing answers, and else not exercised; the stock part is named when its patches
// are cleared.
func TestJoin(t *testing.T) {
	topk := suspects.Patch{Name: "my top-k", Operator: "topk", Phases: []string{"prefill", "decode"}, Off: "--stock-topk"}
	for _, row := range []struct {
		name  string
		runs  [][]string
		patch suspects.Patch
		state suspects.State
		stock suspects.State // of the part that the diagnosis points at
		next  string
	}{
		{"nothing ran", nil, topk, suspects.NotExercised, "", "my top-k: --stock-topk"},
		{
			"both phases pass",
			[][]string{{kernel("a", "topk", "prefill", "pass"), kernel("b", "topk", "decode", "pass")}},
			topk, suspects.Cleared, "", "",
		},
		{
			"decode alone",
			[][]string{{kernel("b", "topk", "decode", "pass")}},
			topk, suspects.NotExercised, "",
			"my top-k: --stock-topk",
		},
		{
			"a case fails",
			[][]string{{kernel("a", "topk", "prefill", "fail"), kernel("b", "topk", "decode", "pass")}},
			topk,
			suspects.Implicated, "", "my top-k: --stock-topk",
		},
		{
			"a phase that it is not used in fails", [][]string{
				{
					kernel("a", "topk", "extend", "fail"), kernel("b", "topk", "decode", "pass"),
					kernel("c", "topk", "prefill", "pass"),
				},
			}, topk, suspects.Cleared, "", "",
		},
		{
			"failed, then fixed",
			[][]string{{kernel("a", "topk", "", "fail")}, {kernel("a", "topk", "", "pass")}},
			topk,
			suspects.Cleared, "", "",
		},
		{
			"a built-in candidate clears nobody", [][]string{
				{`{"case":"kernels/a","outcome":"pass","detail":{"op":"topk","candidate":""}}`},
			}, topk, suspects.NotExercised, "", "my top-k: --stock-topk",
		},
		{
			"diagnosed and cleared: the stock part is left",
			[][]string{{kernel("a", "topk", "", "pass"), selection}},
			topk,
			suspects.Cleared, suspects.Implicated, "",
		},
		{
			"diagnosed and not exercised",
			[][]string{{selection}},
			topk, suspects.Implicated, suspects.NotExercised,
			"my top-k: --stock-topk",
		},
		{
			"another path diagnosed", [][]string{{kernel("a", "mhc_pre", "", "pass"), selection}}, suspects.Patch{
				Name:     "mix",
				Operator: "mhc_pre",
			}, suspects.Cleared, suspects.Implicated, "",
		},
		{
			"cut off in the last line",
			[][]string{{kernel("a", "topk", "", "pass"), `{"case":"kern`}},
			topk, suspects.Cleared,
			"", "",
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			all := suspects.Join([]suspects.Patch{row.patch}, ledger(t, row.runs...))
			assert.Equal(t, row.state, all[0].State, all[0].Evidence)
			assert.Equal(t, row.next, suspects.Next(all))
			if row.stock == "" {
				assert.Len(t, all, 1)
				return
			}
			require.Len(t, all, 2)
			assert.True(t, all[1].Stock)
			assert.Equal(t, row.stock, all[1].State)
		})
	}
}

// A damaged line before the last MUST be an error: evidence that was there would be missing without a word.
func TestDamagedLedger(t *testing.T) {
	dir := t.TempDir()
	run := filepath.Join(dir, "run")
	require.NoError(t, os.Mkdir(run, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(run, "results.jsonl"), []byte("{\"case\"\n"+selection+"\n"), 0o600))
	_, err := suspects.Gather(dir)
	require.ErrorContains(t, err, "line 1")
}

// The worked example MUST end as the investigation did that assay grew from: the patches cleared, the stock selection
// implicated; and without the kernels' ledger no patch cleared.
func TestExample(t *testing.T) {
	patches, err := suspects.Load("../../examples/suspects/patches.json")
	require.NoError(t, err)
	e, err := suspects.Gather("../../examples/suspects/runs")
	require.NoError(t, err)
	all := suspects.Join(patches, e)
	require.Len(t, all, 6)
	for _, s := range all[:5] {
		assert.Equal(t, suspects.Cleared, s.State, s.Patch.Name)
	}
	assert.True(t, all[5].Stock)
	assert.Equal(t, suspects.Implicated, all[5].State)
	assert.Empty(t, suspects.Next(all))

	e.Kernels = nil
	all = suspects.Join(patches, e)
	var states []suspects.State
	for _, s := range all {
		states = append(states, s.State)
	}
	assert.Equal(t, []suspects.State{
		suspects.Implicated, suspects.Implicated, suspects.Implicated, suspects.NotExercised, suspects.NotExercised,
		suspects.NotExercised,
	}, states)
	assert.Equal(t, "MMA sparse-MLA decode: --attention-backend flashmla", suspects.Next(all))
}
