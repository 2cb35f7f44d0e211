package endpoint

import (
	"encoding/json"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/wire"
)

func TestSurveyOfTheFlavours(t *testing.T) {
	for name, row := range map[string]struct {
		options wire.Options
		kind    Kind
		version string
		window  Count
		want    map[string]Capability // beside what all have
		field   Field
	}{
		"vllm": {wire.Options{Flavour: wire.VLLM}, KindVLLM, "0.11.2", Count{4096, true}, map[string]Capability{
			"indexer-topk": Unsupported,
		}, Field{"server_info.vllm_config.cache_config.block_size", "64"}},
		"sglang": {
			wire.Options{Flavour: wire.SGLang},
			KindSGLang,
			"0.5.6",
			Count{4096, true},
			nil,
			Field{"get_server_info.page_size", "64"},
		},
		"llama.cpp": {
			wire.Options{Flavour: wire.LlamaCPP},
			KindLlamaCPP,
			"b7100-1a2b3c4d",
			Count{4096, true},
			map[string]Capability{
				"prompt-logprobs": Unsupported, "indexer-topk": Unsupported,
			},
			Field{"props.total_slots", "2"},
		},
		"plain": {wire.Options{}, KindUnknown, "", Count{}, map[string]Capability{
			"tokenize": Unsupported, "window": Unknown, "prompt-logprobs": Unsupported, "flush": Unknown,
			"indexer-topk": Unsupported, "identity": Unsupported,
		}, Field{}},
		"reasoning-always": {
			wire.Options{
				Flavour: wire.SGLang, Quirks: []string{"inline-reasoning", "usage-placement=never", "logprobs=ignored"},
			},
			KindSGLang,
			"0.5.6",
			Count{4096, true},
			map[string]Capability{
				"usage": Unsupported, "usage-stream": Unsupported, "cached-tokens": Unknown, "cache-salt": Unknown,
				"continue-final": Unknown, "logprobs": Unsupported,
			},
			Field{"get_server_info.attention_backend", "nsa"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, s := quirky(t, row.options)
			steps := 0
			got, err := c.Watched(func() { steps++ }).Survey(t.Context(), "n1")
			require.NoError(t, err)
			if steps != SurveySteps {
				t.Errorf("%d steps were told of, and SurveySteps is %d", steps, SurveySteps)
			}
			want := map[string]Capability{}
			for f := range strings.FieldsSeq("chat logprobs usage completions tokenize cached-tokens cache-salt window " +
				"completions-ids echo prompt-logprobs usage-stream seed sampling-fields thinking-switch continue-final flush " +
				"indexer-topk identity") {
				want[f] = Supported
			}
			maps.Copy(want, row.want)
			states := map[string]Capability{}
			for _, f := range got.Features {
				states[f.Name] = f.State
			}
			if d := cmp.Diff(want, states); d != "" {
				t.Errorf("table (-want +got):\n%s\n%+v", d, got.Features)
			}
			if got.Identity.Kind != row.kind || got.Identity.Version != row.version || got.Window != row.window {
				t.Errorf("%s %q, window %v; want %s %q, %v", got.Identity.Kind, got.Identity.Version, got.Window, row.kind,
					row.version, row.window)
			}
			if v, ok := got.Identity.Value(row.field.Name); row.field.Name != "" && (!ok || v != row.field.Value) {
				t.Errorf("field %s is %q, want %q", row.field.Name, v, row.field.Value)
			}
			if got.Requests > 40 || got.Requests != len(s.Requests()) {
				t.Errorf("%d requests counted, %d arrived, want at most 40", got.Requests, len(s.Requests()))
			}
			if route := wire.FlushRoute(row.options.Flavour); route != "" && s.Calls(route) != 0 {
				t.Errorf("%s was called %d times: a pre-flight flushes nobody's cache", route, s.Calls(route))
			}
			for _, f := range got.Identity.Fields {
				if strings.Contains(f.Value, wire.Secret) {
					t.Errorf("field %s holds the server's own key", f.Name)
				}
			}
		})
	}
}

// A refused or failing probe is a row of its own state, and the survey goes on.
func TestSurveyTellsRefusalFromFailure(t *testing.T) {
	c := newTest(t, func(r *http.Request) (*http.Response, error) { return pickyServer(t, r) }, Limits{MaxTries: 1})
	got, err := c.Survey(t.Context(), "n")
	require.NoError(t, err)
	for name, want := range map[string]Capability{
		"seed": Unsupported, "thinking-switch": Failed, "echo": Unsupported, "chat": Supported,
	} {
		if s := got.State(name); s != want {
			t.Errorf("%s is %s, want %s", name, s, want)
		}
	}
}

func TestFingerprint(t *testing.T) {
	identify := func(o wire.Options) Identity {
		c, _ := quirky(t, o)
		id, err := c.Identify(t.Context())
		require.NoError(t, err)
		return id
	}
	a, b := identify(wire.Options{Flavour: wire.SGLang}), identify(wire.Options{Flavour: wire.SGLang})
	if a.Hash == "" || a.Hash != b.Hash || len(a.Differences(b)) != 0 {
		t.Errorf("equal servers: %s and %s, %v", a.Hash, b.Hash, a.Differences(b))
	}
	for name, row := range map[string]struct {
		change func(map[string]any)
		want   []string
	}{
		"a flag": {func(m map[string]any) { m["page_size"] = 1 }, []string{`get_server_info.page_size: "64", then "1"`}},
		"new":    {func(m map[string]any) { m["dp_size"] = 2 }, []string{`get_server_info.dp_size: absent, then "2"`}},
		"gone": {
			func(m map[string]any) { delete(m, "version") }, []string{`get_server_info.version: "0.5.6", then absent`},
		},
		"what changes by itself": {func(m map[string]any) {
			m["random_seed"], m["last_gen_throughput"], m["internal_states"], m["port"] = 1, 3.5, []any{}, 1
		}, nil},
		"the server's key": {func(m map[string]any) { m["api_key"] = "another" }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			base := map[string]any{
				"version": "0.5.6", "page_size": 64, "random_seed": 9, "last_gen_throughput": 1.5, "port": 2, "api_key": "one",
				"max_total_num_tokens": 5,
			}
			before := flatten(nil, "get_server_info", maps.Clone(base), 0)
			row.change(base)
			after := flatten(nil, "get_server_info", base, 0)
			if d := cmp.Diff(row.want, Identity{Fields: before}.Differences(Identity{Fields: after})); d != "" {
				t.Errorf("differences (-want +got):\n%s", d)
			}
			if (hashOf(before) == hashOf(after)) != (row.want == nil) {
				t.Errorf("hashes %s and %s", hashOf(before), hashOf(after))
			}
		})
	}
}

// A hostile identity cannot grow the fingerprint without bound.
func TestFingerprintIsBounded(t *testing.T) {
	deep := any("x")
	for range 50 {
		deep = map[string]any{"a": deep}
	}
	many := map[string]any{}
	for i := range 5000 {
		b, err := json.Marshal(i)
		require.NoError(t, err)
		many["f"+string(b)] = strings.Repeat("y", 1000)
	}
	got := flatten(nil, "r", map[string]any{"deep": deep, "many": many}, 0)
	if len(got) > mostFields || len(got[0].Value) > longestText {
		t.Errorf("%d fields, the first of %d bytes", len(got), len(got[0].Value))
	}
}
