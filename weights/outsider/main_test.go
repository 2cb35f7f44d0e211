// Package outsider proves the doctor of checkpoints from outside: sound folders of many families and schemes, and
// damages of them, written from public specifications and published configurations alone, by somebody who has not read
// the doctor. It asks through the public door, weights.Examine. Nothing here is imported by anything.
package outsider

import (
	"testing"

	"github.com/assay-suite/assay/internal/suite"
)

func TestMain(m *testing.M) { suite.Main(m) }
