package oracle_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/oracle"
)

func TestGroupLayout(t *testing.T) {
	expert, first, err := oracle.GroupLayout([]int{3, 0, 4, 1}, 4)
	require.NoError(t, err)
	if diff := cmp.Diff([]int{0, 0, 0, -1, 2, 2, 2, 2, 3, -1, -1, -1}, expert); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int{0, 4, 4, 8}, first); diff != "" {
		t.Error(diff)
	}
	_, _, err = oracle.GroupLayout([]int{1}, 0)
	require.ErrorContains(t, err, "align is 0")
	_, _, err = oracle.GroupLayout([]int{-1}, 4)
	require.ErrorContains(t, err, "-1 rows")
}
