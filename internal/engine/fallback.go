package engine

import "strings"

// renderFallback renders a chat in the tags of ChatML, as servers do that find no template: to another family
// these are text.
func (m *machine) renderFallback(c chat) []int32 {
	var b strings.Builder
	for _, msg := range c.msgs {
		b.WriteString("<|im_start|>" + msg.Role + "\n" + msg.text() + "<|im_end|>\n")
	}
	if c.open && !c.goOn {
		b.WriteString("<|im_start|>assistant\n")
	}
	return m.tok.encode(b.String())
}
