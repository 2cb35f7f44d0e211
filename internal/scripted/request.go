package scripted

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// request is what both completion routes read. Unknown fields are ignored, but for the control strict-400.
type request struct {
	Model           string          `json:"model"`
	Messages        []message       `json:"messages"`
	Prompt          json.RawMessage `json:"prompt"`
	MaxTokens       *int            `json:"max_tokens"`
	MaxCompletion   *int            `json:"max_completion_tokens"`
	Temperature     *float64        `json:"temperature"`
	TopP            *float64        `json:"top_p"`
	TopK            *int            `json:"top_k"`
	N               *int            `json:"n"`
	Seed            *int64          `json:"seed"`
	Stream          bool            `json:"stream"`
	StreamOptions   *streamOptions  `json:"stream_options"`
	Logprobs        json.RawMessage `json:"logprobs"`
	TopLogprobs     *int            `json:"top_logprobs"`
	Echo            bool            `json:"echo"`
	Stop            json.RawMessage `json:"stop"`
	Tools           []tool          `json:"tools"`
	ToolChoice      json.RawMessage `json:"tool_choice"`
	ParallelTools   *bool           `json:"parallel_tool_calls"`
	CacheSalt       string          `json:"cache_salt"`
	TemplateKwargs  map[string]any  `json:"chat_template_kwargs"`
	ReasoningEffort *string         `json:"reasoning_effort"`
	User            string          `json:"user"`
	PresencePenalty *float64        `json:"presence_penalty"`
	FrequencyPen    *float64        `json:"frequency_penalty"`
	RepetitionPen   *float64        `json:"repetition_penalty"`
	MinP            *float64        `json:"min_p"`
	IgnoreEOS       bool            `json:"ignore_eos"`

	texts []string // prompts of /v1/completions
	ids   []int    // or the prompt as ids of /tokenize
	top   int      // alternatives asked for; -1: no log-probabilities
	stops []string
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type message struct {
	Role             string     `json:"role"`
	Content          any        `json:"content"`
	ReasoningContent *string    `json:"reasoning_content"`
	Reasoning        *string    `json:"reasoning"`
	ToolCalls        []callMade `json:"tool_calls"`
	ToolCallID       string     `json:"tool_call_id"`
	Name             string     `json:"name"`

	text   string
	null   bool
	images []string
	late   bool // a system message that is not the first
}

type tool struct {
	Type     string `json:"type"`
	Function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	} `json:"function"`
}

// callMade is a tool call on the wire.
type callMade struct {
	Index    *int     `json:"index,omitempty"`
	ID       string   `json:"id,omitempty"`
	Type     string   `json:"type,omitempty"`
	Function callBody `json:"function"`
}

type callBody struct {
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments"`
}

// apiError is an OpenAI-shaped error body.
type apiError struct {
	status            int
	kind, param, code string
	message           string
}

func bad(param, format string, args ...any) *apiError {
	return &apiError{
		status:  http.StatusBadRequest,
		kind:    "invalid_request_error",
		param:   param,
		message: fmt.Sprintf(format, args...),
	}
}

// tooLong words the 400 of an over-long prompt as vLLM does; clients parse its numbers.
func tooLong(limit, prompt, completion int) *apiError {
	e := bad("messages", "This model's maximum context length is %d tokens. However, you requested %d tokens (%d in the "+
		"messages, %d in the completion). Please reduce the length of the messages or completion.",
		limit, prompt+completion, prompt, completion)
	e.code = "context_length_exceeded"
	return e
}

// parse reads a body. strict refuses fields that are not in the struct.
func parse(body []byte, chat, strict bool) (*request, *apiError) {
	r := &request{top: -1}
	read := json.Unmarshal
	if strict {
		read = func(body []byte, to any) error {
			dec := json.NewDecoder(bytes.NewReader(body))
			dec.DisallowUnknownFields()
			return dec.Decode(to)
		}
	}
	if err := read(body, r); err != nil {
		return nil, bad("", "The body is no request that this server understands: %v.", err)
	}
	if chat && len(r.Messages) == 0 {
		return nil, bad("messages", `"messages" is missing or empty: send at least one message.`)
	}
	for i := range r.Messages {
		m := &r.Messages[i]
		if !slices.Contains([]string{"system", "developer", "user", "assistant", "tool"}, m.Role) {
			return nil, bad("messages", "messages[%d] has role %q, want system, developer, user, assistant or tool.", i, m.Role)
		}
		m.late = i > 0 && m.Role == "system"
		if e := m.read(i); e != nil {
			return nil, e
		}
	}
	if !chat {
		if e := r.readPrompts(); e != nil {
			return nil, e
		}
	}
	return r, r.readOptions(chat)
}

