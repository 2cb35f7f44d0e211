package manifest

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/assay-suite/assay/kernels_test/protocol"
	"github.com/assay-suite/assay/safetensors"
)

// Parse reads a manifest. path is named in messages, with the line: "topk.manifest:7: ...".
func Parse(path, text string) (Manifest, error) {
	r := reader{seen: map[string]int{}}
	r.m.Path, r.m.Offer = path, protocol.Capability{Modes: []string{"eager", "graph"}}
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		key, value, ok := strings.Cut(line, ":")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		r.line = i + 1
		err := fmt.Errorf("%.60q is no line of a manifest; write key: value", line)
		if ok {
			err = r.read(key, value)
		}
		if err != nil {
			return Manifest{}, fmt.Errorf("%s:%d: %w", path, i+1, err)
		}
	}
	if err := r.complete(); err != nil {
		return Manifest{}, fmt.Errorf("%s: %w", path, err)
	}
	return r.m, nil
}

type reader struct {
	m    Manifest
	seen map[string]int // key -> line, of keys that may come once; reset where a launch begins
	line int
}

// once are the keys that a manifest, or a launch of it, has at most once.
var once = []string{
	"operator", "source", "contract", "nan", "modes", "phases", "dtypes", "grid", "block", "smem", "args",
}

func (r *reader) read(key, value string) error {
	if at := r.seen[key]; at > 0 {
		return fmt.Errorf("%s was given in line %d already", key, at)
	}
	if slices.Contains(once, key) {
		r.seen[key] = r.line
	}
	if value == "" {
		return fmt.Errorf("%s has no value", key)
	}
	m, o := &r.m, &r.m.Offer
	switch key {
	case "operator":
		m.Operator = value
	case "source":
		m.Source = value
	case "options":
		m.Options = append(m.Options, strings.Fields(value)...)
	case "contract":
		o.Contract = value
	case "nan":
		o.NaN = value
	case "modes":
		o.Modes = strings.Fields(value)
	case "phases":
		o.Phases = strings.Fields(value)
	case "dtypes":
		o.DTypes = strings.Fields(value)
	case "attr", "made_for", "facet":
		return r.offer(key, strings.Fields(value))
	case "in", "out", "scratch":
		return r.operands(key, value)
	case "require":
		e, err := ParseExpr(value)
		m.Require = append(m.Require, e)
		return err
	case "let":
		return r.let(value)
	case "entry":
		return r.entry(value)
	case "grid", "block", "smem", "args":
		return r.launch(key, value)
	default:
		return fmt.Errorf("there is no key %q; the keys are operator, source, options, dtypes, modes, phases, contract, "+
			"nan, attr, made_for, facet, in, out, scratch, let, require, entry, grid, block, smem, args", key)
	}
	return nil
}

func (r *reader) offer(key string, words []string) error {
	o := &r.m.Offer
	if key == "facet" {
		return r.facet(words)
	}
	if len(words) < 2 {
		return fmt.Errorf("%s needs a name and at least one value", key)
	}
	if key == "attr" {
		if o.Attrs == nil {
			o.Attrs = map[string][]string{}
		}
		o.Attrs[words[0]] = words[1:]
		return nil
	}
	for _, w := range words[1:] {
		n, err := strconv.Atoi(w)
		if err != nil || n <= 0 {
			return fmt.Errorf("made_for %s: %q is no size", words[0], w)
		}
		if o.MadeFor == nil {
			o.MadeFor = map[string][]int{}
		}
		o.MadeFor[words[0]] = append(o.MadeFor[words[0]], n)
	}
	return nil
}

func (r *reader) facet(words []string) error {
	var f protocol.Offer
	for _, w := range words {
		key, value, _ := strings.Cut(w, "=")
		to := map[string]*string{"out": &f.Out, "layout": &f.Layout, "phase": &f.Phase, "mode": &f.Mode}[key]
		switch {
		case value == "" || to == nil && key != "dtypes":
			return fmt.Errorf("facet: %q is none of dtypes=A,B out=A layout=NAME phase=NAME mode=NAME", w)
		case key == "dtypes":
			f.DTypes = strings.Split(value, ",")
		default:
			*to = value
		}
	}
	r.m.Offer.Facets = append(r.m.Offer.Facets, f)
	return nil
}

