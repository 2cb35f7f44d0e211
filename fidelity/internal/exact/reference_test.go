package exact

import (
	"bytes"
	"cmp"
	"context"
	"io/fs"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fixtures"
	"github.com/assay-suite/assay/internal/golden"
	"github.com/assay-suite/assay/internal/nano"
	"github.com/assay-suite/assay/internal/nano/llama"
	"github.com/assay-suite/assay/internal/nano/served"
	"github.com/assay-suite/assay/internal/needle"
	"github.com/assay-suite/assay/numerics/format"
	"github.com/assay-suite/assay/oracle"
	"github.com/assay-suite/assay/oracle/faults"
)

// extend starts a sequence and returns what reads tokens into it.
type extend func() func(ids []int) ([][]float64, error)

func ofNano(m *nano.Model) extend {
	return func() func([]int) ([][]float64, error) {
		s := m.NewState()
		return func(ids []int) ([][]float64, error) { return m.Extend(context.Background(), s, ids, 1) }
	}
}

func ofLlama(m *llama.Model) extend {
	return func() func([]int) ([][]float64, error) {
		s := m.NewState()
		return func(ids []int) ([][]float64, error) { return m.Extend(context.Background(), s, ids, 1) }
	}
}

func folder(t testing.TB, name string) fs.FS {
	t.Helper()
	sub, err := fs.Sub(fixtures.FS, name)
	require.NoError(t, err)
	return sub
}

func loadNano(t testing.TB, name string) *nano.Model {
	t.Helper()
	m, err := nano.Load(folder(t, name), oracle.Reference())
	require.NoError(t, err)
	return m
}

func loadLlama(t testing.TB) *llama.Model {
	t.Helper()
	m, err := llama.Load(folder(t, "nano-llama"))
	require.NoError(t, err)
	return m
}

// answer is the logits at every digit of the code, the code's digits read one by one as a server reads them.
func answer(t testing.TB, start extend, p Prompt) [][]float64 {
	t.Helper()
	read := start()
	rows, err := read(p.IDs)
	require.NoError(t, err)
	for _, id := range nano.Encode(p.Code[:digits-1]) {
		row, err := read([]int{id})
		require.NoError(t, err)
		rows = append(rows, row...)
	}
	return rows
}

// listed is how many tokens a digit's list has, as servers give at most.
const listed = 20

// digitOf is the list of a row of logits.
func digitOf(row []float64) Digit {
	ids := make([]int, len(row))
	top := slices.Max(row)
	sum := 0.0
	for i, v := range row {
		ids[i] = i
		sum += math.Exp(v - top)
	}
	slices.SortFunc(ids, func(a, b int) int { return cmp.Or(cmp.Compare(row[b], row[a]), cmp.Compare(a, b)) })
	d := Digit{Tokens: ids[:listed]}
	for _, id := range d.Tokens {
		d.Logs = append(d.Logs, row[id]-top-math.Log(sum))
	}
	return d
}

// marginAt is the margin of a digit's token in a row of logits.
func marginAt(row []float64, id int) float64 {
	best := math.Inf(-1)
	for i, v := range row {
		if i != id {
			best = math.Max(best, v)
		}
	}
	return row[id] - best
}

func prompts(t testing.TB, cells []Cell) []Prompt {
	t.Helper()
	h, err := needle.Opticks()
	require.NoError(t, err)
	out := make([]Prompt, len(cells))
	for i, c := range cells {
		out[i], err = Build(t.Context(), h, c)
		require.NoError(t, err)
	}
	return out
}

// exactly sets the seeds and fills in the answers of the float64 oracle: of each cell the first seed with which every
// digit is answered.
func exactly(t testing.TB, start extend, r *Reference) []Prompt {
	t.Helper()
	var all []Prompt
	for i := range r.Cells {
		for ; ; r.Cells[i].Seed++ {
			p := prompts(t, r.Cells[i:i+1])[0]
			var list []Digit
			right := true
			for j, row := range answer(t, start, p) {
				d := digitOf(row)
				right = right && d.Tokens[0] == nano.Encode(p.Code)[j]
				list = append(list, d)
			}
			if right {
				r.Codes, r.Texts = append(r.Codes, p.Code), append(r.Texts, Digest(p.Text))
				r.Digits, all = append(r.Digits, list...), append(all, p)
				break
			}
			require.Less(t, r.Cells[i].Seed, uint64(9), "%s is never answered", r.Cells[i].ID)
		}
	}
	return all
}