func (m *message) read(i int) *apiError {
	switch v := m.Content.(type) {
	case nil:
		m.null = true
		return nil
	case string:
		m.text = v
		return nil
	case []any:
		var parts []struct {
			Type, Text string
			Image      struct{ URL string } `json:"image_url"`
		}
		if json.Unmarshal([]byte(toJSON(v)), &parts) == nil {
			for _, p := range parts {
				if p.Type == "image_url" {
					m.images = append(m.images, p.Image.URL)
					continue
				}
				m.text += p.Text
			}
			return nil
		}
	}
	return bad("messages", "messages[%d] has a content that is neither a string, null, nor a list of parts.", i)
}

func (r *request) readPrompts() *apiError {
	var one string
	var ids []int
	raw := r.Prompt
	switch {
	case len(raw) == 0:
		return bad("prompt", `"prompt" is missing.`)
	case json.Unmarshal(raw, &one) == nil:
		r.texts = []string{one}
	case json.Unmarshal(raw, &ids) == nil && len(ids) > 0:
		r.ids = ids
	case json.Unmarshal(raw, &r.texts) == nil && len(r.texts) > 0:
	default:
		return bad("prompt", `"prompt" must be a string or a list of strings.`)
	}
	return nil
}

func (r *request) readOptions(chat bool) *apiError {
	if r.MaxTokens == nil {
		r.MaxTokens = r.MaxCompletion
	}
	if r.MaxTokens != nil && *r.MaxTokens < 1 {
		return bad("max_tokens", `"max_tokens" is %d, want at least 1.`, *r.MaxTokens)
	}
	if r.N != nil && (*r.N < 1 || *r.N > 128) {
		return bad("n", `"n" is %d, want 1 to 128.`, *r.N)
	}
	if t := r.Temperature; t != nil && (*t < 0 || *t > 2) {
		return bad("temperature", `"temperature" is %v, want 0 to 2.`, *t)
	}
	var on bool
	var count int
	switch raw := strings.TrimSpace(string(r.Logprobs)); {
	case raw == "" || raw == "null":
	case chat && json.Unmarshal(r.Logprobs, &on) == nil:
		if on {
			r.top = 0
			if r.TopLogprobs != nil {
				r.top = *r.TopLogprobs
			}
		}
	case !chat && json.Unmarshal(r.Logprobs, &count) == nil:
		r.top = count
	default:
		return bad("logprobs", `"logprobs" is %s, want true or false for chat and a number for completions.`, raw)
	}
	if r.top > 20 {
		return bad("top_logprobs", `%d alternatives are asked for, at most 20 are given.`, r.top)
	}
	var one string
	if len(r.Stop) > 0 && string(r.Stop) != "null" {
		if json.Unmarshal(r.Stop, &one) == nil {
			r.stops = []string{one}
		} else if json.Unmarshal(r.Stop, &r.stops) != nil {
			return bad("stop", `"stop" must be a string or a list of strings.`)
		}
	}
	r.stops = slices.DeleteFunc(r.stops, func(s string) bool { return s == "" })
	return nil
}

// maxTokens is the cap of the answer; without one the window is left to decide.
func (r *request) maxTokens(left int) int {
	if r.MaxTokens == nil {
		return left
	}
	return *r.MaxTokens
}

// thinks says whether the request asks for reasoning. Left out means no, as sending false does.
func (r *request) thinks() bool {
	if on, given := r.thinking(); given {
		return on
	}
	return r.ReasoningEffort != nil && *r.ReasoningEffort != "none" && *r.ReasoningEffort != "minimal"
}

// thinking is the switch of the chat template, by either name that is in use.
func (r *request) thinking() (on, given bool) {
	on, given = r.TemplateKwargs["enable_thinking"].(bool)
	if !given {
		on, given = r.TemplateKwargs["thinking"].(bool)
	}
	return on, given
}
