package server

import (
	"encoding/json"
	"strings"
)

const (
	maxTop     = 20   // most alternatives per position, vLLM's default --max-logprobs
	maxStop    = 4    // most stop strings, as in the OpenAI API
	maxSalt    = 1024 // most bytes of a cache_salt
	maxPrompts = 64   // most prompts of one completions request
)

// params is what chat and text completions have in common.
type params struct {
	model        string
	stream       bool
	includeUsage bool
	maxTokens    int // -1 = not given
	temperature  float64
	topP         float64
	seed         *int64
	stop         []string
	salt         string
	ignoreEOS    bool
	minTokens    int
	logprobs     bool
	top          int // alternatives per position
	echo         bool
	ignored      []string
}

// common takes the fields that both completion routes know. An omitted temperature is 0, the
// generation default of this model (real servers, too, take omitted fields from the checkpoint).
func common(f *fields) params {
	p := params{maxTokens: -1, topP: 1}
	p.model, _ = take[string](f, "model", "a string")
	p.stream, _ = take[bool](f, "stream", "true or false")
	if opts, ok := take[map[string]json.RawMessage](f, "stream_options", "an object"); ok {
		if !p.stream {
			f.fail(badRequest("stream_options", `"stream_options" is only allowed when "stream" is true.`))
		}
		sub := &fields{raw: opts, taken: map[string]bool{}}
		p.includeUsage, _ = take[bool](sub, "include_usage", "true or false")
		if sub.err != nil {
			f.fail(sub.err)
		}
	}
	// max_completion_tokens is the newer name; where both are given it wins, as in vLLM.
	for _, name := range []string{"max_tokens", "max_completion_tokens"} {
		if n, ok := take[int](f, name, "an integer"); ok {
			if n < 0 {
				f.fail(badRequest(name, "%q must not be negative, got %d.", name, n))
			}
			p.maxTokens = n
		}
	}
	if t, ok := take[float64](f, "temperature", "a number"); ok {
		within(f, "temperature", t, 0, 2)
		p.temperature = t
	}
	if t, ok := take[float64](f, "top_p", "a number"); ok {
		if !(t > 0 && t <= 1) {
			f.fail(badRequest("top_p", `"top_p" must be above 0 and at most 1, got %v.`, t))
		}
		p.topP = t
	}
	if seed, ok := take[int64](f, "seed", "an integer"); ok {
		p.seed = &seed
	}
	p.stop = stops(f)
	if salt, ok := take[string](f, "cache_salt", "a string"); ok {
		if salt == "" || len(salt) > maxSalt {
			f.fail(badRequest("cache_salt", `"cache_salt" must have 1 to %d bytes, got %d.`, maxSalt, len(salt)))
		}
		p.salt = salt
	}
	p.ignoreEOS, _ = take[bool](f, "ignore_eos", "true or false")
	if n, ok := take[int](f, "min_tokens", "an integer"); ok {
		if n < 0 || p.maxTokens >= 0 && n > p.maxTokens {
			f.fail(badRequest("min_tokens", `"min_tokens" must be between 0 and max_tokens, got %d.`, n))
		}
		p.minTokens = n
	}
	f.refuse("n", "1")
	f.refuse("best_of", "1")
	f.refuse("frequency_penalty", "0", "0.0")
	f.refuse("presence_penalty", "0", "0.0")
	f.refuse("logit_bias", "{}")
	f.refuse("top_k", "-1", "0")
	f.refuse("min_p", "0", "0.0")
	f.refuse("repetition_penalty", "1", "1.0")
	f.taken["user"] = true
	return p
}

func stops(f *fields) []string {
	raw, ok := take[json.RawMessage](f, "stop", "a string or a list of strings")
	if !ok {
		return nil
	}
	var list []string
	var one string
	if json.Unmarshal(raw, &one) == nil {
		list = []string{one}
	} else if err := json.Unmarshal(raw, &list); err != nil {
		f.fail(badRequest("stop", `"stop" must be a string or a list of strings, got %s.`, snippet(raw)))
		return nil
	}
	if len(list) > maxStop {
		f.fail(badRequest("stop", `"stop" takes at most %d strings, got %d.`, maxStop, len(list)))
	}
	for i, s := range list {
		if s == "" {
			f.fail(badRequest("stop", `"stop" must not hold an empty string, got one at index %d.`, i))
		}
	}
	return list
}

// parseChat reads the body of /v1/chat/completions.
func parseChat(body []byte) (params, []Message, *apiError) {
	f, e := parseFields(body)
	if e != nil {
		return params{}, nil, e
	}
	p := common(f)
	if p.maxTokens == 0 {
		f.fail(badRequest("max_tokens", `"max_tokens" must be at least 1 in a chat, got 0.`))
	}
	p.logprobs, _ = take[bool](f, "logprobs", "true or false")
	if n, ok := take[int](f, "top_logprobs", "an integer"); ok {
		within(f, "top_logprobs", n, 0, maxTop)
		if n > 0 && !p.logprobs {
			f.fail(badRequest("top_logprobs", `"top_logprobs" needs "logprobs": true.`))
		}
		p.top = n
	}
	f.refuse("tools", "[]")
	f.refuse("functions", "[]")
	f.refuse("response_format", `{"type":"text"}`)
	f.refuse("continue_final_message", "false")
	f.refuse("add_generation_prompt", "true")
	for _, quiet := range []string{"tool_choice", "parallel_tool_calls", "function_call"} {
		f.taken[quiet] = true // mean nothing without tools
	}
	messages := takeMessages(f)
	p.ignored = f.ignored()
	return p, messages, f.err
}

func takeMessages(f *fields) []Message {
	list, ok := take[[]map[string]json.RawMessage](f, "messages", "a list of objects with role and content")
	if !ok || len(list) == 0 {
		f.fail(badRequest("messages", `"messages" must hold at least one message.`))
		return nil
	}
	out := make([]Message, 0, len(list))
	for i, item := range list {
		sub := &fields{raw: item, taken: map[string]bool{}}
		role, _ := take[string](sub, "role", "a string")
		switch role {
		case "system", "user", "assistant":
		case "developer": // the API's newer name for system
			role = "system"
		default:
			sub.fail(badRequest("role", `unknown role %q, want system, user or assistant`, role))
		}
		content := takeContent(sub, role == "assistant")
		sub.refuse("tool_calls", "[]")
		if sub.err != nil {
			f.fail(badRequest("messages", "messages[%d]: %s", i, sub.err.message))
			return nil
		}
		out = append(out, Message{Role: role, Content: content})
	}
	return out
}

// takeContent reads a string, or a list of text parts, which are joined by newlines as vLLM does.
// An assistant turn of a history may have null content.
func takeContent(f *fields, mayBeNull bool) string {
	raw, ok := take[json.RawMessage](f, "content", "a string")
	if !ok {
		if !mayBeNull {
			f.fail(badRequest("content", `"content" is missing`))
		}
		return ""
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var parts []struct {
		Type string  `json:"type"`
		Text *string `json:"text"`
	}
	if err := json.Unmarshal(raw, &parts); err != nil {
		f.fail(badRequest("content", `"content" must be a string or a list of text parts, got %s`, snippet(raw)))
		return ""
	}
	texts := make([]string, 0, len(parts))
	for i, part := range parts {
		if part.Type != "text" || part.Text == nil {
			f.fail(badRequest("content", `content part %d has type %q, only text is supported`, i, part.Type))
			return ""
		}
		texts = append(texts, *part.Text)
	}
	return strings.Join(texts, "\n")
}
