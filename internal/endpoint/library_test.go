package endpoint

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/wire"
)

// misread are the variants of quirks that go-openai's own decoding takes for something else, of those that one plain
// chat meets: why the transport reads answers itself. When the library is updated and one of them leaves, take it out.
var misread = map[string][]string{
	"another text than was sent": {
		"split-characters=raw-bytes", "split-characters=replaced", "split-characters=surrogates",
	},
	"a whole answer is an error": {"comments=long-lines", "comments=many", "logprobs=infinity"},
	"a failure is an answer": {
		"error-in-200=code-only", "error-in-200=detail", "error-in-200=object", "error-in-200=text",
		"error-in-stream=named-event", "error-in-stream=old-object", "only-done=done", "only-done=role-then-done",
	},
	"what is unknown is zero": {"cached-tokens=no-details", "usage-placement=in-choice", "usage-placement=never"},
}

// noDecoding are quirks for which a client needs more than decoding: retries, parsers of reasoning, other requests.
var noDecoding = []string{
	"overload", "inline-reasoning", "o1-fields", "rate-limit", "loading", "model-listed", "unparsed", "gateway",
}

// TestLibraryAlone holds the list by a plain client of the library, whole and streamed, on the same fake server.
func TestLibraryAlone(t *testing.T) {
	got := map[string][]string{}
	for kind := range misread {
		got[kind] = []string{}
	}
	plain := 0
	for _, q := range wire.Quirks() {
		for _, v := range q.Variants {
			name := q.Slug + "=" + v
			row := quirkRows[name]
			if row.ask != "" && row.ask != "stream" || row.want != "" ||
				slices.Contains(noDecoding, q.Slug) {
				continue
			}
			plain++
			for _, stream := range []bool{false, true} {
				if row.ask == "stream" && !stream {
					continue
				}
				kind := ""
				synctest.Test(t, func(t *testing.T) { kind = readByLibrary(t, name, row, stream) })
				if kind != "" && !slices.Contains(got[kind], name) {
					got[kind] = append(got[kind], name)
				}
			}
		}
	}
	for kind := range got {
		slices.Sort(got[kind])
	}
	assert.Equal(t, misread, got, "of %d variants", plain)
	assert.Equal(t, 53, plain, "ARCHITECTURE.md says of how many")
}

func readByLibrary(t *testing.T, name string, row quirkRow, stream bool) (kind string) {
	t.Helper()
	s, err := wire.New(wire.Options{Model: "m", Quirks: []string{name}, Pause: pause})
	require.NoError(t, err)
	cfg := openai.DefaultConfig("")
	cfg.BaseURL, cfg.HTTPClient = "http://wire.test/v1", &http.Client{Transport: s.Transport()}
	c := openai.NewClientWithConfig(cfg)
	req := openai.ChatCompletionRequest{
		Model: "m", MaxTokens: 32, LogProbs: true, TopLogProbs: 5, Stream: stream,
		Messages: []openai.ChatCompletionMessage{{Role: "user", Content: "What is the code?"}},
	}
	text, usage, err := plainly(t.Context(), c, req)
	whole := row.class == "" || row.class == OK
	switch {
	case whole && err != nil:
		return "a whole answer is an error"
	case !whole && err == nil && row.class != Budget && row.class != NullContent:
		return "a failure is an answer"
	case whole && text != wire.Text:
		return "another text than was sent"
	case whole && !stream && (usage.PromptTokens == 0 || usage.PromptTokensDetails == nil):
		return "what is unknown is zero"
	}
	return ""
}

func plainly(ctx context.Context, c *openai.Client, req openai.ChatCompletionRequest) (string, openai.Usage, error) {
	if !req.Stream {
		r, err := c.CreateChatCompletion(ctx, req)
		if err != nil || len(r.Choices) == 0 {
			return "", r.Usage, errors.Join(err, ctx.Err())
		}
		return r.Choices[0].Message.Content, r.Usage, nil
	}
	s, err := c.CreateChatCompletionStream(ctx, req)
	if err != nil {
		return "", openai.Usage{}, err
	}
	defer s.Close()
	text := ""
	for {
		r, err := s.Recv()
		if errors.Is(err, io.EOF) {
			return text, openai.Usage{}, nil
		}
		if err != nil {
			return text, openai.Usage{}, err
		}
		for _, choice := range r.Choices {
			text += choice.Delta.Content
		}
	}
}
