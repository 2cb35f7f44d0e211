package tape_test

import _ "github.com/assay-suite/assay/internal/golden" // registers -update
