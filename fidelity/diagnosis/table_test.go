package diagnosis

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/assay-suite/assay/fidelity/evidence"
	"github.com/assay-suite/assay/internal/scripted"
)

// components are parts of engines that a class must not name.
var components = []string{
	"kernel", "indexer", "scheduler", "radix", "backend", "quantis", "GEMM", "flash", "allocator", "NCCL", "page table",
}

// The table MUST be complete: every row says what it sees, what splits it from its rivals and what to flip, reads
// probes that exist, and covers channels that exist; and every class of the catalogue of faults MUST have a row, noise
// aside.
func TestTableIsComplete(t *testing.T) {
	classes := Classes()
	var channels []string
	for _, c := range table() {
		channels = append(channels, c.name)
		assert.NotEmpty(t, c.says, c.name)
		for _, p := range c.reads {
			assert.Contains(t, evidence.Order(), p, c.name)
		}
	}
	for _, c := range table() {
		for _, u := range c.rules {
			assert.NotEmpty(t, u.says, u.class)
			assert.NotEmpty(t, u.splitter, u.class)
			for _, part := range components { // never from outside evidence alone
				assert.NotContains(t, u.class+" "+u.says, part, u.class)
			}
			assert.NotEmpty(t, u.when, u.class)
			assert.NotEmpty(t, u.next.SGLang, u.class)
			assert.NotEmpty(t, u.next.VLLM, u.class)
			assert.NotEmpty(t, u.next.LlamaCpp, u.class)
			for _, p := range u.reads {
				assert.Contains(t, evidence.Order(), p, u.class)
			}
			for _, k := range u.covers {
				assert.Contains(t, append(slices.Clone(channels), parts...), k, u.class)
			}
			for _, b := range u.beside {
				assert.Contains(t, classes, b, u.class)
			}
			for _, w := range u.when {
				assert.NotEmpty(t, w.words, u.class)
			}
		}
	}
	for _, k := range scripted.Kinds() {
		if k.Slug == "benign-noise" { // must not be flagged
			continue
		}
		assert.Contains(t, classes, k.Class, k.ID)
	}
}

// Tails MUST be those of the binomial law: by the closed forms for no and for all successes, and for one of two.
func TestBinomialTail(t *testing.T) {
	nearly(t, 1, binomialTail(0, 5, 0.3))
	nearly(t, 0.3*0.3*0.3, binomialTail(3, 3, 0.3))
	nearly(t, 1-0.7*0.7, binomialTail(1, 2, 0.3))
	nearly(t, 0, binomialTail(4, 3, 0.3))
}

// The least contrast that names a cause MUST be eight against eight: seven against seven is not enough.
func TestLeastContrast(t *testing.T) {
	for n, want := range map[int]state{8: yes, 7: unknown} {
		good, bad := group{runs: n, right: n}, group{runs: n}
		assert.Equal(t, want, worse(good, bad).state, n)
	}
	assert.Equal(t, no, worse(group{runs: 8, right: 8}, group{runs: 8, right: 8}).state)
	assert.Equal(t, unknown, worse(group{}, group{runs: 8}).state)
}

// nearly compares probabilities that are sums of a few products in float64: under 64 roundings of 2^-53 each.
func nearly(t *testing.T, want, got float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 0x1p-47*want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
