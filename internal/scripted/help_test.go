package scripted_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/scripted"
)

type obj = map[string]any

// reply is what a client reads of an answer, streamed or not.
type reply struct {
	status                     int
	text, thought, finish, raw string
	prompt, completion, cached int
	calls                      []string // name and arguments, joined
	logprobs                   []float64
	deltas, comments           int
}

func engine(t testing.TB, o scripted.Options) *scripted.Engine {
	t.Helper()
	e, err := scripted.New(o)
	require.NoError(t, err)
	return e
}

func client(e *scripted.Engine) *http.Client { return &http.Client{Transport: e.Transport()} }

func post(ctx context.Context, c *http.Client, path string, body obj) (*http.Response, error) {
	data, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://engine.test"+path, bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return c.Do(r)
}

// user is a chat of one message at temperature 0.
func user(text string) obj {
	return obj{"messages": []obj{{"role": "user", "content": text}}, "temperature": 0, "max_tokens": 64}
}

func with(o obj, key string, v any) obj {
	out := obj{key: v}
	for k, old := range o {
		if k != key {
			out[k] = old
		}
	}
	return out
}

func ask(t testing.TB, c *http.Client, body obj) reply {
	t.Helper()
	return send(t, c, "/v1/chat/completions", body)
}

func send(t testing.TB, c *http.Client, path string, body obj) reply {
	t.Helper()
	resp, err := post(t.Context(), c, path, body)
	require.NoError(t, err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return decode(t, resp.StatusCode, string(data))
}

type wireCall struct {
	Index    *int
	ID       string
	Function struct{ Name, Arguments string }
}

type wireMessage struct {
	Content   string
	Reasoning string     `json:"reasoning_content"`
	Calls     []wireCall `json:"tool_calls"`
}

type wireEvent struct {
	Choices []struct {
		Message, Delta wireMessage
		Text           string
		Finish         string `json:"finish_reason"`
		Logprobs       *struct {
			Content []struct{ Logprob float64 }
		}
	}
	Usage *struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
		Details    struct {
			Cached int `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
	}
}

func decode(t testing.TB, status int, data string) reply {
	t.Helper()
	out := reply{status: status, raw: data}
	if status != http.StatusOK {
		return out
	}
	if !strings.HasPrefix(data, "data: ") && !strings.HasPrefix(data, ":") {
		out.take(t, data)
		return out
	}
	for line := range strings.SplitSeq(data, "\n") {
		if strings.HasPrefix(line, ":") {
			out.comments++
		}
		if event, ok := strings.CutPrefix(line, "data: "); ok && event != "[DONE]" {
			out.deltas++
			out.take(t, event)
		}
	}
	return out
}

func (r *reply) take(t testing.TB, event string) {
	t.Helper()
	var v wireEvent
	require.NoError(t, json.Unmarshal([]byte(event), &v), "%s", event)
	for _, c := range v.Choices {
		r.text += c.Message.Content + c.Delta.Content + c.Text
		r.thought += c.Message.Reasoning + c.Delta.Reasoning
		r.finish += c.Finish
		if c.Logprobs != nil {
			for _, l := range c.Logprobs.Content {
				r.logprobs = append(r.logprobs, l.Logprob)
			}
		}
		for i, k := range append(c.Message.Calls, c.Delta.Calls...) {
			if k.Index != nil {
				i = *k.Index
			}
			for len(r.calls) <= i {
				r.calls = append(r.calls, "")
			}
			r.calls[i] += k.Function.Name + k.Function.Arguments
		}
	}
	if v.Usage != nil {
		r.prompt, r.completion, r.cached = v.Usage.Prompt, v.Usage.Completion, v.Usage.Details.Cached
	}
}
