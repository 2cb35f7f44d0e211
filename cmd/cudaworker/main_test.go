package main

import (
	"fmt"
	"os"
	"testing"
)

// TestMain makes workers of the test binary itself: asCommand runs the command as it is, asFake serves Go functions on
// the fake device.
func TestMain(m *testing.M) {
	switch role := os.Getenv("CUDAWORKER_TEST"); role {
	case "":
		os.Exit(m.Run())
	case "command":
		os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	default:
		os.Exit(serveFake(role))
	}
}

// line is the command line of a worker in the role.
func line(role string, args ...string) string {
	out := fmt.Sprintf("CUDAWORKER_TEST=%s '%s'", role, os.Args[0])
	for _, a := range args {
		out += " '" + a + "'"
	}
	return out
}
