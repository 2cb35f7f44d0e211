package report

import (
	"fmt"
	"strings"
)

// Tokens is the account of tokens: what was built against what the server says it read.
type Tokens struct {
	Title string
	Rows  []TokenRow
	Note  string
}

// TokenRow is one prompt, or one form of prompt. A nil number was not said or is not known.
type TokenRow struct {
	Name       string
	Built      *int // counted by us
	Reported   *int // usage.prompt_tokens
	Cached     *int // usage.prompt_tokens_details.cached_tokens
	Completion *int // usage.completion_tokens
	Note       string
	Wrong      bool // the difference is a fault
}

// Diff is reported minus built, signed, or empty where one is not known.
func (r TokenRow) Diff() string {
	if r.Built == nil || r.Reported == nil {
		return ""
	}
	return fmt.Sprintf("%+d", *r.Reported-*r.Built)
}

// count is a number of tokens, or that it was not said.
func count(n *int) string {
	if n == nil {
		return "not said"
	}
	return thousands(*n)
}

// Text is the account in one line: how many rows are right, and the wrong ones with their difference.
func (t Tokens) Text() string {
	var wrong []string
	for _, r := range t.Rows {
		if r.Wrong {
			wrong = append(wrong, strings.TrimSpace(oneLine(r.Name)+" "+r.Diff()))
		}
	}
	s := fmt.Sprintf("%d of %d as expected", len(t.Rows)-len(wrong), len(t.Rows))
	if len(wrong) > 0 {
		s += ": " + strings.Join(wrong, ", ")
	}
	return s
}
