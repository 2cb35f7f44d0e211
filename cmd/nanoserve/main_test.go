package main

import (
	"bufio"
	"bytes"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	// Registers -update, so that `go test ./... -update` works here too.
	_ "github.com/assay-suite/assay/internal/golden"
)

// child tells the test binary to be the command itself.
const child = "NANOSERVE_CHILD"

func TestChild(*testing.T) {
	if _, ok := os.LookupEnv(child); !ok {
		return // the other tests start this one as a process
	}
	os.Args = append(os.Args[:1], "-addr=127.0.0.1:0")
	main()
}

// Each signal must end the process in good order, with code 0.
func TestSignals(t *testing.T) {
	for name, sig := range map[string]os.Signal{"sigint": os.Interrupt, "sigterm": syscall.SIGTERM} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestChild$")
			cmd.Env = append(os.Environ(), child+"=1")
			cmd.WaitDelay = 10 * time.Second
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			stdout, err := cmd.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			line, err := bufio.NewReader(stdout).ReadString('\n')
			require.NoError(t, err)
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, strings.TrimSpace(line)+"/models", nil)
			require.NoError(t, err)
			resp, err := http.DefaultClient.Do(req)
			require.NoError(t, err)
			resp.Body.Close()
			if resp.StatusCode != http.StatusOK {
				t.Errorf("models: %s", resp.Status)
			}
			require.NoError(t, cmd.Process.Signal(sig))
			if err := cmd.Wait(); err != nil || !strings.Contains(stderr.String(), "stopped") {
				t.Errorf("%v: %s", err, stderr.String())
			}
		})
	}
}
