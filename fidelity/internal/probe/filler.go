package probe

import (
	"strings"

	"github.com/assay-suite/assay/internal/needle"
)

// filler is about so many tokens of whole sentences of the haystack, from a place that the parts draw.
func (r *Runner) filler(s salt, tokens int, parts ...string) string {
	list := r.o.Haystack.Sentences
	want := int(float64(tokens) / r.ratio)
	from := int(s.hash(append(parts, "filler")...) % uint64(len(list)))
	var out []string
	for i, n := 0, 0; i < len(list) && n < want; i++ {
		line := list[(from+i)%len(list)]
		u := needle.Units(line)
		if n+u > want+want/4+8 {
			continue // a sentence of a hundred words would miss the length
		}
		n += u
		out = append(out, line)
	}
	return strings.Join(out, r.sep())
}

// names are n different cities that the haystack does not name.
func (r *Runner) names(s salt, n int) []string {
	all := needle.Names()
	at := int(s.hash("names") % uint64(len(all)))
	var out []string
	for i := 0; len(out) < n && i < 2*len(all); i++ {
		if name := all[(at+i)%len(all)]; i >= len(all) || !r.o.Haystack.HasWord(name) {
			out = append(out, name)
		}
	}
	return out
}

// private is a prompt of about so many tokens with one needle in its middle, without a counter.
func (r *Runner) private(s salt, tokens int, name, code string, parts ...string) string {
	half := max(8, (tokens-50)/2)
	return strings.Join([]string{
		s.word(parts...) + ".", r.filler(s, half, append(parts, "a")...), needle.Sentence(name, code),
		r.filler(s, half, append(parts, "b")...),
	}, r.sep())
}

// sep stands between sentences: the agent's register is lines, of which many end in no stop.
func (r *Runner) sep() string {
	if strings.HasPrefix(r.o.Haystack.Name, "agent-") {
		return "\n"
	}
	return " "
}

// asked is the question for a name, and nothing but its code as the answer, with the separator before it.
func (r *Runner) asked(name string) string {
	return r.sep() + "Question: what is the access code for " + name + "? Answer with only the code."
}

func sentence(name, code string) string { return needle.Sentence(name, code) }

func truth(name, code string) needle.Truth { return needle.Truth{Name: name, Code: code} }
