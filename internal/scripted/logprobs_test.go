package scripted_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/endpoint"
	"github.com/assay-suite/assay/internal/needle"
	"github.com/assay-suite/assay/internal/scripted"
)

type textLogprobs struct {
	Choices []struct {
		Text     string
		Logprobs struct {
			Tokens []string
			Values []*float64 `json:"token_logprobs"`
		}
	}
}

func logprobsOf(t *testing.T, e *scripted.Engine, prompt string, echo bool) (text string, tokens []string,
	values []*float64,
) {
	t.Helper()
	r := send(t, client(e), "/v1/completions", obj{
		"prompt":      prompt,
		"max_tokens":  20,
		"temperature": 0,
		"logprobs":    3,
		"echo":        echo,
	})
	var v textLogprobs
	require.NoError(t, json.Unmarshal([]byte(r.raw), &v))
	return v.Choices[0].Text, v.Choices[0].Logprobs.Tokens, v.Choices[0].Logprobs.Values
}

// Re-scoring an answer as a prompt gives the log-probabilities that decoding gave, unless decoding is at fault.
func TestRescoring(t *testing.T) {
	for _, c := range []struct {
		faults []string
		same   bool
	}{{nil, true}, {[]string{"decode-path"}, false}} {
		e := engine(t, scripted.Options{Faults: c.faults, Seed: 2})
		prompt := lisbon + "Complete: The access code for the Lisbon archive is"
		text, tokens, decoded := logprobsOf(t, e, prompt, false)
		_, all, scored := logprobsOf(t, e, prompt+text, true)
		at := scripted.Tokens(prompt)
		require.Equal(t, tokens, all[at:at+len(tokens)])
		require.Nil(t, scored[0], "the first token has no context")
		same := true
		for i := range tokens {
			same = same && math.Abs(*decoded[i]-*scored[at+i]) < 1e-12
		}
		if same != c.same {
			t.Errorf("%v: decoding and prefill agree: %v, want %v", c.faults, same, c.same)
		}
	}
}

// A healthy margin is between 3 and 8 nats at every digit, and coarse far text narrows it.
func TestMargins(t *testing.T) {
	margins := func(faults ...string) (least, most float64) {
		o := scripted.Options{Faults: faults}
		if len(faults) > 0 && faults[0] == "coarse-kv" { // so far that no digit is misread
			o.Params = map[string]scripted.Params{"coarse-kv": {"scale": 1 << 30}}
		}
		c, err := endpoint.New(endpoint.Options{BaseURL: "http://engine.test", Transport: engine(t, o).Transport()})
		require.NoError(t, err)
		a, err := c.Chat(t.Context(), endpoint.ChatRequest{
			Messages: []endpoint.Message{{Role: "user", Content: sized(3000, 0, "m")}},
			Sampling: endpoint.Sampling{Model: "scripted", MaxTokens: 32, TopLogprobs: 20},
		})
		require.NoError(t, err)
		var steps []needle.Step
		for _, tok := range a.Tokens {
			s := needle.Step{Alt: needle.Alt{Text: tok.Text, Logprob: tok.Logprob}}
			for _, alt := range tok.Top {
				s.Top = append(s.Top, needle.Alt{Text: alt.Token, Logprob: alt.Logprob})
			}
			steps = append(steps, s)
		}
		least, most = math.Inf(1), 0
		for _, m := range needle.Margins(steps, "48213") {
			require.True(t, m.Known(), "%+v of %q", m, a.Content)
			least, most = min(least, m.Nats), max(most, m.Nats)
		}
		return least, most
	}
	if least, most := margins(); least < 3 || most > 8 {
		t.Errorf("healthy margins are %.2f to %.2f", least, most)
	}
	healthy, _ := margins()
	if coarse, _ := margins("coarse-kv"); coarse >= healthy {
		t.Errorf("least margin %.3f with coarse far keys, %.3f without", coarse, healthy)
	}
	if noisy, _ := margins("benign-noise"); noisy != healthy {
		t.Errorf("alone, benign noise moves a margin: %.3f, %.3f", noisy, healthy)
	}
}
