package nano_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fixtures"
	"github.com/assay-suite/assay/internal/golden"
	"github.com/assay-suite/assay/internal/nano"
	"github.com/assay-suite/assay/internal/stat"
	"github.com/assay-suite/assay/oracle"
	"github.com/assay-suite/assay/oracle/faults"
)

// signatureFamily holds, by selection, length and depth, which of eight codes hidden in Opticks nano-flash recalls
// exactly: 1 or 0 for each prompt.
const signatureFamily = "fidelity/signature-nano-flash"

const signaturePrompts = 8

// hfExact is the same table by Hugging Face on other prompts of the kind (fixtures/README.md, "nano-flash"): exact
// codes of 8 at depths 0, .25, .5, .75, 1. It is the second source of the golden.
var hfExact = []struct {
	selection string
	length    int
	exact     [5]int
}{
	{"top-512", 256, [5]int{8, 8, 8, 8, 8}},
	{"top-512", 1024, [5]int{8, 8, 8, 8, 8}},
	{"top-512", 2048, [5]int{8, 8, 8, 8, 8}},
	{"top-512", 3072, [5]int{8, 8, 8, 8, 8}},
	{"top-512", 4096, [5]int{8, 8, 8, 8, 8}},
	{"top-512", 8192, [5]int{8, 8, 8, 8, 8}},
	{"top-64", 256, [5]int{8, 8, 8, 8, 8}},
	{"top-64", 1024, [5]int{8, 8, 7, 7, 8}},
	{"top-64", 2048, [5]int{6, 8, 8, 8, 8}},
	{"top-64", 3072, [5]int{8, 8, 8, 8, 8}},
	{"top-64", 4096, [5]int{8, 8, 8, 8, 8}},
	{"top-64", 8192, [5]int{7, 8, 8, 8, 8}},
	{"random-512", 256, [5]int{8, 8, 8, 8, 8}},
	{"random-512", 1024, [5]int{8, 8, 8, 8, 8}},
	{"random-512", 2048, [5]int{8, 8, 8, 8, 8}},
	{"random-512", 3072, [5]int{3, 0, 2, 1, 8}},
	{"random-512", 4096, [5]int{1, 1, 0, 2, 7}},
	{"random-512", 8192, [5]int{0, 0, 0, 0, 8}},
	{"last-512", 256, [5]int{8, 8, 8, 8, 8}},
	{"last-512", 1024, [5]int{8, 8, 8, 8, 8}},
	{"last-512", 2048, [5]int{8, 8, 8, 8, 8}},
	{"last-512", 3072, [5]int{0, 0, 8, 8, 8}},
	{"last-512", 4096, [5]int{0, 0, 0, 8, 8}},
	{"last-512", 8192, [5]int{0, 0, 0, 0, 8}},
}

// selections are the model's operators under each way to choose compressed rows. The random one draws by position and
// by the leading bits of a score, not by all, so that the table is the same for any fp32 arithmetic.
func selections(t *testing.T, m *nano.Model) map[string]oracle.Ops {
	t.Helper()
	last, err := faults.Lookup("select-last")
	require.NoError(t, err)
	few, random, best := oracle.Reference(), oracle.Reference(), m.FastOps().SelectRows
	few.SelectRows = func(scores oracle.Mat, visible []int, _ int, tie oracle.TieRule) ([][]int, error) {
		return best(scores, visible, 64, tie)
	}
	random.SelectTopK = func(scores []float64, visible, k int, tie oracle.TieRule) ([]int, error) {
		if visible <= k {
			return oracle.SelectTopK(scores, visible, k, tie)
		}
		chosen := rand.New(rand.NewPCG(uint64(visible), uint64(int64(256*scores[0])))).Perm(visible)[:k]
		slices.Sort(chosen)
		return chosen, nil
	}
	return map[string]oracle.Ops{
		"top-512": oracle.Reference(), "top-64": few, "random-512": random, "last-512": last.Apply(oracle.Reference()),
	}
}

