package checkpoint

import (
	"fmt"
	"slices"
	"strings"
)

// jinjaError says what keeps a chat template from being parsed, "" for one whose delimiters, blocks, strings and
// brackets close. It is the structure of the language and not its expressions: a template that is cut off or spliced
// fails, one that calls a filter which does not exist does not.
func jinjaError(text string) string {
	var open []opened
	raw := false
	line := func(at int) int { return 1 + strings.Count(text[:at], "\n") }
	for at := 0; at < len(text); {
		i := strings.IndexByte(text[at:], '{')
		if i < 0 || at+i+1 >= len(text) {
			break
		}
		at += i
		kind := text[at+1]
		if kind != '{' && kind != '%' && kind != '#' {
			at++
			continue
		}
		if kind == '#' && !raw {
			end := strings.Index(text[at+2:], "#}")
			if end < 0 {
				return fmt.Sprintf("the comment that begins in line %d does not end", line(at))
			}
			at += 2 + end + 2
			continue
		}
		if raw {
			if words := statement(text[at:]); kind == '%' && len(words) > 0 && words[0] == "endraw" {
				raw = false
				open = open[:len(open)-1]
			}
			at += 2
			continue
		}
		closer := "}}"
		if kind == '%' {
			closer = "%}"
		}
		end, why := expression(text[at+2:], closer)
		if why != "" {
			return fmt.Sprintf("the %s that begins in line %d %s", text[at:at+2], line(at), why)
		}
		if kind == '%' {
			words := strings.Fields(strings.Trim(text[at+2:at+2+end], "-+ \t\r\n"))
			if why := nest(&open, words, line(at)); why != "" {
				return why
			}
			raw = len(words) > 0 && words[0] == "raw"
		}
		at += 2 + end + 2
	}
	if len(open) > 0 {
		last := open[len(open)-1]
		return fmt.Sprintf("the block %s of line %d is not closed: the template is cut off", last.word, last.line)
	}
	return ""
}

type opened struct {
	word string
	line int
}

// statement gives the words of the block that text begins with.
func statement(text string) []string {
	end := strings.Index(text, "%}")
	if !strings.HasPrefix(text, "{%") || end < 0 {
		return nil
	}
	return strings.Fields(strings.Trim(text[2:end], "-+ \t\r\n"))
}

// expression finds the closer behind strings and brackets.
func expression(text, closer string) (end int, why string) {
	var brackets []byte
	for i := 0; i < len(text); i++ {
		if len(brackets) == 0 && strings.HasPrefix(text[i:], closer) {
			return i, ""
		}
		switch c := text[i]; c {
		case '\'', '"':
			j := i + 1
			for j < len(text) && text[j] != c {
				if text[j] == '\\' {
					j++
				}
				j++
			}
			if j >= len(text) {
				return 0, "holds a string that does not end"
			}
			i = j
		case '(', '[', '{':
			brackets = append(brackets, c)
		case ')', ']', '}':
			n := len(brackets)
			if n == 0 || brackets[n-1] != map[byte]byte{')': '(', ']': '[', '}': '{'}[c] {
				return 0, fmt.Sprintf("has a %q too many", c)
			}
			brackets = brackets[:n-1]
		}
	}
	return 0, "does not end"
}

// blocks of jinja, of transformers' extension (generation) and of its loop controls.
var jinjaBlocks = []string{
	"if", "for", "macro", "call", "filter", "set", "block", "raw", "with", "autoescape", "generation", "trans",
}

var jinjaWords = []string{
	"elif", "else", "break", "continue", "do", "include", "import", "from", "extends", "debug",
	"pluralize",
}

func nest(open *[]opened, words []string, line int) string {
	if len(words) == 0 {
		return fmt.Sprintf("the block in line %d is empty", line)
	}
	word := words[0]
	if i := strings.IndexAny(word, "("); i > 0 {
		word = word[:i]
	}
	top := ""
	if n := len(*open); n > 0 {
		top = (*open)[n-1].word
	}
	if (word == "if" || word == "elif") && len(words) == 1 && word == words[0] {
		return fmt.Sprintf("%s in line %d has no condition", word, line)
	}
	if word == "for" && !loops(words) {
		return fmt.Sprintf("for in line %d does not say what is in what", line)
	}
	switch closes, isEnd := strings.CutPrefix(word, "end"); {
	case isEnd && slices.Contains(jinjaBlocks, closes):
		if top != closes {
			return fmt.Sprintf("%s in line %d closes %s", word, line, orNothing(top))
		}
		*open = (*open)[:len(*open)-1]
	case word == "set" && slices.ContainsFunc(words, func(w string) bool { return strings.Contains(w, "=") }):
	case slices.Contains(jinjaBlocks, word):
		*open = append(*open, opened{word, line})
	case word == "elif" && top != "if", word == "else" && top != "if" && top != "for":
		return fmt.Sprintf("%s in line %d stands in %s", word, line, orNothing(top))
	case !slices.Contains(jinjaWords, word):
		return fmt.Sprintf("line %d begins a block with %q, which jinja does not know", line, word)
	}
	return ""
}

// loops tells a for with a name before its in.
func loops(words []string) bool {
	return slices.ContainsFunc(words[min(2, len(words)):], func(w string) bool {
		return w == "in" || strings.HasPrefix(w, "in(") || strings.HasPrefix(w, "in[") || strings.HasPrefix(w, "in{")
	})
}

func orNothing(block string) string {
	if block == "" {
		return "nothing"
	}
	return "the block " + block
}
