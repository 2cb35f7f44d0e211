package kernels_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/assay-suite/assay/internal/suite"
	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/kernels_test/internal/job"
)

// workerArgument makes this binary a worker process: the built-in candidate of a suite and contract, or a plant.
const workerArgument = "-be-worker="

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && strings.HasPrefix(os.Args[1], workerArgument) {
		if err := beWorker(strings.TrimPrefix(os.Args[1], workerArgument)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	suite.Main(m)
}

// beWorker serves "suite/plant/contract", the plant empty for the built-in candidate.
func beWorker(what string) error {
	parts := strings.Split(what, "/")
	for _, s := range job.Suites() {
		if s.Name != parts[0] {
			continue
		}
		build := s.Built
		for _, p := range s.Plants {
			if p.Name == parts[1] {
				build = p.Build
			}
		}
		c, err := build(parts[2])
		if err != nil {
			return err
		}
		return bench.Serve(context.Background(), os.Stdin, os.Stdout, c)
	}
	return fmt.Errorf("no suite is called %q", parts[0])
}

// workerLine is the command line of such a worker.
func workerLine(t *testing.T, suiteName, plantName, contract string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("GORACE=atexit_sleep_ms=0 '%s' '%s%s/%s/%s'", self, workerArgument, suiteName, plantName, contract)
}
