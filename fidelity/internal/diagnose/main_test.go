package diagnose_test

import (
	"testing"

	"github.com/assay-suite/assay/internal/suite"
)

func TestMain(m *testing.M) { suite.Main(m) }

func init() {
	suite.Register(suite.Case{
		ID: "fidelity/diagnosis", Claim: "no probe MUST show a fault", Catches: []string{
			"44 kinds of faults, docs/diagnosis.md",
		}, Cost: suite.Cost{Requests: 1000},
	})
}
