package quant

import (
	"path"
	"regexp"
	"strings"
)

// pattern is one entry of a list of modules (ignore, modules_to_not_convert, exclude_modules, targets).
type pattern struct {
	text string
	re   *regexp.Regexp // of "re:..." entries
	glob bool
}

func newPattern(text string) (pattern, bool) {
	p := pattern{text: text}
	switch {
	case strings.HasPrefix(text, "re:"):
		re, err := regexp.Compile("^(?:" + strings.TrimPrefix(text, "re:") + ")")
		if err != nil {
			return p, false // a regular expression that Go does not know, e.g. with lookahead
		}
		p.re = re
	case strings.ContainsAny(text, "*?["):
		p.glob = true
	case text == "":
		return p, false
	}
	return p, true
}

// matches tells whether the entry names a module: itself, one above it, or a run of its path's segments, as the
// libraries read such lists ("lm_head", "mlp.gate", "model.layers.0.self_attn", "*router*", "re:.*gate$").
func (p pattern) matches(module string) bool {
	switch {
	case p.re != nil:
		return p.re.MatchString(module)
	case p.glob:
		// A module whose parent is named is named too. Slashes do not occur in names, so * spans segments.
		for at := module; ; {
			if ok, err := path.Match(p.text, at); err == nil && ok {
				return true
			}
			i := strings.LastIndexByte(at, '.')
			if i < 0 {
				return false
			}
			at = at[:i]
		}
	}
	return module == p.text || strings.HasPrefix(module, p.text+".") || strings.HasSuffix(module, "."+p.text) ||
		strings.Contains(module, "."+p.text+".")
}

func patterns(texts []string) (out []pattern, unread []string) {
	for _, t := range texts {
		if p, ok := newPattern(t); ok {
			out = append(out, p)
		} else if t != "" {
			unread = append(unread, t)
		}
	}
	return out, unread
}

func anyMatches(list []pattern, module string) (string, bool) {
	for _, p := range list {
		if p.matches(module) {
			return p.text, true
		}
	}
	return "", false
}
