package cuda_test

import _ "github.com/assay-suite/assay/internal/golden" // -update
