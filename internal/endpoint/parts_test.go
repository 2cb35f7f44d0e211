package endpoint

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// overSocket serves h and returns a client that tries once.
func overSocket(t *testing.T, h http.Handler) (c *Client, stop func()) {
	t.Helper()
	srv := httptest.NewServer(h)
	c, err := New(Options{BaseURL: srv.URL, Model: "wire", Limits: Limits{MaxTries: 1}})
	require.NoError(t, err)
	return c, srv.Close
}

func TestReasoningIsSplitOff(t *testing.T) {
	for name, row := range map[string]struct {
		in, text, reasoning string
		inline              bool
	}{
		"none":            {"48213", "48213", "", false},
		"tags":            {"<think>hm</think>\n\n48213", "48213", "hm", true},
		"no start":        {"hm, 77120?\n</think>\n\n48213", "48213", "hm, 77120?", true},
		"no end":          {"<think>hm, 77120", "", "hm, 77120", true},
		"empty":           {"<think></think>48213", "48213", "", true},
		"two":             {"<think>a</think>4 <think>b</think>8", "4 8", "ab", true},
		"no start, later": {"a</think>4<think>b</think>8", "48", "ab", true},
		"other tags":      {"[THINK]a[/THINK]48213", "48213", "a", true},
		"a smaller sign":  {"1 < 2 <thin", "1 < 2 <thin", "", false},
		"end twice":       {"a</think>4</think>8", "48", "a", true},
	} {
		t.Run(name, func(t *testing.T) {
			text, reasoning, inline := splitReasoning(row.in)
			if text != row.text || reasoning != row.reasoning || inline != row.inline {
				t.Errorf("got %q, %q, %v; want %q, %q, %v", text, reasoning, inline, row.text, row.reasoning, row.inline)
			}
		})
	}
}

// Texts are mended only where the tokens' bytes prove every character.
func TestMendingNeedsProof(t *testing.T) {
	tokens := func(s ...string) []Token {
		var out []Token
		for _, p := range s {
			out = append(out, Token{Bytes: []byte(p)})
		}
		return out
	}
	for name, row := range map[string]struct {
		text     string
		tokens   []Token
		want     string
		replaced int
	}{
		"whole":      {"Zürich", nil, "Zürich", 0},
		"two pieces": {"Z\ufffd\ufffdrich", tokens("Z\xc3", "\xbcrich"), "Zürich", 2},
		"four pieces": {
			"a \ufffd\ufffd\ufffd\ufffd b", tokens("a ", "\xf0", "\x9f", "\x99", "\x82", " b"), "a 🙂 b", 4,
		},
		"no bytes":          {"Z\ufffdrich", nil, "Z\ufffdrich", 1},
		"another text":      {"Z\ufffdrich", tokens("Zürs"), "Z\ufffdrich", 1},
		"broken bytes":      {"Z\ufffdrich", tokens("Z\xc3", "rich"), "Z\ufffdrich", 1},
		"a model's own":     {"a\ufffdb", tokens("a\ufffdb"), "a\ufffdb", 1},
		"at the end":        {"a\ufffd", tokens("a\xc3", "\xbc"), "aü", 1},
		"bytes go on":       {"a\ufffd", tokens("a\xc3\xbc", "b"), "a\ufffd", 1},
		"digits not hidden": {"4\ufffd8", tokens("4128"), "4\ufffd8", 1},
	} {
		t.Run(name, func(t *testing.T) {
			got, n := mend(row.text, row.tokens)
			if got != row.want || n != row.replaced {
				t.Errorf("got %q, %d; want %q, %d", got, n, row.want, row.replaced)
			}
		})
	}
}

