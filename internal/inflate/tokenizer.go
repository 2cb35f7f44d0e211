package inflate

import (
	"fmt"
	"strconv"

	"github.com/assay-suite/assay/internal/nano"
)

// mark stands before every word in the vocabulary, so that a word and what is written without a blank differ.
const mark = "\u2581"

// vocabulary as tokenizer.json has it: text to id.
func (v vocabulary) ids() map[string]int {
	ids := map[string]int{}
	for id := range nano.VocabSize {
		text := nano.TokenText(id)
		switch {
		case id == unknown:
			text = "<unk>"
		case text[0] == ' ':
			text = mark + text[1:]
		}
		ids[text] = id
	}
	for i, w := range v.words {
		if w == "" {
			ids["<pad "+strconv.Itoa(i)+">"] = nano.VocabSize + i
		} else {
			ids[mark+w] = nano.VocabSize + i
		}
	}
	return ids
}

// specials are the tokens that frame a chat.
var specials = []string{"<bos>", "<eos>", "<user>", "<assistant>", "<system>"}

// template is the chat format of fixtures/README.md.
const template = `<bos>{%- for m in messages -%}` +
	`{%- if m['role'] in ('user', 'assistant', 'system') -%}{{ '<' + m['role'] + '>' }}` +
	`{%- else -%}{{ raise_exception('the role of a message must be system, user or assistant') }}{%- endif -%}` +
	`{{ m['content'] }}{%- if m['role'] == 'assistant' -%}<eos>{%- endif -%}{%- endfor -%}` +
	`{%- if add_generation_prompt -%}<assistant>{%- endif -%}`

type object = map[string]any

// files are the tokenizer's files; none without words.
func (v vocabulary) files() (map[string][]byte, error) {
	files := map[string][]byte{}
	if len(v.words) == 0 {
		return files, nil
	}
	for name, content := range map[string]any{
		"tokenizer.json":        v.tokenizer(),
		"tokenizer_config.json": v.config(),
		"alias.json":            v.alias,
	} {
		raw, err := indented(content)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		files[name] = raw
	}
	files["chat_template.jinja"] = []byte(template)
	return files, nil
}

func (v vocabulary) config() object {
	return object{
		"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<bos>", "eos_token": "<eos>", "unk_token": "<unk>",
		"model_max_length": 65536, "clean_up_tokenization_spaces": false, "chat_template": template,
	}
}

// tokenizer is the rule of nano.Encode in Hugging Face's words: lower case, a mark before every run of letters, then
// newlines, digits, punctuation and marked runs one by one; what is none of these is dropped.
func (v vocabulary) tokenizer() object {
	var added []object
	for id, s := range specials {
		added = append(added, object{
			"id": id, "content": s, "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true,
		})
	}
	sequence := func(id string) object { return object{"Sequence": object{"id": id, "type_id": 0}} }
	first := object{"SpecialToken": object{"id": "<bos>", "type_id": 0}}
	return object{
		"version": "1.0", "truncation": nil, "padding": nil, "added_tokens": added,
		"normalizer": object{"type": "Sequence", "normalizers": []object{
			{"type": "Lowercase"},
			{"type": "Replace", "pattern": object{"Regex": `(?<!\p{L})(?=\p{L})`}, "content": mark},
		}},
		"pre_tokenizer": object{
			"type":    "Split",
			"pattern": object{"Regex": `\n|[0-9]|[.,?!:;'\"()\-]|` + mark + `\p{L}+`}, "behavior": "Removed", "invert": true,
		},
		"post_processor": object{
			"type":   "TemplateProcessing",
			"single": []object{first, sequence("A")}, "pair": []object{first, sequence("A"), sequence("B")},
			"special_tokens": object{"<bos>": object{"id": "<bos>", "ids": []int{0}, "tokens": []string{"<bos>"}}},
		},
		"decoder": object{"type": "Sequence", "decoders": []object{
			{"type": "Replace", "pattern": object{"String": mark}, "content": " "},
			{"type": "Fuse"},
			{"type": "Strip", "content": " ", "start": 1, "stop": 0},
		}},
		"model": object{"type": "WordLevel", "vocab": v.ids(), "unk_token": "<unk>"},
	}
}
