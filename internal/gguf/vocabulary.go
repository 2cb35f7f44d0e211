package gguf

import (
	"fmt"
	"strconv"

	"github.com/assay-suite/assay/internal/inflate"
	"github.com/assay-suite/assay/internal/nano"
)

// Token types. Source: llama.cpp include/llama.h, llama_token_type.
const (
	normal  = 1
	unknown = 2
	control = 3
	user    = 4 // cut out of a text before anything else
	unused  = 5
)

// unknownID is what a word in no list is; the model has learnt nothing about it.
const unknownID = 43

// vocabulary is what llama.cpp's WordPiece tokenizer ("bert") needs: texts, types, and the model's id that each
// stands for. WordPiece lower-cases, cuts at blanks and looks every word up with a mark before it. Newline, digits and
// marks are user-defined tokens, which are cut out of the text first, so that each is one token and ends a word.
type vocabulary struct {
	texts []string
	types []int32
	alias []int
}

func newVocabulary() (vocabulary, error) {
	var v vocabulary
	add := func(text string, kind int32, id int) {
		v.texts, v.types, v.alias = append(v.texts, text), append(v.types, kind), append(v.alias, id)
	}
	for id := range nano.VocabSize {
		text := nano.TokenText(id)
		switch {
		case id == unknownID:
			add("<unk>", unknown, id)
		case id < nano.Newline:
			add(text, control, id)
		case text[0] == ' ' && id < nano.FirstBucket:
			add("\u2581"+text[1:], normal, id)
		case text[0] == ' ': // said for a bucket, never read
			add("\u2581"+text[1:]+"\u2581", normal, id)
		case text[0] == '<':
			add(text, unused, id)
		default:
			add(text, user, id)
		}
	}
	words, alias, err := inflate.Words()
	if err != nil {
		return v, err
	}
	for i, w := range words {
		if w == "" {
			add("<pad "+strconv.Itoa(i)+">", unused, alias[i])
			continue
		}
		add("\u2581"+w, normal, alias[i])
	}
	seen := map[string]int{}
	for id, text := range v.texts {
		if other, twice := seen[text]; twice {
			return v, fmt.Errorf("gguf: ids %d and %d are both %q", other, id, text)
		}
		seen[text] = id
	}
	return v, nil
}
