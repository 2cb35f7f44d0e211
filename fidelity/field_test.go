package fidelity_test

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fidelity/internal/recall"
	"github.com/assay-suite/assay/fidelity/internal/session"
	"github.com/assay-suite/assay/internal/endpoint"
	"github.com/assay-suite/assay/internal/suite"
	"github.com/assay-suite/assay/internal/wire"
)

// A run on servers met in the field: how it ends, and what it says. The fake server answers no needle, so that a run
// which comes to its end is a fault of recall, never one of the engine.
func TestFieldLive(t *testing.T) {
	for quirk, row := range map[string]struct {
		code suite.Code
		err  func(error) bool
		says []string // on the terminal or in the error
	}{
		// a model that writes gibberish: llama.cpp calls it a 500, and it is a wrong answer
		"unparsed=peg-native": {code: suite.Regression, says: []string{"24 asked, 24 wrong"}},
		"o1-fields=all":       {code: suite.Regression, says: []string{"request_fields unsupported", "logprobs unsupported"}},
		"model-listed=alias":  {code: suite.Regression, says: []string{"model unknown"}},
		"rate-limit=seconds":  {code: suite.Regression, says: []string{"waiting for the server (status 429"}},
		"loading=minutes":     {code: suite.Regression, says: []string{"waiting for the server (status 503: Loading model)"}},
		"loading=for-ever": {
			err: endpoint.IsUnreachable, says: []string{"was still loading its model after 10m0s: try again when it is ready"},
		},
		"overload=503":         {err: endpoint.IsUnreachable, says: []string{"is unreachable"}},
		"model-listed=refused": {err: endpoint.IsUsage, says: []string{"refuses the model"}},
	} {
		t.Run(quirk, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := wire.Options{Quirks: []string{quirk}, Pause: time.Minute, Model: "m"}
				if quirk == "unparsed=peg-native" {
					o.Flavour = wire.LlamaCPP // the only one that says so; it counts tokens on a route of its own
				}
				s, err := wire.New(o)
				require.NoError(t, err)
				var out bytes.Buffer
				c, err := endpoint.New(endpoint.Options{
					BaseURL: "http://wire.test", Model: "m", Transport: s.Transport(), OnWait: endpoint.ShowWaits(&out),
				})
				require.NoError(t, err)
				d, err := session.Job{
					Title: "live", Client: c, Haystack: haystack(t), Budget: recall.Smoke, Parallel: 2, Out: &out,
				}.Run(t.Context())
				if row.err != nil {
					require.True(t, row.err(err), err)
					out.WriteString(err.Error())
				} else {
					require.NoError(t, err)
					assert.Equal(t, row.code, d.Judgement.Code, "%s\n%s", d.Judgement.Verdict, &out)
					assert.Empty(t, d.Judgement.Errors)
				}
				for _, words := range row.says {
					assert.Contains(t, out.String(), words)
				}
			})
		})
	}
}