// The signature MUST be the golden's, which MUST agree with Hugging Face's table: nothing lost up to 512 x 4 tokens,
// and beyond it start lost, tail found under a selection that does not rank, and repeats found. A run looks at two
// cells just beyond the cliff, ASSAY_BUDGET=full and -update at all.
func TestSignature(t *testing.T) {
	m := load(t, "nano-flash", oracle.Reference()).Fast()
	budget, _ := os.LookupEnv("ASSAY_BUDGET")
	all := budget == "full" || golden.Updating()
	ops, text := selections(t, m), opticks(t)
	doc := golden.Doc{Cases: map[string]any{}, Provenance: golden.Provenance{
		Generator: "internal/nano.TestSignature", Seed: "PCG of length, depth and prompt; haystack opticks",
		Source: "Hugging Face's table in fixtures/README.md, by Fisher's exact test on each row and cell",
		Model:  "fixtures/nano-flash",
	}}
	for _, row := range hfExact {
		for d := range row.exact {
			id := fmt.Sprintf("%s/%d/depth-%d", row.selection, row.length, 25*d)
			beyond := row.length == 3072 && row.selection == "last-512" && d%4 == 0
			if all || beyond {
				doc.Cases[id] = exact(t, m.With(ops[row.selection]), text, row.length, float64(d)/4, 1)
			}
		}
	}
	if all {
		doc.Cases["last-512/8192/eight-copies"] = exact(t, m.With(ops["last-512"]), text, 8192, 0, 8)
	}
	golden.Assert(t, signatureFamily, doc, golden.Rules{})
	agreesWithHF(t)
}

// agreesWithHF compares counts of the golden with Hugging Face's: no row and no cell is another at a family-wise 1 %.
func agreesWithHF(t *testing.T) {
	t.Helper()
	file, err := golden.Read(signatureFamily)
	require.NoError(t, err)
	for _, row := range hfExact {
		ours, theirs := 0, 0
		for d, want := range row.exact {
			id := fmt.Sprintf("%s/%d/depth-%d", row.selection, row.length, 25*d)
			found, ok := file.Cases[id].(string)
			require.True(t, ok, "the golden has no %s", id)
			n := strings.Count(found, "1")
			ours, theirs = ours+n, theirs+want
			differs(t, id, n, want, signaturePrompts, 0.01/float64(6*len(hfExact)))
		}
		differs(t, fmt.Sprintf("%s/%d", row.selection, row.length), ours, theirs, 5*signaturePrompts,
			0.01/float64(6*len(hfExact)))
	}
	require.Equal(t, "11111111", file.Cases["last-512/8192/eight-copies"])
}

func differs(t *testing.T, id string, ours, theirs, of int, alpha float64) {
	t.Helper()
	p, err := stat.FisherExact(ours, of-ours, theirs, of-theirs, stat.TwoSided)
	require.NoError(t, err)
	if p < alpha {
		t.Errorf("%s: %d of %d exact, Hugging Face has %d (p %.1e)", id, ours, of, theirs, p)
	}
}

// exact asks for eight codes and tells which came out exactly, teacher-forced.
func exact(t *testing.T, m *nano.Model, text []int, length int, depth float64, copies int) string {
	t.Helper()
	found := []byte(strings.Repeat("0", signaturePrompts))
	var wg sync.WaitGroup
	for half := range 2 {
		wg.Go(func() {
			for i := half; i < signaturePrompts; i += 2 {
				prompt, code := hidden(text, length, depth, copies, i)
				logits, err := chunked(m, append(prompt, code[:len(code)-1]...), 512, len(code))
				if err != nil {
					t.Error(err)
					return
				}
				found[i] = '1'
				for j, digit := range code {
					if best, _ := argmax(logits[len(logits)-len(code)+j]); best != digit {
						found[i] = '0'
					}
				}
			}
		})
	}
	wg.Wait()
	return string(found)
}

// hidden is a prompt of length ids with a code at a depth, as fixtures/nano-flash/training/flash.py makes them.
func hidden(text []int, length int, depth float64, copies, i int) (prompt, code []int) {
	rng := rand.New(rand.NewPCG(uint64(length)<<8|uint64(4*depth), uint64(i)))
	name := nano.FirstBucket + rng.IntN(nano.Buckets)
	for range 5 {
		code = append(code, nano.Encode(fmt.Sprint(rng.IntN(10)))...)
	}
	needle := append(nano.Encode("the access code for the"), name)
	needle = append(append(append(needle, nano.Encode("archive is")...), code...), nano.Encode(".")...)
	question := append(nano.Encode("what is the access code for the"), name)
	question = append(append(question, nano.Encode("archive ?")...), nano.Assistant)
	body := length - 2 - len(question) - len(needle)*copies
	from := rng.IntN(len(text) - body)
	prompt = []int{nano.BOS, nano.User}
	for at := range body {
		for c := range copies {
			if where := depth; at == int((where+float64(c)/float64(max(copies-1, 1))*(1-where))*float64(body-1)) {
				prompt = append(prompt, needle...)
			}
		}
		id := text[from+at]
		if id == name {
			id = nano.FirstBucket + (id+1-nano.FirstBucket)%nano.Buckets
		}
		prompt = append(prompt, id)
	}
	return append(prompt, question...), code
}

func opticks(t *testing.T) []int {
	t.Helper()
	raw, err := fixtures.ReadFile(fixtures.FS, "haystack/opticks.txt.gz")
	require.NoError(t, err)
	return nano.Encode(string(raw))
}
