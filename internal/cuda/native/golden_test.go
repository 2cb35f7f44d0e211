package native

import _ "github.com/assay-suite/assay/internal/golden" // -update
