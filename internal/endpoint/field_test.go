package endpoint

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/wire"
)

// The pre-flight on servers met in the field: what it does with a quirk, and what its table says of it.
func TestPreflightInTheField(t *testing.T) {
	for name, row := range map[string]struct {
		want map[string]Capability
		said string        // part of the row "model" or "request-fields"
		took time.Duration // of waiting
		err  string
		is   func(error) bool
	}{
		"o1-fields=all": {
			want: map[string]Capability{"chat": Supported, "logprobs": Unsupported, "request-fields": Unsupported},
			said: "max_completion_tokens is sent in place of max_tokens; temperature is refused and not sent",
		},
		"o1-fields=logprobs":   {want: map[string]Capability{"chat": Supported, "logprobs": Unsupported}},
		"model-listed=unknown": {want: map[string]Capability{"chat": Supported, "model": Unknown}, said: `lists "unknown"`},
		"model-listed=alias":   {want: map[string]Capability{"chat": Supported, "model": Unknown}, said: `"m" answers`},
		"model-listed=refused": {err: `refuses the model "m" of ASSAY_MODEL`, is: IsUsage},
		"loading=minutes":      {want: map[string]Capability{"chat": Supported}, took: 5 * time.Minute},
		"loading=for-ever":     {err: "still loading its model after 10m0s", is: IsUnreachable, took: 10 * time.Minute},
		"rate-limit=seconds":   {want: map[string]Capability{"chat": Supported}, took: 200 * time.Second},
		"unparsed=peg-native":  {want: map[string]Capability{"chat": Supported, "logprobs": Unknown}},
		"overload=503":         {err: "wire.test is unreachable: ", is: IsUnreachable},
		"overload=429":         {err: "status 429", is: IsUnreachable},
		"gateway=504":          {err: "raise its read timeout", is: func(err error) bool { return !IsUnreachable(err) }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, _ := quirky(t, wire.Options{Quirks: []string{name}})
				var shown bytes.Buffer
				c.wire.onWait = ShowWaits(&shown)
				began := time.Now()
				p, err := c.Preflight(t.Context(), "nonce")
				if row.err != "" {
					require.ErrorContains(t, err, row.err)
					assert.True(t, row.is(err), err)
					assert.NotContains(t, err.Error(), "ASSAY_MODEL to go on")
				} else {
					require.NoError(t, err)
				}
				for feature, state := range row.want {
					assert.Equal(t, state, p.State(feature), feature)
				}
				if row.said != "" {
					assert.Contains(t, fmt.Sprint(p.Features), row.said)
				}
				if row.took > 0 {
					assert.GreaterOrEqual(t, time.Since(began), row.took)
					assert.Contains(t, shown.String(), "waiting for the server (status ")
					assert.LessOrEqual(t, strings.Count(shown.String(), "\n"), 1+int(time.Since(began)/(15*time.Second)))
				}
			})
		})
	}
}

// A limit on time shows in cuts that come after the same time; cuts at any time are the server's.
func TestProxyLimitIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := quirky(t, wire.Options{Quirks: []string{"gateway=closed"}})
		for i := range 3 {
			a, err := c.Chat(t.Context(), hello())
			want := Gateway
			if i == 0 {
				want = Dropped // one says nothing
			}
			assert.Equal(t, want, ClassOf(a, err))
			if i == 2 {
				assert.ErrorContains(t, err, "as 2 before it after the same time: a proxy in between has a time limit")
			}
		}
	})
	var times cuts
	for i, after := range []time.Duration{time.Second, 3 * time.Second, 9 * time.Second} {
		cut := &TruncatedError{Got: int64(i)}
		assert.Equal(t, cut, times.seen(cut, after))
		assert.Zero(t, cut.Alike)
	}
}

// A server that spells its prompt otherwise, or has other marks in front, echoes all the same; one that answers as
// without echo does not.
func TestEchoIsProbedByIDs(t *testing.T) {
	for name, row := range map[string]struct {
		with, without string
		want          Capability
	}{
		"respelled": {"<unk> the capital Paris", " Paris", Supported},
		"ignored":   {" Paris", " Paris", Unsupported},
		"unrelated": {" Paris and more", " Paris", Unsupported},
	} {
		t.Run(name, func(t *testing.T) {
			c := newTest(t, func(r *http.Request) (*http.Response, error) {
				if r.URL.Path != "/v1/completions" {
					return respond(404, nil, strings.NewReader("{}")), nil
				}
				body, err := io.ReadAll(r.Body)
				require.NoError(t, err)
				assert.Contains(t, string(body), `"prompt":[10,11,12,13]`)
				text := row.without
				if strings.Contains(string(body), `"echo":true`) {
					text = row.with
				}
				return respond(200, nil, strings.NewReader(`{"choices":[{"text":"`+text+`","finish_reason":"length"}]}`)), nil
			}, Limits{})
			assert.Equal(t, row.want, c.probeEcho(t.Context(), "n", Identity{}).State)
		})
	}
}

// A proxy without a server behind it is code 4 and says its status; a Retry-After of two minutes is waited for.
func TestProxyWithoutAServer(t *testing.T) {
	for name, row := range map[string]struct {
		status int
		after  string
		took   time.Duration
	}{
		"502":           {http.StatusBadGateway, "", 0},
		"504":           {http.StatusGatewayTimeout, "", 0},
		"503, in 2 min": {http.StatusServiceUnavailable, "120", 10 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newTest(t, func(*http.Request) (*http.Response, error) {
					h := http.Header{}
					if row.after != "" {
						h.Set("Retry-After", row.after)
					}
					return respond(row.status, h, strings.NewReader("<html>nginx</html>")), nil
				}, Limits{})
				began := time.Now()
				_, err := c.Preflight(t.Context(), "nonce")
				require.True(t, IsUnreachable(err), err)
				assert.ErrorContains(t, err, fmt.Sprintf("status %d", row.status))
				assert.GreaterOrEqual(t, time.Since(began), row.took)
			})
		})
	}
}
