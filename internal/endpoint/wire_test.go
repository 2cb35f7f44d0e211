package endpoint

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

const canary = `sk-canary/"<7>é+x`

// roundTrip is a RoundTripper made of a function: with it time is synctest's and no socket is opened.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func respond(status int, header http.Header, body io.Reader) *http.Response {
	if header == nil {
		header = http.Header{}
	}
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(body)}
}

func newTest(t *testing.T, f roundTrip, l Limits) *Client {
	t.Helper()
	c, err := New(Options{BaseURL: "http://engine.test:1/v1", APIKey: canary, Model: "m", Limits: l, Transport: f})
	require.NoError(t, err)
	return c
}

func hello() ChatRequest {
	return ChatRequest{
		Messages: []Message{{Role: "user", Content: "hello <there>"}},
		Sampling: Sampling{MaxTokens: 5, TopLogprobs: 20, Extra: map[string]any{"cache_salt": "s1"}},
	}
}

const plainAnswer = `{"id":"1","object":"chat.completion","model":"m","choices":[{"index":0,` +
	`"message":{"role":"assistant","content":"12"},
"logprobs":{"content":[{"token":"1","logprob":-0.125,"bytes":[49],"top_logprobs":[{"token":"2","logprob":-3.5,` +
	`"bytes":[50]},{"token":"1","logprob":-0.125,"bytes":[49]}]},
{"token":"2","logprob":-0.25,"bytes":[50],"top_logprobs":[]}]},"finish_reason":"stop"}],
"usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11,"prompt_tokens_details":{"cached_tokens":0}}}`

var plainWant = Answer{
	Text: "12", Content: "12", Finish: "stop", Model: "m", Shape: ShapeContent,
	Tokens: []Token{
		{Text: "1", Bytes: []byte("1"), Logprob: -0.125, Top: []Alternative{{"1", -0.125}, {"2", -3.5}}},
		{Text: "2", Bytes: []byte("2"), Logprob: -0.25},
	},
	Usage: Usage{Prompt: Count{9, true}, Completion: Count{2, true}, Cached: Count{0, true}},
}

