package layers_test

// Registers -update, so that `go test ./... -update` is understood here too.
import _ "github.com/assay-suite/assay/internal/golden"
