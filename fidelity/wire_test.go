package fidelity_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/endpoint"
	"github.com/assay-suite/assay/internal/nano"
)

// The client reads the real server's stream as the answer that it gives in one piece, in both APIs, and the
// pre-flight that other tests take for granted is the server's own.
func TestTheWireOfTheEmbeddedServer(t *testing.T) {
	c, err := endpoint.New(endpoint.Options{BaseURL: serve(t, load(t, "nano-v4"), "nano-v4") + "/v1/"})
	require.NoError(t, err)
	got, err := c.Preflight(t.Context(), "nonce")
	require.NoError(t, err)
	for _, f := range flight("nano-v4").Features {
		if got.State(f.Name) != f.State {
			t.Errorf("pre-flight of %s: %s, want %s", f.Name, got.State(f.Name), f.State)
		}
	}
	if got.Logprobs() != 20 || got.Window.N != contextWindow || got.Model != "nano-v4" {
		t.Errorf("pre-flight %+v", got)
	}

	text := "The access code for the Lisbon archive is 48213. What is the access code for the Lisbon archive?"
	ids, err := nano.EncodeChat([]nano.Message{{Role: "user", Content: text}})
	require.NoError(t, err)
	both := func(stream bool) (chat, complete endpoint.Answer) {
		s := endpoint.Sampling{Model: "nano-v4", MaxTokens: 16, TopLogprobs: 20, Stream: stream}
		chat, err := c.Chat(t.Context(), endpoint.ChatRequest{
			Messages: []endpoint.Message{{Role: "user", Content: text}},
			Sampling: s,
		})
		require.NoError(t, err)
		complete, err = c.Complete(t.Context(), endpoint.CompletionRequest{IDs: ids, Sampling: s})
		require.NoError(t, err)
		if chat.Exchange.Stream != stream || complete.Exchange.Stream != stream {
			t.Errorf("asked for stream=%v, got %v and %v", stream, chat.Exchange.Stream, complete.Exchange.Stream)
		}
		chat.Exchange, complete.Exchange = endpoint.Exchange{}, endpoint.Exchange{}
		return chat, complete
	}
	chat, complete := both(false)
	chatStreamed, completeStreamed := both(true)
	if d := cmp.Diff(chat, chatStreamed); d != "" {
		t.Errorf("chat, whole against streamed:\n%s", d)
	}
	if d := cmp.Diff(complete, completeStreamed); d != "" {
		t.Errorf("completion, whole against streamed:\n%s", d)
	}
	if chat.Text != "48213" || complete.Text != "48213" || chat.Finish != "stop" || !chat.Usage.Cached.Known ||
		chat.Usage.Prompt.N != len(ids) {
		t.Errorf("chat %q, completion %q, finish %q, usage %+v; want 48213 twice, stop and %d prompt tokens", chat.Text,
			complete.Text, chat.Finish, chat.Usage, len(ids))
	}
}
