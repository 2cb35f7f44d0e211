package wire

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTableOfQuirks(t *testing.T) {
	slug := regexp.MustCompile(`^[a-z0-9.-]+$`)
	seen := map[string]bool{}
	for i, q := range Quirks() {
		if want := fmt.Sprintf("W%d", i+1); q.ID != want {
			t.Errorf("quirk %d has id %q, want %q", i, q.ID, want)
		}
		if seen[q.Slug] || !slug.MatchString(q.Slug) || q.What == "" || len(q.Variants) == 0 {
			t.Errorf("quirk %+v", q)
		}
		seen[q.Slug] = true
		for _, v := range q.Variants {
			if seen[q.Slug+"="+v] || !slug.MatchString(v) {
				t.Errorf("quirk %s has variant %q", q.Slug, v)
			}
			seen[q.Slug+"="+v] = true
		}
	}
	if len(Quirks()) != 34 {
		t.Errorf("%d quirks, want 34", len(Quirks()))
	}
}

func TestRefusesWhatDoesNotExist(t *testing.T) {
	for name, row := range map[string]struct {
		o    Options
		want string
	}{
		"quirk":        {Options{Quirks: []string{"no-such"}}, `no quirk "no-such"`},
		"variant":      {Options{Quirks: []string{"overload=7"}}, `no variant "7": it has 503-twice,`},
		"two variants": {Options{Quirks: []string{"overload=503", "overload=429"}}, "choose one"},
		"flavour":      {Options{Flavour: "tgi"}, `no flavour "tgi"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := New(row.o)
			assert.ErrorContains(t, err, row.want)
		})
	}
	_, err := New(Options{Quirks: []string{"overload", "overload=503-twice"}})
	assert.NoError(t, err, "the default variant by both names is one switch")
}

// exchange sends one request and returns everything that comes back as text.
func exchange(t *testing.T, c http.RoundTripper, url, body string) string {
	t.Helper()
	method, payload := http.MethodGet, io.Reader(http.NoBody)
	if body != "" {
		method, payload = http.MethodPost, strings.NewReader(body)
	}
	r, err := http.NewRequestWithContext(t.Context(), method, url, payload)
	require.NoError(t, err)
	res, err := c.RoundTrip(r)
	if err != nil {
		return "no answer"
	}
	defer func() { _ = res.Body.Close() }()
	var b bytes.Buffer
	_, err = io.Copy(&b, res.Body)
	return fmt.Sprintf("%d %s %s cut=%v", res.StatusCode, res.Header.Get("Content-Type"), b.String(), err != nil)
}

const streamed = `{"model":"wire","messages":[{"role":"user","content":"What is the ` +
	`code?"}],"max_tokens":32,"stream":true,"stream_options":{"include_usage":true},"logprobs":true,"top_logprobs":5}`

// Each switch changes what is sent in some way, equal servers send equal bytes, and a socket carries what memory does.
func TestEverySwitchIsDeterministicAndChangesTheWire(t *testing.T) {
	bodies := []string{
		streamed,
		strings.Replace(streamed, `"stream":true`, `"stream":false`, 1),
		strings.Replace(streamed, `"model":"wire"`, `"model":"x"`, 1),
		strings.Replace(streamed, `"max_tokens":32`, `"max_tokens":4,"tools":[{}]`, 1),
		strings.Replace(streamed, `"max_tokens":32`, `"max_tokens":32,"tools":[{}]`, 1),
		strings.Replace(streamed, `What is`, strings.Repeat("word ", 80), 1),
		strings.Replace(streamed, `What is`, strings.Repeat("word ", 40), 1),
		strings.Replace(streamed, `"max_tokens":32`, `"temperature":0`, 1),
	}
	for _, form := range []string{
		`"content":null,"tool_calls":[]`, `"content":"","tool_calls":[]`, `"tool_calls":[]`,
		`"content":"a","reasoning":"b"`, `"content":"a","reasoning_content":"b"`,
	} {
		bodies = append(bodies, strings.Replace(streamed, `}],`, `},{"role":"assistant",`+form+`}],`, 1))
	}
	all := func(t *testing.T, quirks ...string) (memory, socket string) {
		t.Helper()
		for _, inMemory := range []bool{true, false} {
			s, err := New(Options{Quirks: quirks, Window: 64, Pause: 1})
			require.NoError(t, err)
			var out strings.Builder
			if inMemory {
				for _, b := range bodies {
					out.WriteString(exchange(t, s.Transport(), "http://wire.test/v1/chat/completions", b) + "\n")
				}
				out.WriteString(exchange(t, s.Transport(), "http://wire.test/v1/models", "") + "\n")
				memory = out.String()
				continue
			}
			srv := httptest.NewServer(s)
			for _, b := range bodies {
				out.WriteString(exchange(t, http.DefaultTransport, srv.URL+"/v1/chat/completions", b) + "\n")
			}
			out.WriteString(exchange(t, http.DefaultTransport, srv.URL+"/v1/models", "") + "\n")
			srv.Close()
			socket = out.String()
		}
		return memory, socket
	}
	healthy, _ := all(t)
	for _, q := range Quirks() {
		for _, v := range q.Variants {
			name := q.Slug + "=" + v
			switch name {
			case "no-done=open": // waits for the client to leave
				continue
			case "usage-without-choices=empty-list", "first-delta=empty", "defaults=ignored", "model-name=ignored",
				"over-long=vllm", "late-headers=headers", "late-headers=first-byte", "loading=minutes":
				// The healthy answer has the form already, or the difference is in time or in what has no effect.
				continue
			}
			memory, socket := all(t, name)
			if memory == healthy {
				t.Errorf("%s changes nothing", name)
			}
			if memory != socket {
				t.Errorf("%s differs in memory from a socket (-memory +socket):\n%s", name,
					cmp.Diff(strings.Split(memory, "\n"), strings.Split(socket, "\n")))
			}
		}
	}
}

// The flavours have the routes of their engines, and plain has none.
func TestIdentityRoutes(t *testing.T) {
	for flavour, routes := range map[Flavour]map[string]string{
		VLLM: {
			"/version":                        "0.11.2",
			"/server_info?config_format=json": "block_size",
			"/openapi.json":                   "/reset_prefix_cache",
			"/v1/models":                      "max_model_len",
			"/props":                          "404",
		},
		SGLang: {
			"/get_server_info": "chunked_prefill_size",
			"/get_model_info":  "weight_version",
			"/openapi.json":    "/flush_cache",
			"/version":         "404",
		},
		LlamaCPP: {"/props": "build_info", "/slots": "is_processing", "/v1/models": "n_ctx_train", "/openapi.json": "404"},
		Plain:    {"/version": "404", "/props": "404", "/tokenize": "404", "/v1/models": "wire"},
	} {
		for path, want := range routes {
			t.Run(string(flavour)+path, func(t *testing.T) {
				s, err := New(Options{Flavour: flavour})
				require.NoError(t, err)
				if got := exchange(t, s.Transport(), "http://wire.test"+path, ""); !strings.Contains(got, want) {
					t.Errorf("got %.200s, want %q", got, want)
				}
			})
		}
	}
}

// The waits are units of Pause, on whatever clock the test has, and a client that leaves ends them.
func TestWaitsEndWithTheClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := New(Options{Quirks: []string{"late-headers", "no-done=open"}, Pause: time.Hour})
		require.NoError(t, err)
		began := time.Now()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://wire.test/v1/chat/completions",
			strings.NewReader(streamed))
		require.NoError(t, err)
		res, err := s.Transport().RoundTrip(r)
		require.NoError(t, err)
		if got := time.Since(began); got != time.Hour {
			t.Errorf("headers after %s, want an hour", got)
		}
		if b := make([]byte, 5); true {
			_, err = io.ReadFull(res.Body, b)
			assert.NoError(t, err)
			assert.Equal(t, "data:", string(b))
		}
		assert.NoError(t, res.Body.Close())
		synctest.Wait() // the handler's goroutine must end, or the bubble fails
	})
}
