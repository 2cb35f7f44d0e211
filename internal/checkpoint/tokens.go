package checkpoint

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"regexp"
	"strconv"
	"strings"
)

// tokens is what the files of the tokenizer say of ids.
type tokens struct {
	n     int            // one more than the largest id of tokenizer.json; 0 where it is not there or not understood
	added map[int]string // tokens that stand outside the vocabulary: special, reserved, later ones
}

// added is one entry of added_tokens.
type added struct {
	ID      int    `json:"id"`
	Content string `json:"content"`
}

// ids reads the files once.
func (p *patient) ids() tokens {
	if p.known != nil {
		return *p.known
	}
	p.known = &tokens{added: map[int]string{}}
	if p.fsys == nil {
		return *p.known
	}
	read := func(name string, into any) bool {
		info, err := fs.Stat(p.fsys, name)
		if err != nil || info.Size() > maxText {
			return false
		}
		raw, err := fs.ReadFile(p.fsys, name)
		return err == nil && json.Unmarshal(raw, into) == nil
	}
	var f struct {
		Added []added `json:"added_tokens"`
		Model struct {
			Vocab json.RawMessage `json:"vocab"`
		} `json:"model"`
	}
	top := -1
	if read("tokenizer.json", &f) {
		for _, a := range f.Added {
			top = max(top, a.ID)
			p.known.added[a.ID] = a.Content
		}
		top = max(top, largestID(f.Model.Vocab))
	}
	p.known.n = top + 1
	var settings struct {
		Decoder map[string]added `json:"added_tokens_decoder"`
	}
	if read("tokenizer_config.json", &settings) {
		for id, a := range settings.Decoder {
			if n, err := strconv.Atoi(id); err == nil {
				p.known.added[n] = a.Content
			}
		}
	}
	var list map[string]int
	if read("added_tokens.json", &list) {
		for content, id := range list {
			p.known.added[id] = content
		}
	}
	if p.config != nil {
		for _, s := range p.config.special() {
			p.known.added[s.ID] = s.Key
		}
	}
	return *p.known
}

// largestID reads the vocabulary of a model: ids by token, or tokens in the order of their ids.
func largestID(vocab json.RawMessage) int {
	top, v := -1, bytes.TrimSpace(vocab)
	switch {
	case len(v) == 0:
	case v[0] == '{':
		var ids map[string]int
		if json.Unmarshal(v, &ids) == nil {
			for _, id := range ids {
				top = max(top, id)
			}
		}
	case v[0] == '[':
		var list []json.RawMessage
		if json.Unmarshal(v, &list) == nil {
			top = len(list) - 1
		}
	}
	return top
}

// stands tells whether text of a user can become this id, so that its row must be trained: not where no token has it,
// nor where it is one of those that models reserve.
func (k tokens) stands(id int) bool {
	_, added := k.added[id]
	return !added && (k.n == 0 || id < k.n)
}

// placeholder tells tokens that a processor replaces by features before the embedding is read.
var placeholder = regexp.MustCompile(`(?i)image|img|audio|video|vision|speech|soft_token|patch`)

// tokenizer holds the ids of tokenizer.json against the rows of the embedding.
func (p *patient) tokenizer(embed *tensor, rows int) {
	k := p.ids()
	if k.n <= rows {
		return
	}
	var beyond []string
	for id := rows; id < k.n; id++ {
		if content := k.added[id]; !placeholder.MatchString(content) {
			beyond = nil
			break
		}
		beyond = append(beyond, k.added[id])
	}
	if len(beyond) > 0 {
		p.add(Look, KindTokenizer, []string{embed.stored}, "tokenizer.json has ids up to %d (%s), and %s has %d rows: these "+
			"tokens stand for images or sound, which this model must not be given", k.n-1, strings.Join(beyond, ", "),
			embed.stored, rows)
		return
	}
	p.add(Certain, KindTokenizer, []string{embed.stored}, "tokenizer.json has ids up to %d, and %s has %d rows: the last "+
		"tokens read beyond it; fetch the tokenizer of this model", k.n-1, embed.stored, rows)
}

// untrainedRows tells whether runs of a vocabulary's rows are those of ids that no text becomes, but for a few.
func (p *patient) untrainedRows(t *tensor, runs []hole) bool {
	k, row, trained := p.ids(), t.rowBytes(), int64(0)
	for _, h := range runs {
		for id := h.from / row; id < h.to/row; id++ {
			if k.stands(int(id)) && (k.n > 0 || h.to < t.info.Size) { // padding lies at the end
				trained++
			}
		}
	}
	return trained <= fewRows
}

// fewRows is how many rows of a vocabulary may be zero without a reason that is known.
const fewRows = 8
