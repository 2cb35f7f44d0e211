package state_test

import _ "github.com/assay-suite/assay/internal/golden" // so that go test ./... -update works
