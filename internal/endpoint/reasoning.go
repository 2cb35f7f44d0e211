package endpoint

import "strings"

// reasoningTags are the tags in which reasoning models without a server-side parser put their reasoning.
var reasoningTags = []struct{ open, end string }{
	{"<think>", "</think>"},
	{"<thinking>", "</thinking>"},
	{"<thought>", "</thought>"},
	{"[THINK]", "[/THINK]"},
}

// splitReasoning separates the answer from inline reasoning. An end tag without a start tag
// closes reasoning that began with the answer, because templates put the start tag into the prompt; a start tag
// without an end tag opens reasoning that max_tokens cut. Tags in the middle of an answer count too.
func splitReasoning(content string) (text, reasoning string, inline bool) {
	for _, m := range reasoningTags {
		text, reasoning, inline = splitBy(content, m.open, m.end)
		if inline {
			return text, reasoning, true
		}
	}
	return content, "", false
}

func splitBy(content, open, end string) (text, reasoning string, inline bool) {
	var said, thought strings.Builder
	rest := content
	if e, o := strings.Index(rest, end), strings.Index(rest, open); e >= 0 && (o < 0 || e < o) {
		thought.WriteString(rest[:e])
		rest, inline = rest[e+len(end):], true
	}
	for {
		before, after, found := strings.Cut(rest, open)
		said.WriteString(before)
		if !found {
			break
		}
		inside, behind, _ := strings.Cut(after, end)
		thought.WriteString(inside)
		rest, inline = behind, true
	}
	if !inline {
		return content, "", false
	}
	return strings.TrimLeft(strings.ReplaceAll(said.String(), end, ""), " \r\n\t"), strings.TrimSpace(thought.String()),
		true
}