func TestBaseURL(t *testing.T) {
	for name, row := range map[string]struct{ in, want, err string }{
		"plain":       {"http://h:1", "http://h:1", ""},
		"v1":          {"http://h:1/v1", "http://h:1", ""},
		"v1-slash":    {" http://h:1/v1/ ", "http://h:1", ""},
		"prefix":      {"https://h/openai/v1", "https://h/openai", ""},
		"ipv6":        {"http://[::1]:8/", "http://[::1]:8", ""},
		"empty":       {"", "", "is empty"},
		"no-scheme":   {"localhost:8", "", `write "http://localhost:8"`},
		"ftp":         {"ftp://h", "", "must be http or https"},
		"no-host":     {"http:///v1", "", "names no host"},
		"credentials": {"http://u:sekrit@h", "", "carries credentials"},
		"query":       {"http://h?api-key=sekrit", "", "has a query"},
		"bad":         {"http://u:sekrit@h:port", "", "cannot be parsed"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := rootURL(row.in)
			if row.err == "" {
				require.NoError(t, err)
			} else if err == nil || !strings.Contains(err.Error(), row.err) {
				t.Errorf("got error %v, want one with %q", err, row.err)
			} else if strings.Contains(err.Error(), "sekrit") {
				t.Errorf("the error repeats a secret: %v", err)
			}
			if got != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}

// The exchange holds the bytes that arrived; the key is in a header and nowhere else, also when the
// server echoes it.
func TestExactBytesAndNoKey(t *testing.T) {
	var arrived []byte
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		arrived, _ = io.ReadAll(r.Body)
		if r.Header.Get("Authorization") != "Bearer "+canary {
			t.Errorf("Authorization is %q", r.Header.Get("Authorization"))
		}
		echo, _ := json.Marshal(canary)
		_, _ = fmt.Fprintf(w, `{"choices":[{"message":{"content":%s},"finish_reason":"stop"}],"usage":{"prompt_tokens":3}}`,
			echo)
	}))
	defer srv.Close()
	c, err := New(Options{BaseURL: srv.URL + "/v1/", APIKey: canary, Model: "m"})
	require.NoError(t, err)
	a, err := c.Chat(t.Context(), hello())
	require.NoError(t, err)

	if d := cmp.Diff(string(arrived), string(a.Exchange.Request)); d != "" {
		t.Errorf("stored request differs from what arrived (-arrived +stored):\n%s", d)
	}
	var sent map[string]any
	require.NoError(t, json.Unmarshal(arrived, &sent))
	for field, want := range map[string]any{
		"temperature": 0.0, "top_p": 1.0, "max_tokens": 5.0, "cache_salt": "s1", "logprobs": true, "top_logprobs": 20.0,
		"model": "m",
	} {
		if sent[field] != want {
			t.Errorf("field %q was sent as %v, want %v", field, sent[field], want)
		}
	}
	if a.Text != redacted {
		t.Errorf("the echoed key came back as %q", a.Text)
	}
	if a.Usage.Cached.Known || a.Usage.Completion.Known || !a.Usage.Prompt.Known {
		t.Errorf("absent counts must be unknown: %+v", a.Usage)
	}
	dir := t.TempDir()
	base, err := a.Exchange.Save(dir, "recall/len-128")
	require.NoError(t, err)
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	require.Len(t, files, 3)
	for _, f := range files {
		b, err := os.ReadFile(f)
		require.NoError(t, err)
		for _, k := range newRedactor(canary).spellings {
			if strings.Contains(string(b), k) {
				t.Errorf("%s holds the key spelled %q", f, k)
			}
		}
	}
	sh, err := os.ReadFile(filepath.Join(dir, base+".sh"))
	require.NoError(t, err)
	want := "curl -sS " + srv.URL + `/v1/chat/completions -H "Authorization: Bearer $OPENAI_API_KEY" -H 'Content-Type: ` +
		`application/json' --data-binary @recall--len-128.json` + "\n"
	if d := cmp.Diff(want, string(sh)); d != "" {
		t.Errorf("curl line (-want +got):\n%s", d)
	}
}

// A placeholder key must not change what a server said.
func TestPlaceholderKeyLeavesAnswersAlone(t *testing.T) {
	c, err := New(Options{
		BaseURL: "http://engine.test",
		APIKey:  "1",
		Model:   "m",
		Transport: roundTrip(func(*http.Request) (*http.Response, error) {
			return respond(200, nil, strings.NewReader(plainAnswer)), nil
		}),
	})
	require.NoError(t, err)
	if a, err := c.Chat(t.Context(), hello()); err != nil || a.Text != "12" {
		t.Errorf("got %q, %v; want 12", a.Text, err)
	}
}

