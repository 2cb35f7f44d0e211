package fidelity_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/suite"
)

// A proxy that gives up on long prompts MUST leave a run that says what was not measured and why; a mock that says the
// same to everybody MUST be called one. Neither is a place in the context.
func TestWhatIsNotMeasured(t *testing.T) {
	for name, row := range map[string]struct {
		answer func(request) (int, string, string, string)
		code   suite.Code
		says   []string
	}{
		"proxy": {
			func(q request) (int, string, string, string) {
				if len(q.prompt()) > 2500 {
					return 504, "", "", ""
				}
				return 200, q.truth(), "", "stop"
			}, suite.Inconclusive, []string{
				"questions not measured (", " of 512 to 1024 tokens: a proxy gave up before the server answered: raise its read " +
					"timeout (nginx: proxy_read_timeout))",
			},
		},
		"mock": {
			func(request) (int, string, string, string) { return 200, "Hello! How can I help?", "", "stop" },
			suite.Regression,
			[]string{
				"24 of 24 questions, each about another code, get the same answer \"Hello! How can I help?\": a mock server",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			j, out := onFake(t, &engine{answer: row.answer})
			d, err := j.Run(t.Context())
			require.NoError(t, err)
			assert.Equal(t, row.code, d.Judgement.Code, d.Judgement.Verdict)
			for _, s := range row.says {
				assert.Contains(t, d.Judgement.Verdict, s)
				assert.Contains(t, strings.ReplaceAll(out.String(), "\n", " "), s)
			}
			assert.Equal(t, name == "proxy", strings.Contains(out.String(), "--- NOT MEASURED: "))
			assert.Equal(t, name == "mock", strings.Contains(out.String(), "--- FAIL: "))
		})
	}
}
