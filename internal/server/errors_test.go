package server_test

import (
	"context"
	"encoding/json"
	"math"
	"net/http"
	"strings"
	"testing"

	openai "github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/server"
)

const chat, text = "/v1/chat/completions", "/v1/completions"

var hi = `"messages":[{"role":"user","content":"hi"}]`

// Every refusal: status, the field it blames, and a word of its sentence.
var refusals = []struct {
	name, path, body string
	status           int
	param, says      string
}{
	{"empty body", chat, ``, 400, "", "JSON object"},
	{"not json", chat, `{"model":`, 400, "", "not valid JSON"},
	{"two objects", chat, `{} {}`, 400, "", "not valid JSON"},
	{"array body", text, `[1]`, 400, "", "JSON object"},
	{"no messages", chat, `{}`, 400, "messages", "at least one"},
	{"empty messages", chat, `{"messages":[]}`, 400, "messages", "at least one"},
	{"messages are text", chat, `{"messages":"hi"}`, 400, "messages", "list of objects"},
	{"null message", chat, `{"messages":[null]}`, 400, "messages", "messages[0]"},
	{"unknown role", chat, `{"messages":[{"role":"wizard","content":"hi"}]}`, 400, "messages", "wizard"},
	{"tool role", chat, `{"messages":[{"role":"tool","content":"hi"}]}`, 400, "messages", "tool"},
	{"no content", chat, `{"messages":[{"role":"user"}]}`, 400, "messages", "content"},
	{"content is a number", chat, `{"messages":[{"role":"user","content":3}]}`, 400, "messages", "content"},
	{"image part", chat, `{"messages":[{"role":"user","content":[{"type":"image_url"}]}]}`, 400, "messages", "image_url"},
	{"template refuses", chat, `{"messages":[{"role":"assistant","content":"hi"}]}`, 400, "messages", "chat template"},
	{"tools", chat, `{` + hi + `,"tools":[{}]}`, 400, "tools", "not supported"},
	{"json mode", chat, `{` + hi + `,"response_format":{"type":"json_object"}}`, 400, "response_format", "not supported"},
	{"n two", chat, `{` + hi + `,"n":2}`, 400, "n", "not supported"},
	{"n zero", text, `{"prompt":"a","n":0}`, 400, "n", "not supported"},
	{"best of", text, `{"prompt":"a","best_of":3}`, 400, "best_of", "not supported"},
	{"penalty", chat, `{` + hi + `,"frequency_penalty":0.5}`, 400, "frequency_penalty", "not supported"},
	{"bias", chat, `{` + hi + `,"logit_bias":{"5":1}}`, 400, "logit_bias", "not supported"},
	{"top_k", chat, `{` + hi + `,"top_k":4}`, 400, "top_k", "not supported"},
	{"suffix", text, `{"prompt":"a","suffix":"b"}`, 400, "suffix", "not supported"},
	{"negative max_tokens", chat, `{` + hi + `,"max_tokens":-1}`, 400, "max_tokens", "negative"},
	{
		"negative max_completion_tokens", chat, `{` + hi + `,"max_completion_tokens":-5}`, 400, "max_completion_tokens",
		"negative",
	},
	{"zero max_tokens in a chat", chat, `{` + hi + `,"max_tokens":0}`, 400, "max_tokens", "at least 1"},
	{"max_tokens is text", text, `{"prompt":"a","max_tokens":"many"}`, 400, "max_tokens", "integer"},
	{"max_tokens is half", text, `{"prompt":"a","max_tokens":1.5}`, 400, "max_tokens", "integer"},
	{"temperature below", text, `{"prompt":"a","temperature":-0.1}`, 400, "temperature", "between"},
	{"temperature above", text, `{"prompt":"a","temperature":2.5}`, 400, "temperature", "between"},
	{"temperature is text", text, `{"prompt":"a","temperature":"hot"}`, 400, "temperature", "number"},
	{"top_p zero", text, `{"prompt":"a","top_p":0}`, 400, "top_p", "above 0"},
	{"top_p above", text, `{"prompt":"a","top_p":1.1}`, 400, "top_p", "at most 1"},
	{"seed is text", text, `{"prompt":"a","seed":"x"}`, 400, "seed", "integer"},
	{"stop is a number", text, `{"prompt":"a","stop":4}`, 400, "stop", "string or a list"},
	{"stop holds a number", text, `{"prompt":"a","stop":["a",4]}`, 400, "stop", "string or a list"},
	{"five stops", text, `{"prompt":"a","stop":["1","2","3","4","5"]}`, 400, "stop", "at most 4"},
	{"empty stop", text, `{"prompt":"a","stop":[""]}`, 400, "stop", "empty"},
	{"stream is text", chat, `{` + hi + `,"stream":"yes"}`, 400, "stream", "true or false"},
	{
		"stream options without stream", chat, `{` + hi + `,"stream_options":{"include_usage":true}}`, 400, "stream_options",
		"stream",
	},
	{"logprobs 21", text, `{"prompt":"a","logprobs":21}`, 400, "logprobs", "between 0 and 20"},
	{"logprobs -1", text, `{"prompt":"a","logprobs":-1}`, 400, "logprobs", "between 0 and 20"},
	{"logprobs true in text", text, `{"prompt":"a","logprobs":true}`, 400, "logprobs", "integer"},
	{"logprobs number in chat", chat, `{` + hi + `,"logprobs":5}`, 400, "logprobs", "true or false"},
	{"top_logprobs 21", chat, `{` + hi + `,"logprobs":true,"top_logprobs":21}`, 400, "top_logprobs", "between 0 and 20"},
	{"top_logprobs alone", chat, `{` + hi + `,"top_logprobs":2}`, 400, "top_logprobs", "logprobs"},
	{"empty salt", chat, `{` + hi + `,"cache_salt":""}`, 400, "cache_salt", "1 to 1024"},
	{"huge salt", chat, `{` + hi + `,"cache_salt":"` + strings.Repeat("s", 1025) + `"}`, 400, "cache_salt", "1 to 1024"},
	{"min above max", text, `{"prompt":"a","max_tokens":2,"min_tokens":3}`, 400, "min_tokens", "max_tokens"},
	{"no prompt", text, `{}`, 400, "prompt", "missing"},
	{"prompt is a number", text, `{"prompt":7}`, 400, "prompt", "must be"},
	{"empty list", text, `{"prompt":[]}`, 400, "prompt", "no tokens"},
	{"mixed list", text, `{"prompt":[1,"a"]}`, 400, "prompt", "must be"},
	{"null id", text, `{"prompt":[20,null]}`, 400, "prompt", "must be"},
	{"id outside", text, `{"prompt":[20,64]}`, 400, "prompt", "outside the vocabulary"},
	{"negative id", text, `{"prompt":[[-1]]}`, 400, "prompt", "outside the vocabulary"},
	{"too many prompts", text, `{"prompt":[` + strings.Repeat(`"a",`, 64) + `"a"]}`, 400, "prompt", "at most 64"},
	{
		"prompt too long", text, `{"prompt":"` + strings.Repeat("a ", 2048) + `","max_tokens":1}`, 400, "prompt",
		"maximum context length is 2048 tokens. However, you requested 2050 tokens",
	},
	{
		"answer too long", chat, `{` + hi + `,"max_tokens":2045}`, 400, "messages",
		"you requested 2049 tokens (4 in the prompt, 2045 for the completion)",
	},
	{
		"full window, no max_tokens", chat, `{"messages":[{"role":"user","content":"` + strings.Repeat("a ", 2045) + `"}]}`,
		400, "messages", "maximum context length",
	},
	{"huge max_tokens", chat, `{` + hi + `,"max_tokens":9223372036854775807}`, 400, "messages", "maximum context length"},
	{"unknown model", chat, `{"model":"gpt",` + hi + `}`, 404, "model", `"gpt" is not served`},
	{"unknown route", "/v1/embeddings", `{}`, 404, "", "no route"},
	{"tokenize nothing", "/tokenize", `{}`, 400, "prompt", "missing"},
	{"tokenize both", "/tokenize", `{"prompt":"a",` + hi + `}`, 400, "prompt", "not both"},
	{"tokenize a role", "/tokenize", `{"messages":[{"role":"x","content":"a"}]}`, 400, "messages", "unknown role"},
	{"tokenize unknown model", "/tokenize", `{"model":"gpt","prompt":"a"}`, 404, "model", "not served"},
	{"detokenize nothing", "/detokenize", `{}`, 400, "tokens", "missing"},
	{"detokenize outside", "/detokenize", `{"tokens":[99]}`, 400, "tokens", "outside"},
	{"detokenize text", "/detokenize", `{"tokens":"a"}`, 400, "tokens", "list of token ids"},
}

