package suite

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestIDs(t *testing.T) {
	for _, id := range []string{
		"kernels/indexer-logits-paged/page-edge/len-65/hopper-fp8", "a/b", "fidelity/grid/1024/0.25",
	} {
		assert.NoError(t, ValidID(id), id)
	}
	for _, id := range []string{
		"", "grid", "a//b", "a/", "/a", "a/B", "a/b c", "a/-b", "a/b.", "a/..", "a/é", "a/b\n", "a/b_c",
	} {
		assert.Error(t, ValidID(id), "%q", id)
	}
}

func TestRegistry(t *testing.T) {
	var r Registry
	r.Register(Case{ID: "b/x", Claim: "it MUST hold"}, Case{ID: "a/x", Claim: "it MUST hold"})
	require.NoError(t, r.Err())
	assert.Equal(t, []string{"a/x", "b/x"}, IDs(r.Cases()), "sorted")

	r.Register(
		Case{ID: "a/x", Claim: "another MUST"},
		Case{ID: "a/y", Claim: "it should hold"},
		Case{ID: "A/z", Claim: "it MUST hold"},
		Case{ID: "a/c", Claim: "it MUST hold", Cost: Cost{Tokens: -1}},
		Case{ID: "a/z", Claim: "it MUST hold"},
	)
	assert.Equal(t, []string{"a/x", "a/z", "b/x"}, IDs(r.Cases()), "the valid ones are kept")
	for _, want := range []string{
		`"a/x" is registered twice`, `"it should hold": write one sentence with MUST`, `segment "A"`, "negative cost",
	} {
		assert.ErrorContains(t, r.Err(), want)
	}
	assert.Equal(t, Cost{3, 5, 7}, Cost{1, 2, 3}.Plus(Cost{2, 3, 4}))
}

// The order is the documented one, written out.
func TestWorst(t *testing.T) {
	order := []Outcome{Skip, Passed, Unmeasured, Failed, Errored}
	for i, a := range order {
		require.NoError(t, a.Validate())
		for j, b := range order {
			assert.Equal(t, order[max(i, j)], Worst(a, b))
		}
	}
	assert.Equal(t, Skip, Worst())
	assert.Equal(t, Errored, Worst(Passed, "fine"), "an unknown outcome is never mild")
	require.Error(t, Outcome("fine").Validate())
}

func TestWorstIsALattice(t *testing.T) {
	outcome := rapid.SampledFrom([]Outcome{Skip, Passed, Unmeasured, Failed, Errored})
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := outcome.Draw(t, "a"), outcome.Draw(t, "b"), outcome.Draw(t, "c")
		if Worst(a, b) != Worst(b, a) || Worst(Worst(a, b), c) != Worst(a, Worst(b, c)) || Worst(a, a) != a {
			t.Fatalf("not commutative, associative or idempotent on %s %s %s", a, b, c)
		}
	})
}

// Distances by hand, and the classic pair kitten / sitting = 3.
func TestEditDistance(t *testing.T) {
	for _, row := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"", "abc", 3},
		{"abc", "", 3},
		{"kitten", "sitting", 3},
		{"ASSAY_GOLDEN", "ASSAY_GOLDENS", 1},
		{"ab", "ba", 2},
	} {
		assert.Equal(t, row.want, editDistance(row.a, row.b), "%q %q", row.a, row.b)
	}
}

func TestCheckEnv(t *testing.T) {
	require.NoError(t, CheckEnv([]string{
		"PATH=/bin", "ASSAY_BUDGET=", "ASSAY_BUDGET=full", "ASSAY_DISRUPT=0", "OPENAI_BASE_URL=x", "=C:=", "odd",
	}))
	for kv, want := range map[string]string{
		"ASSAY_WEIGHT=x":    "did you mean ASSAY_WEIGHTS?",
		"ASSAY_=x":          "there is no such variable",
		"ASSAY_budget=full": "did you mean ASSAY_BUDGET?",
		"ASSAY_SHARD=3/3":   "not i/n",
		"ASSAY_RECORD=x":    "this version does not use it",
		"ASSAY_BUDGET=huge": "use one of smoke, standard, full",
	} {
		require.ErrorContains(t, CheckEnv([]string{kv}), want, kv)
	}
	names := map[string]bool{}
	for _, v := range Env() {
		assert.False(t, names[v.Name], "%s stands twice in the table", v.Name)
		names[v.Name] = true
		assert.NotEmpty(t, v.Meaning, v.Name)
	}
}

func TestValue(t *testing.T) {
	t.Setenv("ASSAY_ARTIFACTS", "")
	v, set := Value("ASSAY_ARTIFACTS")
	assert.Equal(t, "artifacts", v)
	assert.False(t, set)
	t.Setenv("ASSAY_ARTIFACTS", "/x")
	v, set = Value("ASSAY_ARTIFACTS")
	assert.Equal(t, "/x", v)
	assert.True(t, set)
}

func TestShards(t *testing.T) {
	for _, bad := range []string{"x", "1", "1/", "/2", "2/2", "-1/2", "0/0", "1/2/3", "a/b", "0x1/2", " 0/2"} {
		_, err := ParseShard(bad)
		assert.Error(t, err, "%q", bad)
	}
	whole, err := ParseShard("")
	require.NoError(t, err)
	rapid.Check(t, func(t *rapid.T) {
		id := "a/" + rapid.StringMatching(`[a-z0-9]{1,12}`).Draw(t, "id")
		n := rapid.IntRange(1, 9).Draw(t, "n")
		owners := 0
		for i := range n {
			if (Shard{i, n}).Has(id) {
				owners++
			}
		}
		if owners != 1 || !whole.Has(id) {
			t.Fatalf("%q has %d owners of %d", id, owners, n)
		}
	})
}

// FNV-1a 64: offset basis and the hash of "a" as published by its authors (Fowler, Noll, Vo).
func TestSeedIsFNV1a(t *testing.T) {
	assert.Equal(t, uint64(0xcbf29ce484222325), Seed(""))
	assert.Equal(t, uint64(0xaf63dc4c8601ec8c), Seed("a"))
	first, again, other := Rand("a/b"), Rand("a/b"), Rand("a/c")
	drawn := first.Uint64()
	assert.Equal(t, drawn, again.Uint64(), "the same case, the same numbers")
	assert.NotEqual(t, drawn, other.Uint64())
}
