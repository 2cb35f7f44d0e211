package server_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/server"
)

// What the server adds to the engine: the fake's steps cost about a microsecond a token.
func BenchmarkRequest(b *testing.B) {
	for name, body := range map[string]string{
		"short": completionBody(idPrompt(32, 0), ""),
		"warm":  completionBody(idPrompt(1024, 0), ""),
		"top20": completionBody(idPrompt(32, 0), `,"logprobs":20`),
		"sse":   completionBody(idPrompt(32, 0), `,"stream":true`),
	} {
		b.Run(name, func(b *testing.B) {
			s, err := server.New(&fakeEngine{window: 2048}, server.Config{})
			require.NoError(b, err)
			b.ReportAllocs()
			for b.Loop() {
				w := httptest.NewRecorder()
				s.ServeHTTP(w, httptest.NewRequest(http.MethodPost, text, strings.NewReader(body)))
				if w.Code != 200 {
					b.Fatal(w.Body.String())
				}
			}
		})
	}
}
