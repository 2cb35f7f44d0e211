package report_test

// Registers -update, so that `go test ./... -update` works in every package.
import _ "github.com/assay-suite/assay/internal/golden"
