package endpoint

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// assemble reads an event stream and returns the equivalent body of a request that did not stream, so
// that one decoder serves both. go-openai's own stream reader is not used: it counts keep-alive
// comments towards a limit of 300 and knows one spelling of an error event only.
//
// Comments and unknown fields are skipped; the usage seen last counts; only choice 0 is read. A stream
// that ends without finish_reason was cut off by the transport; one that ends without [DONE] after a
// finish_reason is complete.
func assemble(in *meter) ([]byte, error) {
	var a assembly
	lines := bufio.NewReader(in)
	var data []byte
	for {
		line, err := lines.ReadBytes('\n')
		line = bytes.TrimRight(line, "\r\n")
		if rest, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			rest = bytes.TrimPrefix(rest, []byte(" "))
			if data != nil {
				data = append(data, '\n')
			}
			data = append(data, rest...)
		}
		if data != nil && (len(line) == 0 || err != nil || whole(data)) {
			if string(bytes.TrimSpace(data)) == "[DONE]" {
				break
			}
			if e := a.add(data); e != nil {
				return nil, e
			}
			data = nil
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			var silence *SilenceError
			if a.finish != "" && errors.As(err, &silence) {
				break
			}
			return nil, cutOff(err, in.got)
		}
	}
	if a.finish == "" {
		return nil, &TruncatedError{Got: in.got, Why: fmt.Sprintf("the stream ended without a finish_reason after %d events", a.events)}
	}
	return a.body()
}

// whole reports whether data is complete on its own: some servers separate events by one newline only.
func whole(data []byte) bool {
	return string(bytes.TrimSpace(data)) == "[DONE]" || json.Valid(data)
}

type assembly struct {
	events          int
	id, model       string
	text, reasoning strings.Builder
	chat            bool
	tokens          []json.RawMessage // chat: logprobs.content
	flat            *flatLogprobs     // completions
	finish          string
	usage           json.RawMessage
}

type flatLogprobs struct {
	Tokens   []string          `json:"tokens"`
	Logprobs []json.RawMessage `json:"token_logprobs"`
	Top      []json.RawMessage `json:"top_logprobs"`
	Offsets  []int             `json:"text_offset"`
}

func (a *assembly) add(data []byte) error {
	if msg, bad := errorObject(data); bad {
		return &StatusError{Message: msg, Where: "stream"}
	}
	var ev struct {
		ID      string `json:"id"`
		Model   string `json:"model"`
		Choices []struct {
			Index int    `json:"index"`
			Text  string `json:"text"`
			Delta *struct {
				Content          *string `json:"content"`
				Reasoning        *string `json:"reasoning"`
				ReasoningContent *string `json:"reasoning_content"`
			} `json:"delta"`
			Logprobs     json.RawMessage `json:"logprobs"`
			FinishReason *string         `json:"finish_reason"`
		} `json:"choices"`
		Usage json.RawMessage `json:"usage"`
	}
	if err := json.Unmarshal(data, &ev); err != nil {
		return fmt.Errorf("endpoint: stream event %d is no valid JSON (%q): %w", a.events, shorten(string(data), 80), err)
	}
	a.events++
	if ev.ID != "" {
		a.id = ev.ID
	}
	if ev.Model != "" {
		a.model = ev.Model
	}
	if len(ev.Usage) > 0 && string(ev.Usage) != "null" {
		a.usage = ev.Usage
	}
	for _, c := range ev.Choices {
		if c.Index != 0 {
			continue
		}
		a.text.WriteString(c.Text)
		if d := c.Delta; d != nil {
			a.chat = true
			for _, s := range []*string{d.Reasoning, d.ReasoningContent} {
				if s != nil && *s != "" {
					a.reasoning.WriteString(*s)
					break // a server that sends both sends the same text twice
				}
			}
			if d.Content != nil {
				a.text.WriteString(*d.Content)
			}
		}
		if err := a.addLogprobs(c.Logprobs); err != nil {
			return err
		}
		if c.FinishReason != nil && *c.FinishReason != "" {
			a.finish = *c.FinishReason
		}
	}
	return nil
}

func (a *assembly) addLogprobs(raw json.RawMessage) error {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	var lp struct {
		Content []json.RawMessage `json:"content"`
		flatLogprobs
	}
	if err := json.Unmarshal(raw, &lp); err != nil {
		return fmt.Errorf("endpoint: logprobs of stream event %d: %w", a.events, err)
	}
	a.tokens = append(a.tokens, lp.Content...)
	if lp.Tokens != nil {
		if a.flat == nil {
			a.flat = &flatLogprobs{}
		}
		a.flat.Tokens = append(a.flat.Tokens, lp.Tokens...)
		a.flat.Logprobs = append(a.flat.Logprobs, lp.Logprobs...)
		a.flat.Top = append(a.flat.Top, lp.Top...)
		a.flat.Offsets = append(a.flat.Offsets, lp.Offsets...)
	}
	return nil
}

func (a *assembly) body() ([]byte, error) {
	choice := map[string]any{"index": 0, "finish_reason": a.finish}
	if a.chat {
		msg := map[string]any{"role": "assistant", "content": a.text.String()}
		if a.reasoning.Len() > 0 {
			msg["reasoning_content"] = a.reasoning.String()
		}
		choice["message"] = msg
		if a.tokens != nil {
			choice["logprobs"] = map[string]any{"content": a.tokens}
		}
	} else {
		choice["text"] = a.text.String()
		if a.flat != nil {
			choice["logprobs"] = a.flat
		}
	}
	out := map[string]any{"id": a.id, "model": a.model, "choices": []any{choice}}
	if a.usage != nil {
		out["usage"] = a.usage
	}
	b, err := json.Marshal(out)
	if err != nil {
		return nil, fmt.Errorf("endpoint: assembling the stream: %w", err)
	}
	return b, nil
}
