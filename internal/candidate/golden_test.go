package candidate_test

import _ "github.com/assay-suite/assay/internal/golden" // so that -update is understood
