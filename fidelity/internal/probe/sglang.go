package probe

import (
	"context"
	"encoding/json"
	"fmt"
	"math"

	"github.com/assay-suite/assay/internal/endpoint"
)

// nativeScore uses SGLang's /generate: log-probabilities of what is decoded, then of the same text as a prompt.
func (t *task) nativeScore(i int) unit {
	return one(t.id("rescore-native/%d", i), step{tokens: 450, make: func(_ context.Context, s salt) (query, error) {
		prompt := t.scored(s)
		return query{once: true, native: func(ctx context.Context, c *endpoint.Client) (Verdict, endpoint.Exchange, error) {
			decoded, x, err := generate(ctx, c, prompt, scoredTokens, -1)
			if err != nil {
				return Verdict{}, x, err
			}
			echoed, x, err := generate(ctx, c, prompt+decoded.Text, 1, 0)
			if err != nil {
				return Verdict{}, x, err
			}
			v := Verdict{Class: string(endpoint.OK), Right: true, Measured: true}
			v.Numbers = compared(decoded.output(), echoed.input())
			return v, x, nil
		}}, nil
	}})
}

// generated is what is read of an answer of /generate.
type generated struct {
	Text string `json:"text"`
	Meta struct {
		Input  []scoredToken `json:"input_token_logprobs"`
		Output []scoredToken `json:"output_token_logprobs"`
	} `json:"meta_info"`
}

// scoredToken is [logprob or null, id, text or null].
type scoredToken struct {
	logprob float64
	id      int
}

// UnmarshalJSON reads the list.
func (k *scoredToken) UnmarshalJSON(b []byte) error {
	var list []any
	if err := json.Unmarshal(b, &list); err != nil {
		return err
	}
	if len(list) < 2 {
		return fmt.Errorf("a token's log-probability has %d parts, want its value and id", len(list))
	}
	k.logprob = math.NaN()
	if v, ok := list[0].(float64); ok {
		k.logprob = v
	}
	if id, ok := list[1].(float64); ok {
		k.id = int(id)
	}
	return nil
}

// tokens names each token by its id: texts of byte-fallback tokens are alike.
func tokens(list []scoredToken) []endpoint.Token {
	var out []endpoint.Token
	for _, k := range list {
		out = append(out, endpoint.Token{Text: itoa(k.id), Logprob: k.logprob})
	}
	return out
}

func (g generated) output() []endpoint.Token { return tokens(g.Meta.Output) }

func (g generated) input() []endpoint.Token { return tokens(g.Meta.Input) }

// generate asks for n tokens with log-probabilities, those of the prompt from a token on; -1: the answer's only.
func generate(ctx context.Context, c *endpoint.Client, text string, n, start int) (generated, endpoint.Exchange,
	error,
) {
	var out generated
	body, x, err := c.Post(ctx, "/generate", map[string]any{
		"text": text, "return_logprob": true, "logprob_start_len": start, "sampling_params": map[string]any{
			"max_new_tokens": n, "temperature": 0,
		},
	})
	if err == nil {
		err = json.Unmarshal(body, &out)
	}
	if err != nil {
		return out, x, fmt.Errorf("/generate with log-probabilities: %w", err)
	}
	return out, x, nil
}
