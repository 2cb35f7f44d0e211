package suite_test

import _ "github.com/assay-suite/assay/internal/golden" // so that this binary understands -update
