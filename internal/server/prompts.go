package server

import (
	"bytes"
	"encoding/json"
	"errors"
)

// parseCompletion reads the body of /v1/completions. The prompts come back as token ids, all of them
// inside the vocabulary; none is empty.
func parseCompletion(body []byte, engine Engine) (params, [][]int, *apiError) {
	f, e := parseFields(body)
	if e != nil {
		return params{}, nil, e
	}
	p := common(f)
	if n, ok := take[int](f, "logprobs", "an integer"); ok {
		within(f, "logprobs", n, 0, maxTop)
		p.logprobs, p.top = true, n
	}
	p.echo, _ = take[bool](f, "echo", "true or false")
	f.refuse("suffix", `""`)
	special := true
	if add, ok := take[bool](f, "add_special_tokens", "true or false"); ok {
		special = add
	}
	prompts := takePrompts(f, engine, special)
	if p.maxTokens < 0 {
		p.maxTokens = 16 // the API's default on this route
	}
	if p.minTokens > p.maxTokens {
		f.fail(badRequest("min_tokens", `"min_tokens" must be between 0 and max_tokens, got %d.`, p.minTokens))
	}
	p.ignored = f.ignored()
	return p, prompts, f.err
}

// takePrompts reads the four forms of "prompt": text, token ids, list of texts, list of id lists.
func takePrompts(f *fields, engine Engine, special bool) [][]int {
	const wanted = "text, a list of token ids, a list of texts or a list of id lists"
	raw, ok := take[json.RawMessage](f, "prompt", wanted)
	if !ok {
		f.fail(badRequest("prompt", `"prompt" is missing: send %s.`, wanted))
		return nil
	}
	var (
		text  string
		ids   []int
		texts []string
		lists [][]int
	)
	switch {
	case json.Unmarshal(raw, &text) == nil:
		return [][]int{encodeText(engine, text, special)}
	case unmarshalIDs(raw, &ids) == nil:
		lists = [][]int{ids}
	case json.Unmarshal(raw, &texts) == nil:
		lists = make([][]int, len(texts))
		for i, t := range texts {
			lists[i] = encodeText(engine, t, special)
		}
	default:
		lists = nil // a failed attempt may have left a head behind
		if err := unmarshalIDs(raw, &lists); err != nil {
			f.fail(badRequest("prompt", `"prompt" must be %s, got %s.`, wanted, snippet(raw)))
			return nil
		}
	}
	if len(lists) > maxPrompts {
		f.fail(badRequest("prompt", `"prompt" takes at most %d prompts, got %d.`, maxPrompts, len(lists)))
		return nil
	}
	for i, list := range lists {
		if e := checkIDs("prompt", list, engine.Vocab()); e != nil {
			f.fail(e)
			return nil
		}
		if len(list) == 0 {
			f.fail(badRequest("prompt", `"prompt" must not be empty, prompt %d has no tokens.`, i))
			return nil
		}
	}
	return lists
}

// unmarshalIDs decodes lists of ids. encoding/json would read a null among them as 0.
func unmarshalIDs(raw []byte, into any) error {
	if bytes.Contains(raw, []byte("null")) {
		return errors.New("null is not a token id")
	}
	return json.Unmarshal(raw, into)
}

func encodeText(engine Engine, text string, special bool) []int {
	ids := engine.Encode(text)
	if bos := engine.BOS(); special && bos >= 0 {
		ids = append([]int{bos}, ids...)
	}
	return ids
}

func checkIDs(param string, ids []int, vocab int) *apiError {
	for i, id := range ids {
		if id < 0 || id >= vocab {
			return badRequest(param, "Token id %d at index %d is outside the vocabulary of %d tokens.", id, i, vocab)
		}
	}
	return nil
}
