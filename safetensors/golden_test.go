package safetensors_test

// Registers the -update flag, so that `go test ./... -update` reaches this package too.
import _ "github.com/assay-suite/assay/internal/golden"
