package server_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/server"
)

// Whatever the body, the answer is 200 or an OpenAI-shaped 4xx, and valid JSON; nothing panics.
func FuzzRequests(f *testing.F) {
	for _, row := range refusals {
		f.Add(row.path, []byte(row.body))
	}
	f.Add(chat, []byte(`{`+hi+`,"max_tokens":2,"logprobs":true,"top_logprobs":20,"stop":["a"]}`))
	f.Add(text, []byte(`{"prompt":[[20],[21]],"max_tokens":2,"logprobs":3,"echo":true,"temperature":1,"seed":4,`+
		`"top_p":0.5}`))
	f.Add("/detokenize", []byte(`{"tokens":[1,2,3]}`))
	s, err := server.New(&fakeEngine{window: 64}, server.Config{MaxBody: 1 << 16})
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, path string, body []byte) {
		switch path {
		case chat, text, "/tokenize", "/detokenize":
		default:
			path = chat
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest(http.MethodPost, path, bytes.NewReader(body)))
		if ct := w.Header().Get("Content-Type"); ct == "text/event-stream; charset=utf-8" {
			if !bytes.HasSuffix(w.Body.Bytes(), []byte("data: [DONE]\n\n")) {
				t.Fatalf("the stream does not end: %s", w.Body)
			}
			return
		}
		var reply struct {
			Error *struct{ Message, Type string }
		}
		if err := json.Unmarshal(w.Body.Bytes(), &reply); err != nil {
			t.Fatalf("%d with a body that is no JSON: %v: %s", w.Code, err, w.Body)
		}
		switch {
		case w.Code == 200 && reply.Error == nil:
		case w.Code >= 400 && w.Code < 500 && reply.Error != nil && reply.Error.Message != "":
		default:
			t.Fatalf("%d %s for %s", w.Code, w.Body, body)
		}
	})
}
