package server_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	openai "github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/server"
)

var chatQuestion = []openai.ChatCompletionMessage{
	{Role: "system", Content: "answer in digits"},
	{Role: "user", Content: "what is the code for Lisbon"},
}

func chatPrompt(e *fakeEngine) []int {
	ids, _ := e.EncodeChat([]server.Message{
		{Role: "system", Content: "answer in digits"},
		{Role: "user", Content: "what is the code for Lisbon"},
	})
	return ids
}

func TestChatMatchesReference(t *testing.T) {
	e := &fakeEngine{}
	ts := start(t, e, server.Config{})
	want, logprobs := reference(e, chatPrompt(e), 12)
	got, err := client(ts).CreateChatCompletion(context.Background(), openai.ChatCompletionRequest{
		Model: "fake", Messages: chatQuestion, MaxTokens: 12, LogProbs: true, TopLogProbs: 20,
	})
	require.NoError(t, err)
	require.Len(t, got.Choices, 1)
	c := got.Choices[0]
	if diff := cmp.Diff(e.text(want), c.Message.Content); diff != "" {
		t.Errorf("content (-want +got):\n%s", diff)
	}
	if c.Message.Role != "assistant" || got.Object != "chat.completion" || got.Model != "fake" || got.ID == "" ||
		got.Created == 0 {
		t.Errorf("envelope: %+v", got)
	}
	finish := openai.FinishReasonLength
	if want[len(want)-1] == fakeEOS {
		finish = openai.FinishReasonStop
	}
	if c.FinishReason != finish {
		t.Errorf("finish_reason %q, want %q", c.FinishReason, finish)
	}
	require.NotNil(t, c.LogProbs)
	require.Len(t, c.LogProbs.Content, len(want))
	for i, lp := range c.LogProbs.Content {
		text := e.TokenText(want[i])
		if lp.Token != text || !sameLogprob(lp.LogProb, logprobs[i]) {
			t.Errorf("token %d: %q %v, want %q %v", i, lp.Token, lp.LogProb, text, logprobs[i])
		}
		if len(lp.TopLogProbs) != 20 || lp.TopLogProbs[0].Token != text || lp.TopLogProbs[0].LogProb != lp.LogProb {
			t.Errorf("token %d: greedy token is not the first of 20 alternatives: %+v", i, lp.TopLogProbs)
		}
		for k := 1; k < len(lp.TopLogProbs); k++ {
			if lp.TopLogProbs[k].LogProb > lp.TopLogProbs[k-1].LogProb {
				t.Errorf("token %d: alternatives are not sorted at %d", i, k)
			}
		}
	}
	if u := got.Usage; u.PromptTokens != len(chatPrompt(e)) || u.CompletionTokens != len(want) ||
		u.TotalTokens != u.PromptTokens+u.CompletionTokens {
		t.Errorf("usage %+v, want %d + %d", u, len(chatPrompt(e)), len(want))
	}
	require.NotNil(t, got.Usage.PromptTokensDetails)
}

func TestChatLogprobBytesAreNumbers(t *testing.T) {
	ts := start(t, &fakeEngine{}, server.Config{})
	_, _, data := call(t, ts, "/v1/chat/completions", `{"messages":[{"role":"user","content":"hi"}],"max_tokens":1,`+
		`"logprobs":true,"top_logprobs":1}`)
	if !strings.Contains(string(data), `"bytes":[`) {
		t.Errorf("bytes must be a list of numbers: %s", data)
	}
}

