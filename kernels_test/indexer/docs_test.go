package indexer

import "testing"

// Every operand, output and attribute of an operator MUST be described.
func TestDocsAreComplete(t *testing.T) {
	for op, d := range docs() {
		for _, x := range append(d.Operands, d.Outputs...) {
			if x.Name == "" || x.DType == "" || x.Shape == "" || x.Meaning == "" {
				t.Errorf("%s: %+v is described in part", op, x)
			}
		}
		for _, x := range d.Attrs {
			if x.Name == "" || x.Meaning == "" {
				t.Errorf("%s: %+v is described in part", op, x)
			}
		}
	}
}
