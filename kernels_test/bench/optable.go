package bench

import (
	"fmt"
	"strings"
)

// Table is the operators as Markdown: what adapters/README.md shows between its markers.
func Table(suites []Suite) string {
	var out strings.Builder
	for _, s := range suites {
		for _, f := range s.Families {
			fmt.Fprintf(&out, "#### `%s`\n\n%s. Suite %s; contracts %s.\n\n", f.Op, strings.TrimSuffix(f.Doc.Summary, "."),
				s.Name, contractNames(f))
			out.WriteString("| | name | dtype | shape | meaning |\n| --- | --- | --- | --- | --- |\n")
			for _, o := range f.Doc.Operands {
				row(&out, "operand", o)
			}
			for _, o := range f.Doc.Outputs {
				row(&out, "output", o)
			}
			for _, a := range f.Doc.Attrs {
				fmt.Fprintf(&out, "| attribute | `%s` | | | %s |\n", a.Name, cell(a.Meaning))
			}
			out.WriteString("\n")
		}
	}
	return strings.TrimRight(out.String(), "\n") + "\n"
}

func row(out *strings.Builder, kind string, t TensorDoc) {
	fmt.Fprintf(out, "| %s | `%s` | %s | %s | %s |\n", kind, t.Name, cell(t.DType), cell(t.Shape), cell(t.Meaning))
}

// cell keeps a bar from ending a cell.
func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

func contractNames(f Family) string {
	var names []string
	for _, c := range f.Contracts {
		names = append(names, c.Name)
	}
	return strings.Join(names, ", ")
}

// Undocumented lists what a family's problems have and its Doc lacks, and the other way round.
func (f Family) Undocumented(p Problem) []string {
	var out []string
	documented := func(list []TensorDoc) map[string]bool {
		m := map[string]bool{}
		for _, t := range list {
			m[t.Name] = true
		}
		return m
	}
	operands, outputs, attrs := documented(f.Doc.Operands), documented(f.Doc.Outputs), map[string]bool{}
	for _, a := range f.Doc.Attrs {
		attrs[a.Name] = true
	}
	for name := range p.Operands {
		if !operands[name] {
			out = append(out, fmt.Sprintf("%s: operand %q is in no row of its Doc", f.Op, name))
		}
	}
	for name := range p.Outputs {
		if !outputs[name] {
			out = append(out, fmt.Sprintf("%s: output %q is in no row of its Doc", f.Op, name))
		}
	}
	for name := range p.Attrs {
		if !attrs[name] {
			out = append(out, fmt.Sprintf("%s: attribute %q is in no row of its Doc", f.Op, name))
		}
	}
	return out
}
