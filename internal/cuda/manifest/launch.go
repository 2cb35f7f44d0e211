package manifest

import (
	"fmt"
	"slices"
	"strings"
)

// types are the numbers that a kernel takes, with their size in bytes.
var types = map[string]int{"i32": 4, "u32": 4, "i64": 8, "u64": 8, "f32": 4, "f64": 8}

// launch reads a line that belongs to the entry before it.
func (r *reader) launch(key, value string) error {
	if len(r.m.Launch) == 0 {
		return fmt.Errorf("%s comes before any entry; write entry: NAME first", key)
	}
	l := &r.m.Launch[len(r.m.Launch)-1]
	if key == "smem" {
		e, err := ParseExpr(value)
		l.Shared = e
		return err
	}
	parts, err := split(value)
	if err != nil {
		return err
	}
	if key == "args" {
		return r.args(l, parts)
	}
	if len(parts) > 3 {
		return fmt.Errorf("%s has %d dimensions; a launch has at most 3", key, len(parts))
	}
	for len(parts) < 3 {
		parts = append(parts, "1")
	}
	for d, part := range parts {
		e, err := ParseExpr(part)
		if err != nil {
			return err
		}
		if key == "grid" {
			l.Grid[d] = e
		} else {
			l.Block[d] = e
		}
	}
	return nil
}

func (r *reader) args(l *Launch, parts []string) error {
	for i, part := range parts {
		if slices.ContainsFunc(r.m.Tensors(), func(o Operand) bool { return o.Name == part }) {
			l.Args = append(l.Args, Arg{Operand: part})
			continue
		}
		kind, text, _ := strings.Cut(part, " ")
		if types[kind] == 0 {
			return fmt.Errorf("argument %d, %q, is neither an operand (those are named above it) nor a number with its type; "+
				"write i32, u32, i64, u64, f32 or f64 before an expression", i+1, part)
		}
		e, err := ParseExpr(text)
		if err != nil {
			return fmt.Errorf("argument %d: %w", i+1, err)
		}
		l.Args = append(l.Args, Arg{Type: kind, Expr: e})
	}
	return nil
}
