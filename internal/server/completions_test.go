package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	openai "github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/server"
)

func TestCompletionMatchesReference(t *testing.T) {
	e := &fakeEngine{}
	ts := start(t, e, server.Config{})
	for name, n := range map[string]int{"one chunk": 9, "grid edge": 64, "one past it": 65, "long": 300} {
		t.Run(name, func(t *testing.T) {
			// go-openai sends text only; every word is one token, and the server puts <bos> in front.
			words := strings.Repeat("alpha beta gamma ", n)
			prompt := append([]int{fakeBOS}, e.Encode(words)...)[:n]
			words = strings.Join(strings.Fields(words)[:n-1], " ")
			want, logprobs := reference(e, prompt, 8)
			got, err := client(ts).CreateCompletion(context.Background(), openai.CompletionRequest{
				Model:     "fake",
				Prompt:    words,
				MaxTokens: 8,
				LogProbs:  5,
			})
			require.NoError(t, err)
			c := got.Choices[0]
			if diff := cmp.Diff(e.text(want), c.Text); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
			require.Len(t, c.LogProbs.Tokens, len(want))
			offset := 0
			for i, id := range want {
				if c.LogProbs.Tokens[i] != e.TokenText(id) ||
					c.LogProbs.TokenLogprobs[i] != float32(logprobs[i]) &&
						!sameLogprob(float64(c.LogProbs.TokenLogprobs[i]), float64(float32(logprobs[i]))) {
					t.Errorf("token %d: %q %v, want %q %v", i, c.LogProbs.Tokens[i], c.LogProbs.TokenLogprobs[i], e.TokenText(id),
						logprobs[i])
				}
				if c.LogProbs.TextOffset[i] != offset {
					t.Errorf("token %d: offset %d, want %d", i, c.LogProbs.TextOffset[i], offset)
				}
				offset += len(e.text([]int{id}))
				if top := c.LogProbs.TopLogprobs[i]; len(top) != 5 || top[e.TokenText(id)] != c.LogProbs.TokenLogprobs[i] {
					t.Errorf("token %d: top %v", i, top)
				}
			}
			if got.Usage.PromptTokens != n || got.Usage.CompletionTokens != len(want) {
				t.Errorf("usage %+v", got.Usage)
			}
		})
	}
}

func TestCompletionTextPromptIsEncodedWithBOS(t *testing.T) {
	e := &fakeEngine{}
	ts := start(t, e, server.Config{})
	text := ask(t, ts, "/v1/completions", `{"prompt":"the code is 4 7","max_tokens":4}`)
	ids, _ := json.Marshal(append([]int{fakeBOS}, e.Encode("the code is 4 7")...))
	same := ask(t, ts, "/v1/completions", `{"prompt":`+string(ids)+`,"max_tokens":4}`)
	if text.Choices[0].Text != same.Choices[0].Text || text.Usage.PromptTokens != 6 {
		t.Errorf("text prompt %+v, ids %+v", text, same)
	}
	bare := ask(t, ts, "/v1/completions", `{"prompt":"the code is 4 7","max_tokens":4,"add_special_tokens":false}`)
	if bare.Usage.PromptTokens != 5 {
		t.Errorf("without special tokens: %d prompt tokens, want 5", bare.Usage.PromptTokens)
	}
}

func TestEcho(t *testing.T) {
	e := &fakeEngine{}
	ts := start(t, e, server.Config{})
	prompt := append([]int{fakeBOS}, idPrompt(130, 7)...)
	ids, _ := json.Marshal(prompt)
	got := ask(t, ts, "/v1/completions", `{"prompt":`+string(ids)+`,"max_tokens":3,"echo":true,"logprobs":2,`+
		`"ignore_eos":true}`)
	c := got.Choices[0]
	if !strings.HasPrefix(c.Text, e.text(prompt)) || c.Text == e.text(prompt) {
		t.Errorf("text does not start with the prompt and go on: %q", c.Text)
	}
	var lp struct {
		Tokens        []string
		TokenLogprobs []*float64           `json:"token_logprobs"`
		TopLogprobs   []map[string]float64 `json:"top_logprobs"`
		TextOffset    []int                `json:"text_offset"`
	}
	require.NoError(t, json.Unmarshal(c.Logprobs, &lp))
	require.Len(t, lp.Tokens, len(prompt)+3)
	require.Len(t, lp.TokenLogprobs, len(prompt)+3)
	if lp.TokenLogprobs[0] != nil || lp.TopLogprobs[0] != nil {
		t.Errorf("the first token has no context, got %v", lp.TokenLogprobs[0])
	}
	// By definition: log p of every prompt token after its prefix, on the grid.
	st := e.NewState()
	for i, id := range prompt[:len(prompt)-1] {
		if i%64 == 0 {
			rows, err := st.Extend(context.Background(), prompt[i:min(i+64, len(prompt))], min(64, len(prompt)-i))
			require.NoError(t, err)
			for k, row := range rows {
				if i+k+1 == len(prompt) {
					break
				}
				var sum float64
				for _, l := range row {
					sum += math.Exp(l)
				}
				next := prompt[i+k+1]
				want := math.Log(math.Exp(row[next]) / sum)
				if got := lp.TokenLogprobs[i+k+1]; got == nil || !sameLogprob(*got, want) {
					t.Fatalf("prompt token %d after %d: log p %v, want %v", next, id, got, want)
				}
				if _, ok := lp.TopLogprobs[i+k+1][e.TokenText(next)]; !ok {
					t.Errorf("prompt token %d is not in its own top list", i+k+1)
				}
			}
		}
	}
	for i, off := range lp.TextOffset {
		if text := lp.Tokens[i]; !strings.HasPrefix(text, "<") && !strings.HasPrefix(c.Text[off:], text) {
			t.Errorf("token %d %q is not at offset %d", i, text, off)
		}
	}
	scored := ask(t, ts, "/v1/completions", `{"prompt":`+string(ids)+`,"max_tokens":0,"echo":true,"logprobs":0}`)
	if scored.Choices[0].Text != e.text(prompt) || scored.Usage.CompletionTokens != 0 {
		t.Errorf("max_tokens 0 with echo must only score the prompt: %+v", scored.Usage)
	}
}

