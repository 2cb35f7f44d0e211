package gate_test

// The import registers -update, so that `go test ./... -update` is accepted here too.
import _ "github.com/assay-suite/assay/internal/golden"