func TestChatStreamEqualsWhole(t *testing.T) {
	e := &fakeEngine{}
	ts := start(t, e, server.Config{})
	req := openai.ChatCompletionRequest{
		Model:       "fake",
		Messages:    chatQuestion,
		MaxTokens:   12,
		LogProbs:    true,
		TopLogProbs: 3,
	}
	whole, err := client(ts).CreateChatCompletion(context.Background(), req)
	require.NoError(t, err)
	req.StreamOptions = &openai.StreamOptions{IncludeUsage: true}
	stream, err := client(ts).CreateChatCompletionStream(context.Background(), req)
	require.NoError(t, err)
	defer stream.Close()
	var text, finish string
	var usage *openai.Usage
	var tokens []openai.ChatCompletionTokenLogprob
	for n := 0; ; n++ {
		ev, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		if ev.ID == "" || ev.Object != "chat.completion.chunk" {
			t.Errorf("event %d: envelope %+v", n, ev)
		}
		if ev.Usage != nil {
			usage = ev.Usage
			if len(ev.Choices) != 0 {
				t.Errorf("usage event has choices %+v", ev.Choices)
			}
			continue
		}
		require.Len(t, ev.Choices, 1)
		c := ev.Choices[0]
		if n == 0 && c.Delta.Role != "assistant" {
			t.Errorf("first event has no role: %+v", c)
		}
		if finish != "" {
			t.Errorf("event %d after finish_reason", n)
		}
		text += c.Delta.Content
		finish = string(c.FinishReason)
		if c.Logprobs != nil {
			tokens = append(tokens, c.Logprobs.Content...)
		}
	}
	if text != whole.Choices[0].Message.Content || finish != string(whole.Choices[0].FinishReason) {
		t.Errorf("stream %q %q, whole %q %q", text, finish, whole.Choices[0].Message.Content, whole.Choices[0].FinishReason)
	}
	require.Len(t, tokens, len(whole.Choices[0].LogProbs.Content))
	for i, lp := range whole.Choices[0].LogProbs.Content {
		if tokens[i].Token != lp.Token || tokens[i].Logprob != lp.LogProb {
			t.Errorf("token %d: stream %+v, whole %+v", i, tokens[i], lp)
		}
	}
	require.NotNil(t, usage)
	if usage.PromptTokens != whole.Usage.PromptTokens || usage.CompletionTokens != whole.Usage.CompletionTokens {
		t.Errorf("usage %+v, whole %+v", usage, whole.Usage)
	}
}

// The bytes on the wire, as other readers than go-openai would see them.
func TestStreamWire(t *testing.T) {
	ts := start(t, &fakeEngine{}, server.Config{})
	_, header, data := call(t, ts, "/v1/chat/completions", `{"messages":[{"role":"user","content":"hi"}],`+
		`"max_tokens":2,"stream":true,"ignore_eos":true}`)
	if ct := header.Get("Content-Type"); !strings.HasPrefix(ct, "text/event-stream") {
		t.Errorf("Content-Type %q", ct)
	}
	events := strings.Split(strings.TrimSuffix(string(data), "\n\n"), "\n\n")
	require.Len(t, events, 5, "role, two tokens, finish, [DONE]: %s", data)
	for i, ev := range events {
		if !strings.HasPrefix(ev, "data: ") || strings.Contains(ev, "\n") {
			t.Errorf("event %d: %q", i, ev)
		}
	}
	if events[4] != "data: [DONE]" || !strings.Contains(events[3], `"finish_reason":"length"`) ||
		!strings.Contains(events[1], `"finish_reason":null`) {
		t.Errorf("end of stream: %q", events[1:])
	}
	if strings.Contains(string(data), "usage") {
		t.Error("usage was sent without being asked for")
	}
}

func TestChatContentForms(t *testing.T) {
	ts := start(t, &fakeEngine{}, server.Config{})
	count := func(body string) int {
		return ask(t, ts, "/v1/chat/completions", `{"max_tokens":1,"messages":`+body+`}`).Usage.PromptTokens
	}
	if got, want := count(`[{"role":"user","content":[{"type":"text","text":"a b"},{"type":"text","text":"c"}]}]`),
		count(`[{"role":"user","content":"a b c"}]`); got != want {
		t.Errorf("parts count %d tokens, text %d", got, want)
	}
	if got, want := count(`[{"role":"user","content":"a"},{"role":"assistant","content":null},{"role":"user",`+
		`"content":"b"}]`), 1+2+1+2+1; got != want {
		t.Errorf("null assistant content: %d tokens, want %d", got, want)
	}
	if got, want := count(`[{"role":"developer","content":"a"},{"role":"user","content":"b"}]`),
		count(`[{"role":"system","content":"a"},{"role":"user","content":"b"}]`); got != want {
		t.Errorf("developer counts %d tokens, system %d", got, want)
	}
}
