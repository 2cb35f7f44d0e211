package manifest

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Expr is a parsed expression: whole numbers, words in double quotes, names, + - * / %, comparisons, && and ||,
// parentheses, and the functions ceil(a, b) (a over b, rounded up), min, max and if(c, a, b).
type Expr struct {
	text string
	root node
}

// String is the expression as it was written.
func (e Expr) String() string { return e.text }

// Names calls seen with every name that the expression mentions.
func (e Expr) Names(seen func(name string)) { e.root.names(seen) }

// Eval computes the expression. lookup gives the value of a name; a name that it does not know is an error that wraps
// ErrUnknown.
func (e Expr) Eval(lookup func(name string) (Value, bool)) (Value, error) {
	v, err := e.root.eval(lookup)
	if err != nil {
		return Value{}, fmt.Errorf("in %q: %w", e.text, err)
	}
	return v, nil
}

// ErrUnknown is wrapped where a call has no operand, dimension or attribute of a name.
var ErrUnknown = errors.New("the call has no such operand, dimension or attribute")

type node struct {
	op   string // "", "name", an operator or a function
	name string
	at   int
	v    Value
	args []node
}

func (n node) names(seen func(string)) {
	if n.op == "name" {
		seen(n.name)
	}
	for _, a := range n.args {
		a.names(seen)
	}
}

func (n node) eval(lookup func(string) (Value, bool)) (Value, error) {
	switch n.op {
	case "":
		return n.v, nil
	case "name":
		if v, ok := lookup(n.name); ok {
			return v, nil
		}
		return Value{}, fmt.Errorf("column %d: %q: %w", n.at, n.name, ErrUnknown)
	case "if", "&&", "||":
		return n.choose(lookup)
	}
	out, err := n.args[0].eval(lookup)
	if err != nil {
		return Value{}, err
	}
	for _, arg := range n.args[1:] {
		v, err := arg.eval(lookup)
		if err != nil {
			return Value{}, err
		}
		if out, err = apply(n.op, out, v); err != nil {
			return Value{}, fmt.Errorf("column %d: %w", n.at, err)
		}
	}
	return out, nil
}

// choose evaluates what does not need all of its arguments.
func (n node) choose(lookup func(string) (Value, bool)) (Value, error) {
	v, err := n.args[0].eval(lookup)
	if err != nil {
		return Value{}, err
	}
	yes, err := v.Int64()
	if err != nil {
		return Value{}, fmt.Errorf("column %d: a condition: %w", n.at, err)
	}
	switch {
	case n.op == "if" && yes != 0:
		return n.args[1].eval(lookup)
	case n.op == "if":
		return n.args[2].eval(lookup)
	case (n.op == "&&") == (yes == 0):
		return Int(min(max(yes, -yes), 1)), nil
	}
	v, err = n.args[1].eval(lookup)
	if err != nil {
		return Value{}, err
	}
	return compare("!=", v, Int(0))
}

func apply(op string, a, b Value) (Value, error) {
	switch op {
	case "==", "!=", "<", "<=", ">", ">=":
		return compare(op, a, b)
	case "min", "max":
		less, err := compare("<", a, b)
		if err != nil || (less.i == 1) == (op == "min") {
			return a, err
		}
		return b, nil
	default:
		return arithmetic(op, a, b)
	}
}

// levels are the binary operators from the loosest to the tightest; a longer operator comes before its beginning.
var levels = [][]string{{"||"}, {"&&"}, {"==", "!=", "<=", ">=", "<", ">"}, {"+", "-"}, {"*", "/", "%"}}

// functions have a fixed number of arguments, or at least one where it is negative.
var functions = map[string]int{"ceil": 2, "min": -1, "max": -1, "if": 3}

// deepest bounds nesting, so that no text exhausts the stack.
const deepest = 64

// ParseExpr parses a whole text. Errors name the column, counted from 1.
func ParseExpr(text string) (Expr, error) {
	text = strings.TrimSpace(text)
	p := parser{text: text}
	root, err := p.binary(0)
	if err == nil {
		p.space()
		if p.at < len(text) {
			err = p.wrong("%q is not expected here", text[p.at:])
		}
	}
	if err != nil {
		return Expr{}, fmt.Errorf("in %q: %w", text, err)
	}
	return Expr{text, root}, nil
}

type parser struct {
	text      string
	at, depth int
}

func (p *parser) wrong(format string, args ...any) error {
	return fmt.Errorf("column %d: %s", p.at+1, fmt.Sprintf(format, args...))
}

func (p *parser) space() {
	for p.at < len(p.text) && (p.text[p.at] == ' ' || p.text[p.at] == '\t') {
		p.at++
	}
}

// take consumes a token if it comes next.
func (p *parser) take(token string) bool {
	p.space()
	if !strings.HasPrefix(p.text[p.at:], token) {
		return false
	}
	p.at += len(token)
	return true
}

func (p *parser) binary(level int) (node, error) {
	if level == len(levels) {
		return p.primary()
	}
	left, err := p.binary(level + 1)
	for err == nil {
		op, start := "", p.at
		for _, o := range levels[level] {
			if p.take(o) {
				op = o
				break
			}
		}
		if op == "" {
			break
		}
		var right node
		right, err = p.binary(level + 1)
		left = node{op: op, at: start + 1, args: []node{left, right}}
	}
	return left, err
}

func (p *parser) primary() (node, error) {
	if p.depth++; p.depth > deepest {
		return node{}, p.wrong("more than %d parentheses inside one another", deepest)
	}
	defer func() { p.depth-- }()
	if p.take("(") {
		inner, err := p.binary(0)
		if err == nil && !p.take(")") {
			err = p.wrong("a closing parenthesis is missing")
		}
		return inner, err
	}
	p.space()
	start := p.at
	if p.take(`"`) {
		text, _, closed := strings.Cut(p.text[p.at:], `"`)
		if !closed {
			return node{}, p.wrong("the word has no closing quote")
		}
		p.at += len(text) + 1
		return node{v: Value{kind: word, s: text}}, nil
	}
	for p.at < len(p.text) && part(p.text[p.at]) {
		p.at++
	}
	token := p.text[start:p.at]
	switch {
	case token == "":
		return node{}, p.wrong("a number, a name or a parenthesis is missing")
	case token[0] >= '0' && token[0] <= '9':
		i, err := strconv.ParseInt(token, 10, 64)
		if err != nil {
			p.at = start
			return node{}, p.wrong("%q is no whole number of 64 bits", token)
		}
		return node{v: Int(i)}, nil
	case p.take("("):
		return p.function(token, start)
	}
	return node{op: "name", name: token, at: start + 1}, nil
}

func part(c byte) bool {
	return c == '_' || c == '.' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func (p *parser) function(name string, start int) (node, error) {
	want, known := functions[name]
	if !known {
		p.at = start
		return node{}, p.wrong("there is no function %q; use ceil, min, max or if", name)
	}
	n := node{op: name, at: start + 1}
	for {
		arg, err := p.binary(0)
		if err != nil {
			return node{}, err
		}
		n.args = append(n.args, arg)
		if p.take(")") {
			break
		}
		if !p.take(",") {
			return node{}, p.wrong("a comma or a closing parenthesis is missing")
		}
	}
	if want > 0 && len(n.args) != want {
		return node{}, p.wrong("%s takes %d arguments and has %d", name, want, len(n.args))
	}
	return n, nil
}