func TestSeveralPrompts(t *testing.T) {
	e := &fakeEngine{}
	ts := start(t, e, server.Config{})
	both := ask(t, ts, "/v1/completions", `{"prompt":["alpha beta","gamma"],"max_tokens":5,"logprobs":1}`)
	require.Len(t, both.Choices, 2)
	var prompt, completion int
	for i, p := range []string{"alpha beta", "gamma"} {
		one := ask(t, ts, "/v1/completions", `{"prompt":"`+p+`","max_tokens":5,"logprobs":1}`)
		if diff := cmp.Diff(one.Choices[0], both.Choices[i]); diff != "" {
			t.Errorf("prompt %d (-alone +together):\n%s", i, diff)
		}
		prompt, completion = prompt+one.Usage.PromptTokens, completion+one.Usage.CompletionTokens
	}
	if both.Usage.PromptTokens != prompt || both.Usage.CompletionTokens != completion {
		t.Errorf("usage %+v, want the sum %d, %d", both.Usage, prompt, completion)
	}
	// One seed must not make equal prompts of a request draw alike, and must make the request repeatable.
	const drawn = `{"prompt":["same","same"],"max_tokens":12,"ignore_eos":true,"temperature":1.5,"seed":3}`
	first, second := ask(t, ts, "/v1/completions", drawn), ask(t, ts, "/v1/completions", drawn)
	if diff := cmp.Diff(first.Choices, second.Choices); diff != "" || first.Choices[0].Text == first.Choices[1].Text {
		t.Errorf("seeded draws: %+v (-first +second):\n%s", first.Choices, diff)
	}
	lists := ask(t, ts, "/v1/completions", `{"prompt":[[20,21],[22]],"max_tokens":1}`)
	require.Len(t, lists.Choices, 2)
}

func TestCompletionStreamEqualsWhole(t *testing.T) {
	e := &fakeEngine{}
	ts := start(t, e, server.Config{})
	req := openai.CompletionRequest{Model: "fake", Prompt: "one two three", MaxTokens: 9, LogProbs: 2, Echo: true}
	whole, err := client(ts).CreateCompletion(context.Background(), req)
	require.NoError(t, err)
	stream, err := client(ts).CreateCompletionStream(context.Background(), req)
	require.NoError(t, err)
	defer stream.Close()
	var got openai.CompletionChoice
	for {
		ev, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		c := ev.Choices[0]
		got.Text += c.Text
		got.FinishReason = c.FinishReason
		got.LogProbs.Tokens = append(got.LogProbs.Tokens, c.LogProbs.Tokens...)
		got.LogProbs.TokenLogprobs = append(got.LogProbs.TokenLogprobs, c.LogProbs.TokenLogprobs...)
		got.LogProbs.TopLogprobs = append(got.LogProbs.TopLogprobs, c.LogProbs.TopLogprobs...)
		got.LogProbs.TextOffset = append(got.LogProbs.TextOffset, c.LogProbs.TextOffset...)
	}
	if diff := cmp.Diff(whole.Choices[0], got); diff != "" {
		t.Errorf("(-whole +stream):\n%s", diff)
	}
}

// Stop strings cut where the text says, whole and streamed, and whatever token border they cross.
func TestStop(t *testing.T) {
	e := &fakeEngine{}
	ts := start(t, e, server.Config{})
	free := ask(t, ts, "/v1/completions", `{"prompt":"stop here","max_tokens":12,"ignore_eos":true}`).Choices[0].Text
	require.Greater(t, len(free), 12)
	for name, stop := range map[string]string{
		"inside": free[5:9], "from the start": free[:4], "never": "zzz", "head of it only": free[len(free)-3:] + "zzz",
	} {
		t.Run(name, func(t *testing.T) {
			want, finish := free, "length"
			if head, _, found := strings.Cut(free, stop); found {
				want, finish = head, "stop"
			}
			quoted, _ := json.Marshal(stop)
			body := `{"prompt":"stop here","max_tokens":12,"ignore_eos":true,"stop":["unseen",` + string(quoted) + `]`
			got := ask(t, ts, "/v1/completions", body+`}`).Choices[0]
			if got.Text != want || got.FinishReason != finish {
				t.Errorf("whole: %q %q, want %q %q", got.Text, got.FinishReason, want, finish)
			}
			_, _, data := call(t, ts, "/v1/completions", body+`,"stream":true}`)
			var text string
			for line := range strings.SplitSeq(string(data), "\n") {
				if ev, ok := strings.CutPrefix(line, "data: {"); ok {
					var a answer
					require.NoError(t, json.Unmarshal([]byte("{"+ev), &a))
					text += a.Choices[0].Text
					if !strings.HasPrefix(want, text) {
						t.Fatalf("stream showed %q, which the stop string cuts from %q", text, want)
					}
				}
			}
			if text != want {
				t.Errorf("stream: %q, want %q", text, want)
			}
		})
	}
}
