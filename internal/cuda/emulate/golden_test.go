package emulate

import _ "github.com/assay-suite/assay/internal/golden" // -update
