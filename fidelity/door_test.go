package fidelity_test

import (
	"context"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fidelity"
)

// Every way a run can end has its code, and a verdict that says why.
func TestCodesOfRun(t *testing.T) {
	healthy := serve(t, load(t, "nano-v4"), "nano-v4")
	fake := httptest.NewServer(&engine{})
	defer fake.Close()
	noGoldens, dir := t.TempDir(), filepath.Join(t.TempDir(), "new")
	ended, end := context.WithCancel(t.Context())
	end()
	for name, row := range map[string]struct {
		ctx     context.Context
		config  fidelity.Config
		code    int
		verdict string
	}{
		"no address":      {nil, fidelity.Config{}, 2, "Config.BaseURL is empty"},
		"no such budget":  {nil, fidelity.Config{BaseURL: healthy, Budget: "huge"}, 2, "use [\"smoke\""},
		"no such text":    {nil, fidelity.Config{BaseURL: healthy, Haystack: "nobody"}, 2, "nobody"},
		"no such goldens": {nil, fidelity.Config{BaseURL: healthy, Goldens: "/no/such"}, 2, "is not a folder"},
		"nobody there":    {nil, fidelity.Config{BaseURL: "http://127.0.0.1:9"}, 4, "127.0.0.1:9"},
		"no such model":   {nil, fidelity.Config{BaseURL: healthy, Model: "nobody"}, 2, "nobody"},
		"stopped":         {ended, fidelity.Config{BaseURL: healthy}, 3, "stopped"},
		"golden": {
			nil, fidelity.Config{BaseURL: healthy, Budget: "smoke", Goldens: "../goldens", Artifacts: dir}, 0, "no fault found",
		},
		"a golden that is not there": {
			nil, fidelity.Config{BaseURL: fake.URL, Budget: "smoke", Goldens: noGoldens}, 3, "has no golden fidelity/scripted",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if row.config.Budget == "smoke" {
				long(t)
			}
			ctx := t.Context()
			if row.ctx != nil {
				ctx = row.ctx
			}
			r, err := fidelity.Run(ctx, row.config)
			assert.Equal(t, row.code, r.Code, r.Verdict)
			assert.Contains(t, r.Verdict, row.verdict)
			assert.Equal(t, row.code == 2 || row.code == 4, err != nil, "an error says that there is no judgement: %v", err)
			if row.config.Artifacts == "" {
				return
			}
			assert.FileExists(t, filepath.Join(dir, "report.html"))
			assert.Contains(t, r.Golden, "fidelity/nano-v4/opticks-")
			assert.Equal(t, r.Cells, r.Measured+len(r.Unmeasured))
			assert.Positive(t, r.Asked)
			assert.NotEmpty(t, r.Gates)
		})
	}
}

const (
	doorChild = "FIDELITY_DOOR_CHILD"
	doorURL   = "FIDELITY_DOOR_URL"
)

// TestDoorChild is what TestTestFails starts.
func TestDoorChild(t *testing.T) {
	if kind, set := os.LookupEnv(doorChild); set {
		fidelity.Test(t, fidelity.Config{BaseURL: os.Getenv(doorURL), Budget: "smoke", Goldens: kind})
	}
}

// Test MUST fail for every code but 0, with code and verdict as its message.
func TestTestFails(t *testing.T) {
	long(t)
	self, err := os.Executable()
	require.NoError(t, err)
	wrong := func(q request) (int, string, string, string) { return 200, q.truth()[1:] + "1", "", "stop" }
	healthy, faulty := httptest.NewServer(&engine{}), httptest.NewServer(&engine{answer: wrong})
	defer healthy.Close()
	defer faulty.Close()
	for name, row := range map[string]struct{ url, goldens, want string }{
		"healthy":     {healthy.URL, "", "questions measured"},
		"faulty":      {faulty.URL, "", "code 1: fault"},
		"unreachable": {"http://127.0.0.1:9", "../goldens", "code 4: unreachable"},
		"usage":       {"", "../goldens", "code 2: usage"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestDoorChild$", "-test.v")
			cmd.Env = append(os.Environ(), doorChild+"="+row.goldens, doorURL+"="+row.url)
			out, err := cmd.CombinedOutput()
			assert.Equal(t, name == "healthy", err == nil, "%s", out)
			assert.Contains(t, string(out), row.want)
			assert.NotContains(t, string(out), "SKIP")
		})
	}
}