// shifts are margins of another engine less the exact ones, and by how much its lists are apart.
func shifts(t testing.TB, start extend, r Reference, all []Prompt) (margins []float64, lists [2]float64) {
	t.Helper()
	var n [2]float64
	for _, p := range all {
		for j, row := range answer(t, start, p) {
			want := r.Digits[len(margins)]
			margins = append(margins, marginAt(row, nano.Encode(p.Code)[j])-want.Margin())
			d := digitOf(row)
			sq, _ := want.apart(d.Tokens, d.Logs)
			lists[min(j, 1)] += sq
			n[min(j, 1)]++
		}
	}
	for i := range lists {
		lists[i] = math.Sqrt(lists[i] / n[i])
	}
	return margins, lists
}

// members is the number of emulated engines of a format; numerics wants 16 at least.
const members = 16

// directions are the faults whose shifts are told apart.
var directions = []string{
	"v-scale-1.02", "window-one-short", "window-one-long", "hc-mix-bf16", "comb-transposed", "sinks-zero",
	"routed-scaling-missing", "output-rope-kept",
}

// faulty is a model with a fault in exact arithmetic. The mixing GEMM in bf16 is the catalogue's fault without its
// accumulator, whose emulation is slow and moves nothing beside the rounding of the operands.
func faulty(t testing.TB, m *nano.Model, name string) *nano.Model {
	t.Helper()
	ops := m.Ops()
	if name == "hc-mix-bf16" {
		ops.HCMix = func(v, fn oracle.Mat, eps float64) oracle.Mat {
			return oracle.HCMixWith(func(x, w oracle.Mat) oracle.Mat {
				x, w = x.Clone(), w.Clone()
				format.BF16.RoundSlice(x.Data)
				format.BF16.RoundSlice(w.Data)
				return oracle.Linear(x, w)
			})(v, fn, eps)
		}
		return m.With(ops)
	}
	f, err := faults.Lookup(name)
	require.NoError(t, err)
	return m.With(f.Apply(ops))
}

const vouched = "float64 oracles of internal/nano, vouched for by Hugging Face's traces and greedy records in " +
	"fixtures; members by internal/nano/served, directions by oracle/faults"

// llamaCells are those of nano-llama: it has no fast path, and the float64 one takes long over long prompts.
func llamaCells() []Cell {
	return slices.DeleteFunc(Cells(nano.Config{}), func(c Cell) bool { return c.Length > 513 })
}

// makeReference computes a reference.
func makeReference(t testing.TB, model string) Reference {
	t.Helper()
	r := Reference{
		Model: model, Source: vouched, Members: map[string][][]float64{}, Lists: map[string][][2]float64{},
		Directions: map[string][]float64{},
	}
	member := func(name string, start extend, all []Prompt) {
		margins, lists := shifts(t, start, r, all)
		r.Members[name], r.Lists[name] = append(r.Members[name], margins), append(r.Lists[name], lists)
	}
	if model == "nano-llama" {
		m := loadLlama(t)
		r.Cells = llamaCells()
		all := exactly(t, ofLlama(m), &r)
		for _, name := range []string{"fp32", "bf16"} {
			for seed := range uint64(members) {
				e, err := served.Llama(m, name, seed+1)
				require.NoError(t, err)
				member(name, ofLlama(e), all)
			}
		}
		return r
	}
	m := loadNano(t, model)
	r.Cells = Cells(m.Config)
	all := exactly(t, ofNano(m), &r)
	for _, f := range served.Formats() {
		for seed := range uint64(members) {
			e, err := served.New(m, f, seed+1)
			require.NoError(t, err)
			member(f.Name, ofNano(e), all)
		}
	}
	for _, name := range directions {
		r.Directions[name], _ = shifts(t, ofNano(faulty(t, m.Fast(), name)), r, all)
	}
	return r
}

