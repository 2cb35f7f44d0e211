package inference_test

import (
	"bufio"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/assay-suite/assay/fidelity"
)

// An endpoint, asked whether it still recalls what stands in its context. Yours is
// fidelity.Config{BaseURL: "http://127.0.0.1:8000/v1", Goldens: "goldens"}.
func TestEndpoint(t *testing.T) {
	fidelity.Test(t, fidelity.Config{BaseURL: serve(t), Budget: "smoke", Artifacts: t.TempDir()})
}

// serve starts assay's own small model on a free port and returns its address.
func serve(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "nanoserve")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "github.com/assay-suite/assay/cmd/nanoserve")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	server := exec.CommandContext(t.Context(), program, "-addr", "127.0.0.1:0")
	out, err := server.StdoutPipe()
	if err == nil {
		server.Stderr = server.Stdout
		err = server.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Wait() }) // it was killed as the test's context ended
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if url := regexp.MustCompile(`http://[0-9.]+:[0-9]+`).FindString(lines.Text()); url != "" {
			go func() {
				for lines.Scan() { // so that it never waits for a reader
				}
			}()
			return url
		}
	}
	t.Fatal("nanoserve ended without an address")
	return ""
}
