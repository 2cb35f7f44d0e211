package server

import (
	"context"
)

// scored is one token with what the model thought of it.
type scored struct {
	id      int
	shown   string   // its text in the answer; "" for special tokens
	logprob float64  // natural log, before temperature, as vLLM reports it
	top     []ranked // best alternatives first
}

// step is one generated token: shown is the answer text it released, which lags behind while a stop
// string may be forming.
type step struct {
	token scored
	text  string
}

// outcome is how an answer ended.
type outcome struct {
	finish    string // stop or length
	rest      string // text held back for a stop string that did not come
	prompt    int    // tokens
	generated int    // tokens, end-of-text included
	cached    int    // prompt tokens from the prefix cache
}

// generate answers one prompt. emit gets every step in order; with echo, emitPrompt first gets the
// prompt's tokens (the first has no log-probability).
func (s *Server) generate(ctx context.Context, prompt []int, index int, p *params, emitPrompt func([]scored) error,
	emit func(step) error,
) (outcome, error) {
	out := outcome{prompt: len(prompt), finish: "length"}
	var (
		st  State
		row []float64
		err error
	)
	if p.echo {
		var rows [][]float64
		if st, rows, err = s.prefillAll(ctx, prompt); err != nil {
			return out, err
		}
		tokens := make([]scored, len(prompt))
		for i, id := range prompt {
			if i == 0 {
				tokens[i] = scored{id: id, shown: s.visible(id)}
				continue
			}
			tokens[i] = s.score(rows[i-1], id, p)
		}
		if err := emitPrompt(tokens); err != nil {
			return out, err
		}
		row = rows[len(rows)-1]
	} else if st, row, out.cached, err = s.prefill(ctx, prompt, p.salt); err != nil {
		return out, err
	}
	pick, cut := newSampler(p, index), stopper{stops: p.stop}
	for out.generated < p.maxTokens {
		banned := -1
		if p.ignoreEOS || out.generated < p.minTokens {
			banned = s.engine.EOS()
		}
		id := pick.pick(row, banned)
		out.generated++
		token := s.score(row, id, p)
		text, done := cut.push(token.shown)
		if err := emit(step{token, text}); err != nil {
			return out, err
		}
		if done || id == s.engine.EOS() {
			out.finish = "stop"
			break
		}
		if out.generated == p.maxTokens {
			break
		}
		rows, err := s.extend(ctx, st, []int{id}, 1)
		if err != nil {
			return out, err
		}
		row = rows[0]
	}
	out.rest = cut.rest()
	return out, nil
}

// score reads a token's log-probability and the best alternatives off its row, if they were asked for.
func (s *Server) score(row []float64, id int, p *params) scored {
	t := scored{id: id, shown: s.visible(id)}
	if p.logprobs {
		norm := logSumExp(row)
		t.logprob, t.top = row[id]-norm, topN(row, norm, p.top)
	}
	return t
}

// visible is a token's text inside an answer: special tokens have none.
func (s *Server) visible(id int) string {
	if s.engine.Special(id) {
		return ""
	}
	return s.engine.TokenText(id)
}
