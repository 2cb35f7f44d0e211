package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// `mage TARGET -h` tells of the target; everything else is mage's own.
func TestHelpOfATarget(t *testing.T) {
	for _, row := range []struct{ args, want []string }{
		{[]string{"live", "-h"}, []string{"-h", "live"}},
		{[]string{"live", "-y", "--help"}, []string{"-h", "live"}},
		{[]string{"-h", "live"}, []string{"-h", "live"}},
		{[]string{"live", "-y"}, []string{"live", "-y"}},
		{[]string{"-h"}, []string{"-h"}},
		{nil, nil},
	} {
		assert.Equal(t, row.want, helped(row.args), "%q", row.args)
	}
}
