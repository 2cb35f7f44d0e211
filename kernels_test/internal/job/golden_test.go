package job

import _ "github.com/assay-suite/assay/internal/golden" // registers -update