func TestRefusals(t *testing.T) {
	ts := start(t, &fakeEngine{}, server.Config{})
	for _, row := range refusals {
		t.Run(row.name, func(t *testing.T) {
			status, _, data := call(t, ts, row.path, row.body)
			var got struct {
				Error *struct {
					Message, Type string
					Param, Code   *string
				}
			}
			require.NoError(t, json.Unmarshal(data, &got), "%s", data)
			require.NotNil(t, got.Error, "%s", data)
			param := ""
			if got.Error.Param != nil {
				param = *got.Error.Param
			}
			if status != row.status || param != row.param || !strings.Contains(got.Error.Message, row.says) {
				t.Errorf("got %d param %q %q, want %d param %q with %q", status, param, got.Error.Message, row.status, row.param,
					row.says)
			}
			if got.Error.Type != "invalid_request_error" ||
				!strings.HasSuffix(got.Error.Message, ".") && !strings.HasPrefix(got.Error.Message, "messages[") {
				t.Errorf("type %q, message %q must be a sentence", got.Error.Type, got.Error.Message)
			}
		})
	}
}

// The neighbours of the refusals that must pass.
func TestAccepted(t *testing.T) {
	ts := start(t, &fakeEngine{}, server.Config{})
	for name, row := range map[string]struct{ path, body string }{
		"exactly full": {text, `{"prompt":"` + strings.Repeat("a ", 2046) + `","max_tokens":1}`},
		"neutral fields": {
			chat, `{` + hi + `,"max_tokens":1,"n":1,"top_p":1.0,"frequency_penalty":0,"presence_penalty":0.0,` +
				`"logit_bias":{},"top_k":-1,"repetition_penalty":1.0,"response_format":{ "type": "text" },"tools":[],"user":"u"}`,
		},
		"nulls": {
			chat, `{` + hi + `,"max_tokens":1,"n":null,"stop":null,"seed":null,"stream_options":null,"logprobs":null}`,
		},
		"stop as text":       {text, `{"prompt":"a","stop":"x","max_tokens":1}`},
		"four stops":         {text, `{"prompt":"a","stop":["1","2","3","4"],"max_tokens":1}`},
		"logprobs 20":        {text, `{"prompt":"a","logprobs":20,"max_tokens":1}`},
		"negative seed":      {text, `{"prompt":"a","seed":-3,"temperature":1,"max_tokens":1}`},
		"empty text":         {text, `{"prompt":"","max_tokens":1}`},
		"salt of 1024 bytes": {chat, `{` + hi + `,"max_tokens":1,"cache_salt":"` + strings.Repeat("s", 1024) + `"}`},
	} {
		t.Run(name, func(t *testing.T) { ask(t, ts, row.path, row.body) })
	}
}

