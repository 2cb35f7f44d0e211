package nano

import "github.com/assay-suite/assay/oracle"

// FastOps are a fast model's operators with results that stay.
func (m *Model) FastOps() oracle.Ops { return m.fast.Begin(m.ops, false).Ops }