// Wordings as servers have them, quoted in their public issues.
func TestOverflowWordings(t *testing.T) {
	k := func(n int) Count { return Count{n, true} }
	for name, row := range map[string]struct {
		status int
		msg    string
		want   Overflow
		long   bool
	}{
		"openai": {
			400, "This model's maximum context length is 4096 tokens. However, you requested 4242 tokens (4142 in the " +
				"messages, 100 in the completion). Please reduce the length of the messages or completion.", Overflow{
				k(4142), k(100), k(4096),
			}, true,
		},
		"vllm, input": {
			400, "This model's maximum context length is 4096 tokens. However, your request has 5000 input tokens. Please " +
				"reduce the length of the input messages.", Overflow{
				k(5000), Count{}, k(4096),
			}, true,
		},
		"vllm, most": {
			400, "'max_tokens' or 'max_completion_tokens' is too large: 9000. This model's maximum context length is 8192 " +
				"tokens and your request has 120 input tokens (9000 > 8192 - 120).", Overflow{
				k(120), k(9000), k(8192),
			}, true,
		},
		"vllm, engine": {
			400, "The decoder prompt (length 40963) is longer than the maximum model length of 40960.", Overflow{
				k(40963), Count{}, k(40960),
			}, true,
		},
		"sglang": {
			400, "The input (70012 tokens) is longer than the model's context length (65536 tokens).", Overflow{
				k(70012), Count{}, k(65536),
			}, true,
		},
		"sglang, sum": {
			400, "Requested token count exceeds the model's maximum context length of 32768 tokens. You requested a total of " +
				"33000 tokens: 32000 tokens from the input messages and 1000 tokens for the completion.", Overflow{
				k(32000), k(1000), k(32768),
			}, true,
		},
		"llama.cpp": {
			400, "request (9001 tokens) exceeds the available context size (8192 tokens), try increasing it", Overflow{
				k(9001), Count{}, k(8192),
			}, true,
		},
		"llama.cpp, before": {
			500, "the request exceeds the available context size. try increasing the context size or enable context shift",
			Overflow{},
			true,
		},
		"no numbers":     {400, "prompt is too long", Overflow{}, true},
		"something else": {400, "unknown field context", Overflow{}, false},
		"a key":          {401, "prompt is too long", Overflow{}, false},
		"overload":       {503, "maximum context length of 5 tokens", Overflow{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			got, long := OverflowOf(&StatusError{Status: row.status, Message: row.msg, Where: "status"})
			if got != row.want || long != row.long {
				t.Errorf("got %+v, %v; want %+v, %v", got, long, row.want, row.long)
			}
		})
	}
}

func TestTurnsAreWrittenInEveryForm(t *testing.T) {
	call := []ToolCall{{ID: "c", Name: "f", Arguments: "{}"}}
	const written = `"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]`
	for name, row := range map[string]struct {
		in   Message
		want string
	}{
		"user":  {Message{Role: "user", Content: "a"}, `{"role":"user","content":"a"}`},
		"empty": {Message{Role: "assistant", ToolCalls: call}, `{"role":"assistant","content":"",` + written + `}`},
		"null": {
			Message{Role: "assistant", Form: AsNull, ToolCalls: call},
			`{"role":"assistant","content":null,` + written + `}`,
		},
		"absent":    {Message{Role: "assistant", Form: AsAbsent, ToolCalls: call}, `{"role":"assistant",` + written + `}`},
		"text wins": {Message{Role: "assistant", Content: "a", Form: AsNull}, `{"role":"assistant","content":"a"}`},
		"reasoning": {
			Message{Role: "assistant", Content: "a", Reasoning: "t"},
			`{"role":"assistant","content":"a","reasoning_content":"t"}`,
		},
		"reasoning too": {
			Message{Role: "assistant", Content: "a", Reasoning: "t", Field: FieldReasoning},
			`{"role":"assistant","content":"a","reasoning":"t"}`,
		},
		"tool": {Message{Role: "tool", Content: "a", ToolCallID: "c"}, `{"role":"tool","content":"a","tool_call_id":"c"}`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := json.Marshal(row.in)
			require.NoError(t, err)
			assert.JSONEq(t, row.want, string(got))
		})
	}
	_, err := json.Marshal(Message{Role: "assistant", Reasoning: "t", Field: "thinking"})
	assert.ErrorContains(t, err, `not into "thinking"`)
}

// What cannot be written is named before anything is sent.
func TestUnwritableField(t *testing.T) {
	c := newTest(t, func(*http.Request) (*http.Response, error) {
		t.Error("a request was sent")
		return nil, io.EOF
	}, Limits{})
	r := hello()
	r.Extra = map[string]any{"probe": make(chan int)}
	_, err := c.Chat(t.Context(), r)
	assert.ErrorContains(t, err, `request field "probe"`)
	r = hello()
	r.Messages[0].Reasoning, r.Messages[0].Field = "t", "thinking"
	_, err = c.Chat(t.Context(), r)
	assert.ErrorContains(t, err, `not into "thinking"`)
}