func TestUnknownFieldsAreIgnoredAndNamed(t *testing.T) {
	ts := start(t, &fakeEngine{}, server.Config{})
	_, header, _ := call(t, ts, chat, `{`+hi+`,"max_tokens":1,"cache_slat":"x","Max_Tokens":-1}`)
	if got := header.Get("X-Ignored-Fields"); got != "Max_Tokens, cache_slat" {
		t.Errorf("X-Ignored-Fields %q", got)
	}
}

func TestGoOpenAIReadsErrors(t *testing.T) {
	ts := start(t, &fakeEngine{}, server.Config{})
	_, err := client(ts).CreateChatCompletion(context.Background(), openai.ChatCompletionRequest{
		Model:     "fake",
		Messages:  chatQuestion,
		MaxTokens: 4096,
	})
	var api *openai.APIError
	require.ErrorAs(t, err, &api)
	if api.HTTPStatusCode != 400 || api.Code != "context_length_exceeded" || api.Param == nil || *api.Param != "messages" {
		t.Errorf("%+v", api)
	}
}

func TestMethods(t *testing.T) {
	ts := start(t, &fakeEngine{}, server.Config{})
	for name, row := range map[string]struct {
		method, path, allow string
		status              int
	}{
		"get chat":     {"GET", chat, "POST", 405},
		"post models":  {"POST", "/v1/models", "GET", 405},
		"put flush":    {"PUT", "/flush_cache", "GET, POST", 405},
		"head health":  {"HEAD", "/health", "", 200},
		"get flush":    {"GET", "/flush_cache", "", 200},
		"get vllm one": {"GET", "/reset_prefix_cache", "POST", 405},
		"model card":   {"GET", "/v1/models/fake", "", 200},
		"no such card": {"GET", "/v1/models/other", "", 404},
		"version":      {"GET", "/version", "", 200},
		"root":         {"GET", "/", "", 404},
	} {
		t.Run(name, func(t *testing.T) {
			req, err := http.NewRequestWithContext(context.Background(), row.method, ts.URL+row.path, nil)
			require.NoError(t, err)
			resp, err := http.DefaultClient.Do(req)
			require.NoError(t, err)
			resp.Body.Close()
			if resp.StatusCode != row.status || resp.Header.Get("Allow") != row.allow {
				t.Errorf("%d Allow %q, want %d %q", resp.StatusCode, resp.Header.Get("Allow"), row.status, row.allow)
			}
		})
	}
}

