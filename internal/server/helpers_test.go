package server_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	openai "github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/server"
)

func start(t testing.TB, e *fakeEngine, cfg server.Config) *httptest.Server {
	t.Helper()
	if e.window == 0 {
		e.window = 2048
	}
	s, err := server.New(e, cfg)
	require.NoError(t, err)
	ts := httptest.NewServer(s)
	t.Cleanup(ts.Close)
	return ts
}

// client is the independent reader of our wire format.
func client(ts *httptest.Server) *openai.Client {
	cfg := openai.DefaultConfig("")
	cfg.BaseURL = ts.URL + "/v1"
	return openai.NewClientWithConfig(cfg)
}

// call posts a body and returns status and answer.
func call(t testing.TB, ts *httptest.Server, path, body string) (int, http.Header, []byte) {
	t.Helper()
	resp, err := http.Post(ts.URL+path, "application/json", strings.NewReader(body))
	require.NoError(t, err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, resp.Header, data
}

// answer is the part of a reply that tests compare.
type answer struct {
	Choices []struct {
		Text    string
		Message struct{ Content string }
		// Logprobs stays raw: equal bytes are equal bits, as Go prints float64 shortest and exact.
		Logprobs     json.RawMessage
		FinishReason string `json:"finish_reason"`
	}
	Usage struct {
		PromptTokens     int `json:"prompt_tokens"`
		CompletionTokens int `json:"completion_tokens"`
		Details          struct {
			CachedTokens int `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
	}
}

func ask(t testing.TB, ts *httptest.Server, path, body string) answer {
	t.Helper()
	status, _, data := call(t, ts, path, body)
	require.Equal(t, http.StatusOK, status, "%s", data)
	var a answer
	require.NoError(t, json.Unmarshal(data, &a))
	return a
}

// idPrompt is n token ids: words only, the first few from seed.
func idPrompt(n, seed int) []int {
	ids := make([]int, n)
	for i := range ids {
		ids[i] = fakeWords + (i*7+i/5)%(fakeVocab-fakeWords)
	}
	for i := 0; seed > 0 && i < n; i++ {
		ids[i] = 6 + seed%10
		seed /= 10
	}
	return ids
}

func completionBody(prompt []int, extra string) string {
	var b bytes.Buffer
	ids, _ := json.Marshal(prompt)
	fmt.Fprintf(&b, `{"prompt":%s,"temperature":0,"logprobs":5,"max_tokens":8%s}`, ids, extra)
	return b.String()
}

// decodeText flattens a reply for comparison, from goroutines that must not fail the test themselves.
func decodeText(resp *http.Response) string {
	var a answer
	data, err := io.ReadAll(resp.Body)
	if err == nil {
		err = json.Unmarshal(data, &a)
	}
	if err != nil || len(a.Choices) != 1 {
		return fmt.Sprintf("%d %v %s", resp.StatusCode, err, data)
	}
	return a.Choices[0].Text + string(a.Choices[0].Logprobs)
}
