package checkpoint

import (
	"encoding/json"
	"errors"
	"io/fs"
	"strings"

	"github.com/assay-suite/assay/internal/quant"
)

// Files beside the weights that serving needs, at most this large.
const maxText = 200 << 20

// chat holds the files of the tokenizer against themselves: JSON that is whole, special ids of
// generation_config.json, and a chat template that parses. Base models have none, so that a missing one is worth a
// look and no fault.
func (p *patient) chat() {
	if p.fsys == nil {
		return
	}
	tokenizer := p.json("tokenizer_config.json")
	p.json("tokenizer.json")
	if raw := p.json("generation_config.json"); raw != nil {
		p.generation(raw)
	}
	templates := map[string]string{}
	if raw := p.text("chat_template.jinja"); raw != nil {
		templates["chat_template.jinja"] = string(raw)
	}
	for _, file := range []string{"tokenizer_config.json", "chat_template.json", "processor_config.json"} {
		raw := tokenizer
		if file != "tokenizer_config.json" {
			raw = p.json(file)
		}
		for name, text := range templatesOf(raw) {
			templates[file+name] = text
		}
	}
	for name, text := range templates {
		if why := jinjaError(text); why != "" {
			p.add(Certain, KindChat, nil, "the chat template of %s does not parse: %s; fetch the file again", name, why)
		}
	}
	if len(templates) == 0 && tokenizer != nil {
		p.add(Look, KindChat, nil, "there is no chat template (chat_template.jinja, or chat_template in "+
			"tokenizer_config.json): servers refuse chat requests; base models have none")
	}
}

// templatesOf reads chat_template: a text, or a list of named ones.
func templatesOf(raw []byte) map[string]string {
	var f struct {
		Template json.RawMessage `json:"chat_template"`
	}
	if raw == nil || json.Unmarshal(raw, &f) != nil || len(f.Template) == 0 {
		return nil
	}
	var text string
	if json.Unmarshal(f.Template, &text) == nil {
		if strings.TrimSpace(text) == "" { // null, or none
			return nil
		}
		return map[string]string{"": text}
	}
	var list []struct{ Name, Template string }
	out := map[string]string{}
	if json.Unmarshal(f.Template, &list) == nil {
		for _, t := range list {
			out[" ("+t.Name+")"] = t.Template
		}
	}
	return out
}

// text reads a file of the folder; nil where there is none, and one that cannot be read is reported.
func (p *patient) text(name string) []byte {
	info, err := fs.Stat(p.fsys, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var raw []byte
	if err == nil && info.Size() > maxText {
		err = errors.New("it is larger than such a file is")
	}
	if err == nil {
		raw, err = fs.ReadFile(p.fsys, name)
	}
	if err != nil {
		p.add(Certain, KindTokenizer, nil, "%s cannot be read: %v", name, err)
		return nil
	}
	return raw
}

// json is text for a file that must be JSON.
func (p *patient) json(name string) []byte {
	raw := p.text(name)
	if raw == nil || json.Valid(quant.PlainJSON(raw)) {
		return raw
	}
	p.add(Certain, KindTokenizer, nil, "%s is not JSON from end to end (%d bytes): it is cut off or was overwritten; "+
		"fetch it "+
		"again", name, len(raw))
	return nil
}

// generation holds the special ids of generation_config.json against the embedding.
func (p *patient) generation(raw []byte) {
	var f plainFile
	if json.Unmarshal(raw, &f) != nil {
		return
	}
	rows := 0
	for _, t := range p.tensors {
		if t.part == quant.None && roleOf(t) == roleEmbed {
			rows = t.elements()[0]
		}
	}
	for _, s := range f.special() {
		if rows > 0 && s.ID >= rows {
			p.add(Certain, KindTokenizer, nil, "generation_config.json has %s %d, and the embedding has %d rows; fetch the "+
				"file "+
				"of this model", s.Key, s.ID, rows)
		}
	}
}