// The key in pieces, each in an event of its own, is in nothing that is kept.
func TestKeyInPieces(t *testing.T) {
	const key = "sk-canary-0123456789"
	var body strings.Builder
	for _, piece := range []string{"my key is ", key[:7], key[7:12], key[12:]} {
		body.WriteString(`data: {"choices":[{"delta":{"content":"` + piece + `"}}]}` + "\n\n")
	}
	body.WriteString(`data: {"choices":[{"delta":{},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n")
	c, err := New(Options{
		BaseURL: "http://engine.test",
		APIKey:  key,
		Model:   "m",
		Transport: roundTrip(func(*http.Request) (*http.Response, error) {
			return respond(200, http.Header{"Content-Type": {"text/event-stream"}}, strings.NewReader(body.String())), nil
		}),
	})
	require.NoError(t, err)
	r := hello()
	r.Messages[0].Content = "I was given " + key
	a, err := c.Chat(t.Context(), r)
	require.NoError(t, err)
	if a.Text != "my key is "+redacted {
		t.Errorf("text %q", a.Text)
	}
	for _, piece := range []string{key, key[7:12]} {
		for name, kept := range map[string][]byte{"response": a.Exchange.Response, "request": a.Exchange.Request} {
			if strings.Contains(string(kept), piece) {
				t.Errorf("the kept %s holds %q of the key: %s", name, piece, kept)
			}
		}
	}
	if !a.Exchange.Redacted {
		t.Error("the kept request is not what was sent, and does not say so")
	}
}

// A key across the place where a quotation is cut leaves no beginning of itself, wherever it stands.
func TestKeyAtTheEndOfAQuotation(t *testing.T) {
	const key = "sk-canary-0123456789"
	for at := range 400 {
		filler := strings.Repeat("x", at)
		for name, row := range map[string]struct {
			status     int
			kind, body string
		}{
			"status":        {500, "", `{"error":{"message":"` + filler + key + `"}}`},
			"status, plain": {502, "", filler + key},
			"body":          {200, "", `{"error":"` + filler + key + `"}`},
			"no JSON":       {200, "", filler + key},
			"stream":        {200, "text/event-stream", `data: {"error":"` + filler + key + `"}` + "\n\n"},
			"junk":          {200, "text/event-stream", "data: " + filler + key + "\n\n"},
			"arguments": {
				200, "", `{"choices":[{"message":{"tool_calls":[{"function":{"name":"f","arguments":"` + filler + key + `"}}]}}]}`,
			},
			"odd content": {200, "", `{"choices":[{"message":{"content":{"` + filler + `":"` + key + `"}}}]}`},
		} {
			c, err := New(Options{
				BaseURL: "http://engine.test",
				APIKey:  key,
				Model:   "m",
				Limits:  Limits{MaxTries: 1},
				Transport: roundTrip(func(*http.Request) (*http.Response, error) {
					return respond(row.status, http.Header{"Content-Type": {row.kind}, "Server": {filler + key}},
						strings.NewReader(row.body)), nil
				}),
			})
			require.NoError(t, err)
			a, err := c.Chat(t.Context(), hello())
			said := a.Exchange.Server + string(a.Exchange.Response)
			if err != nil {
				said += err.Error()
			}
			for _, n := range a.Notes {
				said += n.Detail
			}
			if strings.Contains(said, key[:6]) {
				t.Fatalf("%s at %d: %s", name, at, said)
			}
		}
	}
}

// A large answer is read as it comes and not kept; a refusal of the same route is an error.
func TestNativeStream(t *testing.T) {
	const size = 8 << 20
	c := newTest(t, func(r *http.Request) (*http.Response, error) {
		if r.URL.Path != "/generate" {
			return respond(404, nil, strings.NewReader(`{"detail":"Not Found"}`)), nil
		}
		return respond(200, nil, io.LimitReader(zeros{}, size)), nil
	}, Limits{MaxBody: 4096})
	var n int64
	x, err := c.PostStream(t.Context(), "/generate", map[string]any{"text": "a"}, func(r io.Reader) (err error) {
		n, err = io.Copy(io.Discard, r)
		return err
	})
	require.NoError(t, err)
	if n != size || len(x.Response) != 0 || string(x.Request) != `{"text":"a"}` {
		t.Errorf("%d bytes read, %d kept, request %s", n, len(x.Response), x.Request)
	}
	stop := errors.New("enough")
	_, err = c.PostStream(t.Context(), "/generate", nil, func(io.Reader) error { return stop })
	assert.ErrorIs(t, err, stop)
	_, err = c.PostStream(t.Context(), "/other", nil, func(io.Reader) error { return nil })
	assert.Equal(t, http.StatusNotFound, statusOf(err))
	_, _, err = c.Get(t.Context(), "version")
	assert.ErrorContains(t, err, "must begin with a slash")
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }
