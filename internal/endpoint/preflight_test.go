package endpoint

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

// engine is a scripted server with switches for what it lacks.
type engine struct {
	models     string
	maxTop     int  // larger top_logprobs are a 400; negative: fields ignored
	noTokenize bool // 404
	noUsage    bool
	noCached   bool
	ignoreSalt bool
	noComplete bool
	seen       map[string]bool
}

func (e *engine) RoundTrip(r *http.Request) (*http.Response, error) {
	var body struct {
		Top  int    `json:"top_logprobs"`
		Salt string `json:"cache_salt"`
	}
	var raw []byte
	if r.Body != nil {
		raw, _ = io.ReadAll(r.Body)
		_ = json.Unmarshal(raw, &body)
	}
	reply := func(status int, s string) (*http.Response, error) {
		return respond(status, nil, strings.NewReader(s)), nil
	}
	switch r.URL.Path {
	case "/v1/models":
		return reply(200, e.models)
	case "/tokenize":
		return reply(404, "no")
	case "/v1/tokenize":
		if e.noTokenize {
			return reply(404, "no")
		}
		return reply(200, `{"tokens":[1,2,3],"max_model_len":4096}`)
	case "/v1/completions":
		if e.noComplete {
			return reply(404, `{"error":{"message":"no such route"}}`)
		}
		return reply(200, `{"choices":[{"text":"x","finish_reason":"length"}]}`)
	}
	if e.maxTop >= 0 && body.Top > e.maxTop {
		return reply(400, fmt.Sprintf(`{"error":{"message":"top_logprobs at most %d"}}`, e.maxTop))
	}
	top := make([]string, max(0, min(body.Top, e.maxTop)))
	for i := range top {
		top[i] = fmt.Sprintf(`{"token":"t%d","logprob":-%d}`, i, i+1)
	}
	lp := "null"
	if len(top) > 0 {
		lp = `{"content":[{"token":"t0","logprob":-1,"top_logprobs":[` + strings.Join(top, ",") + `]}]}`
	}
	usage := "null"
	if !e.noUsage {
		details := ""
		if !e.noCached {
			key := body.Salt
			if e.ignoreSalt && key != "" {
				key = "any"
			}
			n := 0
			if e.seen[key] {
				n = 128
			}
			e.seen[key] = true
			details = fmt.Sprintf(`,"prompt_tokens_details":{"cached_tokens":%d}`, n)
		}
		usage = `{"prompt_tokens":200,"completion_tokens":1` + details + `}`
	}
	return reply(200, fmt.Sprintf(`{"choices":[{"message":{"content":"t0"},"logprobs":%s,"finish_reason":"stop"}],`+
		`"usage":%s}`, lp, usage))
}

func TestPreflightTable(t *testing.T) {
	one := `{"data":[{"id":"m","max_model_len":8192}]}`
	for name, row := range map[string]struct {
		engine engine
		window Count
		top    int
		want   map[string]Capability // rows that are not "supported"
	}{
		"full": {engine{models: one, maxTop: 20}, Count{8192, true}, 20, nil},
		"litellm": {
			engine{models: `{"data":[{"id":"m","max_input_tokens":8000}]}`, maxTop: 20}, Count{8000, true}, 20, nil,
		},
		"five-alternatives": {engine{models: `{"data":[{"id":"m"}]}`, maxTop: 5}, Count{4096, true}, 5, nil},
		"bare": {
			engine{models: `{"data":[{"id":"m"}]}`, maxTop: -1, noTokenize: true, noUsage: true, noComplete: true},
			Count{},
			0,
			map[string]Capability{
				"logprobs": Unsupported, "usage": Unsupported, "completions": Unsupported, "tokenize": Unsupported,
				"cached-tokens": Unknown, "cache-salt": Unknown, "window": Unknown,
			},
		},
		"no-cache-report": {
			engine{models: one, maxTop: 20, noCached: true},
			Count{8192, true},
			20,
			map[string]Capability{"cached-tokens": Unknown, "cache-salt": Unknown},
		},
		"salt-ignored": {
			engine{models: one, maxTop: 20, ignoreSalt: true},
			Count{8192, true},
			20,
			map[string]Capability{"cache-salt": Unsupported},
		},
	} {
		t.Run(name, func(t *testing.T) {
			row.engine.seen = map[string]bool{}
			c, err := New(Options{BaseURL: "http://engine.test", Transport: &row.engine})
			require.NoError(t, err)
			p, err := c.Preflight(t.Context(), "n1")
			require.NoError(t, err)
			want := map[string]Capability{
				"chat": Supported, "logprobs": Supported, "usage": Supported, "completions": Supported, "tokenize": Supported,
				"cached-tokens": Supported, "cache-salt": Supported, "window": Supported,
			}
			maps.Copy(want, row.want)
			got := map[string]Capability{}
			for _, f := range p.Features {
				got[f.Name] = f.State
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("table (-want +got):\n%s", d)
			}
			if p.Model != "m" || p.Window != row.window || p.Logprobs() != row.top {
				t.Errorf("model %q, window %v, %d alternatives; want m, %v, %d", p.Model, p.Window, p.Logprobs(), row.window,
					row.top)
			}
			if p.Requests > 12 {
				t.Errorf("%d requests: a pre-flight must stay cheap", p.Requests)
			}
		})
	}
}

func TestPreflightChoosesTheModel(t *testing.T) {
	for name, row := range map[string]struct{ models, want, err string }{
		"several": {`{"data":[{"id":"a"},{"id":"b"}]}`, "", `choose one with ASSAY_MODEL: "a", "b"`},
		"none":    {`{"data":[]}`, "", "lists no model"},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := New(Options{BaseURL: "http://engine.test", Model: row.want, Transport: &engine{models: row.models}})
			require.NoError(t, err)
			if _, err := c.Preflight(t.Context(), "n"); !IsUsage(err) || !strings.Contains(err.Error(), row.err) {
				t.Errorf("got %v, want a usage error with %q", err, row.err)
			}
		})
	}
}

func TestCompleteWithIDsAndEcho(t *testing.T) {
	var sent map[string]any
	c := newTest(t, func(r *http.Request) (*http.Response, error) {
		require.NoError(t, json.NewDecoder(r.Body).Decode(&sent))
		return respond(200, nil, strings.NewReader(`{"choices":[{"text":"ab","finish_reason":"length",`+
			`"logprobs":{"tokens":["a","b"],"token_logprobs":[null,-0.5],"top_logprobs":[null,{"b":-0.5,"c":-2}],`+
			`"text_offset":[0,1]}}]}`)), nil
	}, Limits{})
	a, err := c.Complete(t.Context(), CompletionRequest{
		IDs:      []int{0, 2, 70},
		Echo:     true,
		Sampling: Sampling{MaxTokens: 1, TopLogprobs: 2},
	})
	require.NoError(t, err)
	if d := cmp.Diff([]any{0.0, 2.0, 70.0}, sent["prompt"]); d != "" || sent["echo"] != true || sent["logprobs"] != 2.0 {
		t.Errorf("sent %v", sent)
	}
	if len(a.Tokens) != 2 || !math.IsNaN(a.Tokens[0].Logprob) || a.Tokens[1].Logprob != -0.5 ||
		a.Tokens[1].Top[0].Token != "b" {
		t.Errorf("tokens %+v: the first has no log-probability, the second -0.5", a.Tokens)
	}
}
