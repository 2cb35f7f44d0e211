package kernels_test

import (
	"testing"

	"github.com/assay-suite/assay/internal/suite"
)

func TestMain(m *testing.M) { suite.Main(m) }
