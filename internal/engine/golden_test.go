package engine

// The blank import registers -update, so that `go test ./... -update` works here too.
import _ "github.com/assay-suite/assay/internal/golden"
