package endpoint

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// pickyServer refuses seeds, fails on templates, ignores echo and knows no identity route.
func pickyServer(t *testing.T, r *http.Request) (*http.Response, error) {
	t.Helper()
	var body map[string]json.RawMessage
	if r.Body != nil {
		raw, err := io.ReadAll(r.Body)
		require.NoError(t, err)
		_ = json.Unmarshal(raw, &body) // a GET has none
	}
	reply := func(status int, s string) (*http.Response, error) {
		return respond(status, nil, strings.NewReader(s)), nil
	}
	switch {
	case r.URL.Path == "/v1/models":
		return reply(200, `{"data":[{"id":"m"}]}`)
	case !strings.HasPrefix(r.URL.Path, "/v1/"):
		return reply(404, `{"detail":"Not Found"}`)
	case body["seed"] != nil:
		return reply(400, `{"error":{"message":"seed is not supported"}}`)
	case body["chat_template_kwargs"] != nil:
		return reply(500, `{"error":{"message":"jinja2: undefined"}}`)
	}
	return reply(200, `{"choices":[{"message":{"content":"Paris"},"text":"Paris","finish_reason":"stop"}],`+
		`"usage":{"prompt_tokens":9,"completion_tokens":1}}`)
}
