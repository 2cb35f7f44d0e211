//go:build !unix

package suite

import "os"

// lock does nothing where files have no advisory locks: a run folder is made by one process, and only its own.
func lock(*os.File) error { return nil }
