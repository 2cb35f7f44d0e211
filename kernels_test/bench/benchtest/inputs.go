package benchtest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// Documents fails the test for an operator whose Doc is empty somewhere, or lacks an operand, an output or an attribute
// of a case.
func Documents(t *testing.T, s bench.Suite) {
	t.Helper()
	for _, f := range s.Families {
		if f.Doc.Summary == "" || !strings.Contains(f.Claim, "MUST") {
			t.Errorf("%s: its Doc has the summary %q, its claim is %q; want one line, and a sentence with MUST", f.Op,
				f.Doc.Summary, f.Claim)
		}
		for _, d := range slices.Concat(f.Doc.Operands, f.Doc.Outputs) {
			if d.Name == "" || d.DType == "" || d.Shape == "" || d.Meaning == "" {
				t.Errorf("%s: %+v lacks a column", f.Op, d)
			}
		}
		for _, d := range f.Doc.Attrs {
			if d.Name == "" || d.Meaning == "" {
				t.Errorf("%s: %+v lacks a column", f.Op, d)
			}
		}
	}
	seen := map[string]bool{}
	for _, c := range s.Cases() {
		p, err := c.Problem()
		if err != nil {
			t.Fatal(err)
		}
		for _, missing := range c.Family.Undocumented(p) {
			if !seen[missing] {
				t.Errorf("%s: %s", c.ID, missing)
			}
			seen[missing] = true
		}
	}
}

// Memory fails the test for an operand that no case lays out with memory of nobody around it, and for an operand of
// unread, each "operator operand", of which no case leaves an element unread.
func Memory(t *testing.T, s bench.Suite, unread ...string) {
	t.Helper()
	padded, hidden := map[string]bool{}, map[string]bool{}
	for _, c := range s.Cases() {
		p, err := c.Problem()
		if err != nil {
			t.Fatal(err)
		}
		for name := range p.Operands {
			key, l := fmt.Sprintf("%s %s", c.Family.Op, name), p.Layout[name]
			padded[key] = padded[key] || l.Lead > 0 && l.Tail > 0
		}
		for name, is := range p.Unread {
			key := fmt.Sprintf("%s %s", c.Family.Op, name)
			for i := range p.Operands[name].Values {
				hidden[key] = hidden[key] || is(i)
			}
		}
	}
	for key, is := range padded {
		if !is {
			t.Errorf("no case lays out %s with memory around it", key)
		}
	}
	for _, key := range unread {
		if !hidden[key] {
			t.Errorf("no case leaves a part of %s unread", key)
		}
	}
}