var (
	operand = regexp.MustCompile(`^([A-Za-z_]\w*)\s+([A-Z]\w*)\s*\[(.*)\]\s*(optional)?$`)
	name    = regexp.MustCompile(`^[A-Za-z_]\w*$`)
)

func (r *reader) operands(key, value string) error {
	parts, err := split(value)
	if err != nil {
		return err
	}
	for _, part := range parts {
		found := operand.FindStringSubmatch(part)
		if found == nil {
			return fmt.Errorf("%q is no operand; write NAME DTYPE[SIZE, ...], as in q BF16[T, H, D], after it optional", part)
		}
		if safetensors.DType(found[2]).Bits()%8 != 0 || safetensors.DType(found[2]).Bits() == 0 {
			return fmt.Errorf("operand %s: there is no dtype %q of whole bytes, such as F32, BF16, F8_E4M3 or I32",
				found[1], found[2])
		}
		if slices.ContainsFunc(r.m.Tensors(), func(o Operand) bool { return o.Name == found[1] }) {
			return fmt.Errorf("operand %s was given already", found[1])
		}
		o := Operand{Name: found[1], DType: found[2], Optional: found[4] != "", line: r.line}
		sizes, err := split(found[3])
		if err != nil {
			return err
		}
		for _, size := range sizes {
			e, err := ParseExpr(size)
			if err != nil {
				return fmt.Errorf("operand %s: %w", o.Name, err)
			}
			o.Shape = append(o.Shape, e)
		}
		list := map[string]*[]Operand{"in": &r.m.In, "out": &r.m.Out, "scratch": &r.m.Scratch}[key]
		*list = append(*list, o)
	}
	return nil
}

func (r *reader) let(value string) error {
	left, right, ok := strings.Cut(value, "=")
	left = strings.TrimSpace(left)
	if !ok || !name.MatchString(left) {
		return fmt.Errorf("let %q: write let: NAME = EXPRESSION", value)
	}
	e, err := ParseExpr(right)
	r.m.Let = append(r.m.Let, Let{left, e})
	return err
}

func (r *reader) entry(value string) error {
	if !name.MatchString(value) {
		return fmt.Errorf(`entry %q is no name of a kernel; declare it extern "C" and write its name here`, value)
	}
	for _, key := range []string{"grid", "block", "smem", "args"} {
		delete(r.seen, key)
	}
	zero, err := ParseExpr("0")
	r.m.Launch = append(r.m.Launch, Launch{Entry: value, Shared: zero, line: r.line})
	return err
}

// split cuts a list at its commas, outside of parentheses, brackets and words.
func split(text string) ([]string, error) {
	var out []string
	depth, start, quoted := 0, 0, false
	for i, c := range text {
		switch {
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '(' || c == '[':
			depth++
		case c == ')' || c == ']':
			depth--
		case c == ',' && depth == 0:
			out = append(out, strings.TrimSpace(text[start:i]))
			start = i + 1
		}
	}
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	out = append(out, strings.TrimSpace(text[start:]))
	if at := slices.Index(out, ""); at >= 0 {
		return nil, fmt.Errorf("entry %d of the list %q is empty", at+1, text)
	}
	return out, nil
}

// complete says what a manifest lacks.
func (r *reader) complete() error {
	lacks := cmp.Or(
		missing(r.m.Operator == "", "operator"), missing(r.m.Source == "", "source"),
		missing(len(r.m.Out) == 0, "out"), missing(len(r.m.Launch) == 0, "entry"),
		missing(len(r.m.Offer.DTypes) == 0, "dtypes"),
	)
	if lacks != "" {
		return fmt.Errorf("the manifest has no line %s", lacks)
	}
	for _, l := range r.m.Launch {
		if l.Grid[0].root.op == "" && l.Grid[0].text == "" || l.Block[0].text == "" || l.Args == nil {
			return fmt.Errorf("line %d: entry %s needs the lines grid, block and args", l.line, l.Entry)
		}
	}
	return nil
}

func missing(is bool, what string) string {
	if is {
		return what
	}
	return ""
}