func TestBodyBound(t *testing.T) {
	ts := start(t, &fakeEngine{}, server.Config{MaxBody: 1000})
	fits := `{"prompt":"a","max_tokens":1,"user":"` // padded to exactly the bound
	fits += strings.Repeat("x", 1000-len(fits)-2) + `"}`
	ask(t, ts, text, fits)
	status, _, data := call(t, ts, text, " "+fits)
	if status != 413 || !strings.Contains(string(data), "1000 bytes") {
		t.Errorf("%d %s", status, data)
	}
}

// Minus infinity is a legal logit that JSON cannot carry.
func TestMinusInfinity(t *testing.T) {
	ts := start(t, &fakeEngine{poison: math.Inf(-1)}, server.Config{})
	a := ask(t, ts, text, `{"prompt":[20,7],"max_tokens":0,"echo":true,"logprobs":1}`)
	if got := string(a.Choices[0].Logprobs); !strings.Contains(got, `"token_logprobs":[null,-9999]`) {
		t.Error(got)
	}
}

// An engine that computes NaN must give an error, whole and in a stream, never an answer.
func TestBrokenEngine(t *testing.T) {
	for name, bad := range map[string]float64{"nan": math.NaN(), "inf": math.Inf(1)} {
		t.Run(name, func(t *testing.T) {
			ts := start(t, &fakeEngine{poison: bad, poisonAt: 6}, server.Config{})
			body := `{"prompt":[20,21,22,23],"max_tokens":8,"ignore_eos":true`
			status, _, data := call(t, ts, text, body+`}`)
			if status != 500 || !strings.Contains(string(data), "logit of token 7 at position 5") {
				t.Errorf("%d %s", status, data)
			}
			status, _, data = call(t, ts, text, body+`,"stream":true}`)
			if status != 200 || !strings.Contains(string(data), `data: {"error":`) ||
				!strings.HasSuffix(string(data), "data: [DONE]\n\n") {
				t.Errorf("stream %d %s", status, data)
			}
		})
	}
}
