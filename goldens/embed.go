// Package goldens carries a read-only copy of the committed expected results, so that a test binary started away from
// its source tree still has something to compare with.
//
// The files themselves are read and written by internal/golden only.
package goldens

import "embed"

// FS holds the goldens as they were when the binary was built: <pillar>/<family>.json.
//
//go:embed *
var FS embed.FS
