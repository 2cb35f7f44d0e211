package endpoint

import (
	"slices"
	"unicode/utf8"
)

// Count is a number that a server may leave out: absent is unknown, not zero.
type Count struct {
	N     int
	Known bool
}

// Usage is the server's own count.
type Usage struct{ Prompt, Completion, Cached, Reasoning Count }

// Alternative is one of the top tokens at a position; Logprob is a natural logarithm.
type Alternative struct {
	Token   string  `json:"token"`
	Logprob float64 `json:"logprob"`
}

// Token is one generated (or echoed) token. Logprob is NaN where the server gave none, as for the
// first echoed token. Top is sorted by falling Logprob, ties by token.
type Token struct {
	Text    string
	Bytes   []byte
	Logprob float64
	Top     []Alternative
}

// Note is something about the wire that a reader of the answer must know and that is no failure.
type Note struct{ Slug, Detail string }

// Slugs of notes.
const (
	NoteInlineReasoning = "reasoning-inline"  // reasoning is inline in the content, between tags or before an end tag
	NoteTextAfterFinish = "text-after-finish" // text after the finish reason was dropped
	NoteFinishMissing   = "finish-missing"    // complete, but the server gave no finish reason
	NoteDoneMissing     = "done-missing"      // the stream ended without [DONE], after a finish reason
	// U+FFFD in the answer; repaired where the tokens' bytes tell the characters
	NoteReplaced = "replacement-characters"
	NoteRenamed  = "model-renamed" // the answer names another model than was requested
	// the answer names another model than an earlier one to the same request name
	NoteModelChanged = "model-changed"
	NoteClipped      = "logprobs-clipped"      // a log-probability is a placeholder for minus infinity: -100 or -9999
	NoteNotFinite    = "numbers-not-finite"    // NaN or Infinity, which JSON does not allow
	NoteOddTypes     = "fields-of-other-types" // a field is not of the type in the API reference and was ignored
	NoteUnparsed     = "unparsed"              // the server could not parse what the model wrote and kept it
	NoteAdapted      = "request-adapted"       // the server refused a field, and was asked without it
	NoteCutToolCall  = "tool-call-cut"         // a tool call's arguments are not a JSON object
	// finish_reason says stop or tool_calls, but max_tokens was reached
	NoteFinishAgainst = "finish-contradicted"
)

// Shape is the form in which log-probabilities came.
type Shape string

// The four shapes. Legacy is that of /v1/completions, which some servers use for chats as well.
const (
	ShapeAbsent  Shape = ""
	ShapeNull    Shape = "null"
	ShapeContent Shape = "content"
	ShapeLegacy  Shape = "legacy"
)

// Answer is one completion. Finish is empty and Tokens nil when the server did not say.
type Answer struct {
	Text      string // what the model answers: inline reasoning is taken out
	Content   string // the content as sent, reasoning included
	Reasoning string
	Null      bool // content was null or absent in the whole answer, and so were reasoning and tool calls
	Cut       bool // ended by max_tokens, whatever finish_reason says
	Finish    string
	Model     string // as the server names it
	ToolCalls []ToolCall
	Tokens    []Token
	Shape     Shape // of the log-probabilities
	Usage     Usage
	Notes     []Note
	Exchange  Exchange
}

// Noted returns the note with a slug, and whether there is one.
func (a Answer) Noted(slug string) (Note, bool) {
	i := slices.IndexFunc(a.Notes, func(n Note) bool { return n.Slug == slug })
	if i < 0 {
		return Note{}, false
	}
	return a.Notes[i], true
}

// mend replaces U+FFFD in a text by the characters that the tokens' bytes spell, when the two agree
// everywhere else. It returns how many replacement characters the text had and the text to use.
func mend(text string, tokens []Token) (string, int) {
	n := 0
	for _, r := range text {
		if r == utf8.RuneError {
			n++
		}
	}
	if n == 0 {
		return text, 0
	}
	var b []byte
	for _, t := range tokens {
		b = append(b, t.Bytes...)
	}
	if len(b) > 0 && utf8.Valid(b) && fits([]rune(text), []rune(string(b))) {
		return string(b), n
	}
	return text, n
}

// fits reports whether text is whole with runs of characters replaced by runs of U+FFFD, and no other change.
func fits(text, whole []rune) bool {
	for len(text) > 0 {
		if text[0] != utf8.RuneError {
			if len(whole) == 0 || whole[0] != text[0] {
				return false
			}
			text, whole = text[1:], whole[1:]
			continue
		}
		for len(text) > 0 && text[0] == utf8.RuneError {
			text = text[1:]
		}
		// A run stands for characters up to where the texts agree again. Only characters of several bytes are split.
		for len(whole) > 0 && whole[0] >= utf8.RuneSelf && (len(text) == 0 || whole[0] != text[0]) {
			whole = whole[1:]
		}
	}
	return len(whole) == 0
}