func TestStreamEqualsPlain(t *testing.T) {
	event := func(s string) string { return "data: " + s + "\n\n" }
	stream := strings.Repeat(": keep-alive\n\n", 1000) + // beyond go-openai's limit of 300
		event(`{"id":"1","model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":null}}]}`) +
		event(`{"choices":[{"index":0,"delta":{"content":"1"},"logprobs":{"content":[{"token":"1","logprob":-0.125,`+
			`"bytes":[49],"top_logprobs":[{"token":"2","logprob":-3.5},{"token":"1","logprob":-0.125}]}]}}]}`) +
		"event: x\r\nid: 7\r\ndata:" + `{"choices":[{"index":0,"delta":{"content":"2"},` +
		`"logprobs":{"content":[{"token":"2","logprob":-0.25,"bytes":[50],"top_logprobs":[]}]}}]}` + "\r\n\r\n" +
		event(`{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`) +
		event(`{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":0}}}`)
	sse := http.Header{"Content-Type": {"text/event-stream; charset=utf-8"}}
	for name, row := range map[string]struct {
		header http.Header
		body   string
	}{
		"plain":              {nil, plainAnswer},
		"stream":             {sse, stream + event("[DONE]")},
		"stream-no-done":     {sse, stream},
		"stream-no-blank":    {sse, strings.ReplaceAll(stream, "\n\n", "\n") + "data: [DONE]"},
		"stream-after-done":  {sse, stream + event("[DONE]") + event(`{"choices":[{"delta":{"content":"x"}}]}`)},
		"stream-two-choices": {sse, event(`{"choices":[{"index":1,"delta":{"content":"no"}}]}`) + stream},
	} {
		t.Run(name, func(t *testing.T) {
			c := newTest(t, func(*http.Request) (*http.Response, error) {
				return respond(200, row.header, strings.NewReader(row.body)), nil
			}, Limits{})
			got, err := c.Chat(t.Context(), hello())
			require.NoError(t, err)
			_, ended := got.Noted(NoteDoneMissing)
			if ended != (strings.HasPrefix(name, "stream") && !strings.Contains(row.body, "[DONE]")) {
				t.Errorf("notes %v", got.Notes)
			}
			got.Exchange, got.Notes = Exchange{}, nil
			if d := cmp.Diff(plainWant, got); d != "" {
				t.Errorf("answer (-want +got):\n%s", d)
			}
		})
	}
}

// Each fault has an error of its own kind; none looks like a short or empty answer.
func TestFaultsOnTheWire(t *testing.T) {
	sse := http.Header{"Content-Type": {"text/event-stream"}}
	for name, row := range map[string]struct {
		status int
		header http.Header
		body   string
		want   string
	}{
		"400":      {400, nil, `{"error":{"message":"too long"}}`, "answered status 400: too long"},
		"401-echo": {401, nil, `{"error":{"message":"bad key sk-canary/\"<7>é+x"}}`, "check OPENAI_API_KEY"},
		"302": {
			302, http.Header{"Location": {"http://elsewhere/v1"}}, "", `redirects to "http://elsewhere/v1"`,
		},
		"error-in-200": {200, nil, `{"error":{"message":"boom"}}`, "reports an error in its body: boom"},
		"error-in-stream": {
			200, sse, "data: {\"choices\":[]}\n\ndata: { \"error\": {\"message\":\"boom\"}}\n\ndata: [DONE]\n\n",
			"reports an error in its stream: boom",
		},
		"only-done": {200, sse, "data: [DONE]\n\n", "without a finish_reason after 0 events"},
		"dropped": {
			200, sse, "data: {\"choices\":[{\"delta\":{\"content\":\"1\"}}]}\n\n", "without a finish_reason after 1 events",
		},
		"html":              {200, nil, "<html>", "is not valid JSON"},
		"no-choices":        {200, nil, `{"choices":[]}`, "has no choices"},
		"junk-event":        {200, sse, "data: {\"choices\":\n\n", "is not valid JSON"},
		"too-large":         {200, nil, `{"x":"` + strings.Repeat("y", 5000) + `"}`, "larger than 4096 bytes"},
		"too-large-stream":  {200, sse, strings.Repeat("data: {}\n\n", 5000), "larger than 4096 bytes"},
		"cut-off-mid-value": {200, nil, `{"choices":[{"mess`, "cut off after 18 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newTest(t, func(*http.Request) (*http.Response, error) {
				return respond(row.status, row.header, strings.NewReader(row.body)), nil
			}, Limits{MaxBody: 4096})
			a, err := c.Chat(t.Context(), hello())
			if err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("got error %v, want one with %q", err, row.want)
			}
			if err != nil && strings.Contains(err.Error(), "sk-canary") {
				t.Errorf("the error holds the key: %v", err)
			}
			if len(a.Exchange.Request) == 0 || a.Exchange.Tries != 1 {
				t.Errorf("the exchange of a failed request must be kept and not repeated: %d bytes, %d tries",
					len(a.Exchange.Request), a.Exchange.Tries)
			}
		})
	}
}