// TestReferences holds the stored references: made anew with -update under the full budget (about ten CPU minutes a
// model), else a sample of each is computed again by the float64 oracle.
func TestReferences(t *testing.T) {
	for _, model := range Models() {
		t.Run(model, func(t *testing.T) {
			path := "reference/" + model + ".json.gz"
			if golden.Updating() && os.Getenv("ASSAY_BUDGET") == "full" {
				require.Empty(t, os.Getenv("CI"), "a reference is made where its diff can be read")
				var raw bytes.Buffer
				require.NoError(t, makeReference(t, model).Write(&raw))
				require.NoError(t, os.WriteFile(path+".part", raw.Bytes(), 0o644))
				require.NoError(t, os.Rename(path+".part", path))
				return
			}
			r, err := Load(model)
			require.NoError(t, err)
			var start extend
			var want []Cell
			if model == "nano-llama" {
				start, want = ofLlama(loadLlama(t)), llamaCells()
			} else {
				m := loadNano(t, model)
				start, want = ofNano(m), Cells(m.Config)
			}
			for i := range want {
				want[i].Seed = r.Cells[i].Seed
			}
			require.Equal(t, want, r.Cells)
			for _, i := range []int{0, 31, 64} {
				p := prompts(t, r.Cells[i:i+1])[0]
				require.Equal(t, r.Texts[i], Digest(p.Text))
				for j, row := range answer(t, start, p) {
					got, want := digitOf(row), r.Digits[i*digits+j]
					require.Equal(t, nano.Encode(r.Codes[i])[j], want.Tokens[0])
					for k, v := range got.Logs {
						// half a step of rounding, and float64's noise
						require.LessOrEqual(t, math.Abs(v-want.Logs[k]), 0.6*step, "%s, digit %d", r.Cells[i].ID, j)
					}
				}
			}
		})
	}
}

// A reference MUST come back as it was packed, to a step; one whose parts do not fit MUST be refused.
func TestPacked(t *testing.T) {
	r := Reference{
		Model: "m", Cells: []Cell{{ID: "a", Length: 9, Depth: 0.25, Seed: 3, Burst: 1}}, Codes: []string{"48213"},
		Texts: []string{"ab"}, Members: map[string][][]float64{"fp32": {{1, -2, 3, 0, 5}}},
		Lists: map[string][][2]float64{"fp32": {{0.1234, 0.5}}}, Directions: map[string][]float64{"f": {0, 0, 0, 1, 0}},
	}
	for range digits {
		r.Digits = append(r.Digits, Digit{Tokens: []int{4, 7}, Logs: []float64{-0.000001, -12.345678}})
	}
	var raw bytes.Buffer
	require.NoError(t, r.Write(&raw))
	packedBytes := slices.Clone(raw.Bytes())
	back, err := Read(&raw)
	require.NoError(t, err)
	require.Equal(t, r.Cells, back.Cells)
	require.LessOrEqual(t, math.Abs(back.Lists["fp32"][0][0]-0.1234), 1e-9)
	for i, d := range back.Digits {
		require.Equal(t, r.Digits[i].Tokens, d.Tokens)
		require.LessOrEqual(t, math.Abs(d.Margin()-12.345677), 1e-9)
	}
	for i, v := range back.Members["fp32"][0] {
		require.LessOrEqual(t, math.Abs(v-r.Members["fp32"][0][i]), 0.11) // half of rms/16, to two digits
	}
	_, err = Read(bytes.NewReader(packedBytes[:20]))
	require.ErrorContains(t, err, "the reference cannot be")
	r.Digits = r.Digits[1:]
	raw.Reset()
	require.NoError(t, r.Write(&raw))
	_, err = Read(&raw)
	require.ErrorContains(t, err, "does not fit its 1 cells")
}

// The cells MUST have every residue of a page, both sides of every edge, and bursts of sixteen.
func TestCells(t *testing.T) {
	for model, edges := range map[string][]int{
		"nano-v4":    {259, 260, 261, 511, 512, 513, 1023, 1025, 2047, 2049, 4096}, // ranking from position 259
		"nano-flash": {127, 128, 129, 255, 257, 2047, 2049, 2051, 2052, 2053, 4096},
	} {
		residues, lengths, bursts := map[int]bool{}, map[int]bool{}, map[int]int{}
		for _, c := range Cells(loadNano(t, model).Config) {
			residues[c.Length%page], lengths[c.Length] = true, true
			bursts[c.Burst]++
		}
		require.Len(t, residues, page)
		for _, n := range edges {
			require.True(t, lengths[n], "%s has no prompt of %d tokens", model, n)
		}
		require.Equal(t, [2]int{atOnce, atOnce}, [2]int{bursts[1], bursts[2]})
	}
}
