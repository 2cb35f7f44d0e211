package weights_test

import (
	"testing"

	_ "github.com/assay-suite/assay/internal/golden" // registers -update
	"github.com/assay-suite/assay/internal/suite"
)

func TestMain(m *testing.M) { suite.Main(m) }
