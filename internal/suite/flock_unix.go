//go:build unix

package suite

import (
	"os"
	"syscall"
)

// lock takes the file for this process until it is closed; a process that dies lets go of it.
func lock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }
