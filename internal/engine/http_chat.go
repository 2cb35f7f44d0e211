package engine

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image/png"
	"net/http"
	"strings"
)

type messageIn struct {
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	Reasoning *string         `json:"reasoning"`
	Thoughts  *string         `json:"reasoning_content"`
	Calls     []struct {
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

func bad(format string, args ...any) *apiError {
	return &apiError{status: http.StatusBadRequest, message: fmt.Sprintf(format, args...)}
}

// readChat reads messages and tools of a body.
func (e *Engine) readChat(f map[string]json.RawMessage) (chat, *apiError) {
	c := chat{open: true}
	var list []messageIn
	if raw, ok := f["messages"]; !ok {
		return c, bad("messages is missing")
	} else if err := json.Unmarshal(raw, &list); err != nil {
		return c, bad("messages cannot be read: %v", err)
	}
	if len(list) == 0 {
		return c, bad("messages is empty")
	}
	for _, in := range list {
		m := message{Role: in.Role}
		switch in.Role {
		case "developer":
			if !e.m.tmpl.fam.developer {
				m.Role = "system"
			}
		case "system", "user", "assistant", "tool":
		default:
			return c, bad("role %q is unknown", in.Role)
		}
		parts, listed, err := e.readContent(in.Content)
		if err != nil {
			return c, err
		}
		m.Parts, m.Listed = parts, listed
		for _, t := range []*string{in.Thoughts, in.Reasoning} {
			if t != nil && *t != "" && m.Reasoning == "" {
				m.Reasoning = e.m.rsnField(t == in.Reasoning, *t)
			}
		}
		if m.Role == "assistant" {
			m = splitThought(m)
		}
		for _, k := range in.Calls {
			args := k.Function.Arguments
			if !json.Valid([]byte(args)) {
				args = "{}"
			}
			m.Calls = append(m.Calls, call{k.Function.Name, args})
		}
		c.msgs = append(c.msgs, m)
	}
	if get(f, "add_generation_prompt", &c.open); f["continue_final_message"] != nil {
		get(f, "continue_final_message", &c.goOn)
	}
	var kw struct {
		Think *bool `json:"enable_thinking"`
	}
	if get(f, "chat_template_kwargs", &kw) && kw.Think != nil {
		c.noThink = !*kw.Think
	}
	var tools []json.RawMessage
	get(f, "tools", &tools)
	for _, raw := range tools {
		var t struct {
			Function struct {
				Name string `json:"name"`
			} `json:"function"`
		}
		if err := json.Unmarshal(raw, &t); err != nil {
			return c, bad("tools cannot be read: %v", err)
		}
		var b bytes.Buffer
		_ = json.Compact(&b, raw) // it was JSON
		c.tools = append(c.tools, toolSpec{Raw: b.Bytes(), Name: t.Function.Name})
	}
	return c, nil
}

// rsnField is where a server looks for the reasoning of earlier turns; both names are read unless a bug reads one.
func (m *machine) rsnField(isReasoning bool, text string) string {
	if m.rsn.onlyField != "" && (m.rsn.onlyField == "reasoning") != isReasoning {
		return ""
	}
	return text
}

// splitThought takes a closed thought out of the content, as the templates of reasoning models do.
func splitThought(m message) message {
	text := m.text()
	if i := strings.LastIndex(text, "</think>"); i >= 0 {
		thought := text[:i]
		if j := strings.Index(thought, "<think>"); j >= 0 {
			thought = thought[j+len("<think>"):]
		}
		if m.Reasoning == "" {
			m.Reasoning = strings.TrimSpace(thought)
		}
		m.Parts = []part{{Text: strings.TrimLeft(text[i+len("</think>"):], "\n"), Colour: -1}}
	}
	return m
}

func (e *Engine) readContent(raw json.RawMessage) (parts []part, listed bool, refusal *apiError) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, false, nil
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return []part{{Text: text, Colour: -1}}, false, nil
	}
	var list []struct {
		Type  string `json:"type"`
		Text  string `json:"text"`
		Image struct {
			URL string `json:"url"`
		} `json:"image_url"`
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, false, bad("content is neither text nor a list of parts")
	}
	for _, p := range list {
		switch {
		case p.Type == "text":
			parts = append(parts, part{Text: p.Text, Colour: -1})
		case !e.p.Images:
			return nil, true, bad("At most 0 image(s) may be provided in one prompt: %s reads text only.", e.p.Model)
		default:
			k, err := colourOf(p.Image.URL)
			if err != nil {
				return nil, true, bad("the image cannot be read: %v", err)
			}
			parts = append(parts, part{Colour: k})
		}
	}
	return parts, true, nil
}

// colourOf names the colour in the middle of a picture in a data URL.
func colourOf(url string) (int, error) {
	_, data, ok := strings.Cut(url, "base64,")
	if !ok {
		return 0, fmt.Errorf("%.20q is no data URL", url)
	}
	raw, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return 0, err
	}
	img, err := png.Decode(bytes.NewReader(raw))
	if err != nil {
		return 0, err
	}
	b := img.Bounds()
	r, g, bl, _ := img.At((b.Min.X+b.Max.X)/2, (b.Min.Y+b.Max.Y)/2).RGBA()
	ref := [][3]int{
		{220, 20, 20},
		{20, 160, 20},
		{20, 20, 220},
		{240, 240, 20},
		{250, 250, 250},
		{5, 5, 5},
		{128, 128, 128},
		{250, 140, 10},
		{128, 10, 160},
		{250, 150, 190},
		{120, 70, 20},
	}
	best, least := 0, 1<<30
	for i, c := range ref {
		dr, dg, db := int(r>>8)-c[0], int(g>>8)-c[1], int(bl>>8)-c[2]
		if d := dr*dr + dg*dg + db*db; d < least {
			best, least = i, d
		}
	}
	return best, nil
}

func (e *Engine) chat(w http.ResponseWriter, r *http.Request) {
	f, ok := e.fields(w, r)
	if !ok {
		return
	}
	c, a := e.readChat(f)
	if a != nil {
		e.refuse(w, *a)
		return
	}
	s, a := e.readSampling(f, true)
	if a != nil {
		e.refuse(w, *a)
		return
	}
	if e.m.tmpl.carry {
		e.mu.Lock()
		c.leftover = e.leftover
		if len(c.msgs) > 0 && c.msgs[0].Role == "system" {
			e.leftover = c.msgs[0].text()
		}
		e.mu.Unlock()
	}
	req, sent, a := e.request(e.m.render(c), s)
	if a != nil {
		e.refuse(w, *a)
		return
	}
	for _, m := range c.msgs {
		for _, p := range m.Parts {
			if p.Colour >= 0 {
				req.images = append(req.images, uint64(p.Colour)+1)
			}
		}
	}
	e.run(w, r, req, s, sent)
}
