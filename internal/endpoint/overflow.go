package endpoint

import (
	"errors"
	"net/http"
	"regexp"
	"strconv"
)

// Overflow is what a server says when a request does not fit: each number is unknown when it is not said.
type Overflow struct {
	Prompt     Count // tokens of the prompt
	Completion Count // tokens asked for: some servers count max_tokens against the window
	Window     Count
}

// overflowForms are the wordings of a request that does not fit, by the engine that is known for it. Named groups
// hold the numbers.
var overflowForms = []*regexp.Regexp{
	// vLLM and the OpenAI API; the first names all three numbers in another order than the next would take them
	regexp.MustCompile(`(?is)max_tokens.*?is too large: (?P<completion>\d+).*?maximum context length is (?P<window>\d+) ` +
		`tokens.*?has (?P<prompt>\d+) input tokens`),
	regexp.MustCompile(`(?is)maximum context length (?:is|of) (?P<window>\d+) tokens.*?requested (?P<sum>\d+) tokens ` +
		`\((?P<prompt>\d+) (?:in|of|from) .*?(?P<completion>\d+) (?:in|for) the completion`),
	regexp.MustCompile(`(?is)maximum context length (?:is|of) (?P<window>\d+) tokens.*?(?:contains?|has|resulted ` +
		`in|requested|with) (?:at least )?(?P<prompt>\d+)(?: input)? tokens`),
	regexp.MustCompile(`(?is)prompt \(length (?P<prompt>\d+)\) is longer than ` +
		`the maximum model length of (?P<window>\d+)`),
	// SGLang
	regexp.MustCompile(`(?is)requested token count exceeds the model's maximum context length of (?P<window>\d+) ` +
		`tokens.*?requested a total of \d+ tokens: (?P<prompt>\d+) tokens from the input messages and (?P<completion>\d+) ` +
		`tokens for the completion`),
	regexp.MustCompile(`(?is)input \((?P<prompt>\d+) tokens\) is longer than the model's context length ` +
		`\((?P<window>\d+) tokens\)`),
	// llama.cpp
	regexp.MustCompile(`(?is)request \((?P<prompt>\d+) tokens\) exceeds the available context size \((?P<window>\d+) ` +
		`tokens\)`),
	// The last resort: it is about length, whatever the numbers are.
	regexp.MustCompile(`(?i)context[ _](?:length|size|window).*(?:exceed|too long|longer)|(?:exceeds?|longer than|over) ` +
		`(?:the )?(?:\w+ )*context[ _](?:length|size|window)|prompt is too long|exceed_context_size|maximum context length`),
}

// OverflowOf reads a refusal as "the request does not fit". It looks at a *StatusError only, in a 4xx, in a 500,
// which some servers send for it, and in errors inside a 200.
func OverflowOf(err error) (Overflow, bool) {
	s, ok := errors.AsType[*StatusError](err)
	if !ok {
		return Overflow{}, false
	}
	if s.fits.Prompt.Known || s.fits.Window.Known {
		return s.fits, true
	}
	switch s.effective() {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity,
		http.StatusInternalServerError, http.StatusOK:
		return readOverflow(s.Message)
	}
	return Overflow{}, false
}

func readOverflow(msg string) (Overflow, bool) {
	for _, form := range overflowForms {
		m := form.FindStringSubmatch(msg)
		if m == nil {
			continue
		}
		var o Overflow
		for i, name := range form.SubexpNames() {
			n, err := strconv.Atoi(m[i])
			if err != nil {
				continue // the whole match, or a group that is none of the three
			}
			switch name {
			case "prompt":
				o.Prompt = Count{n, true}
			case "completion":
				o.Completion = Count{n, true}
			case "window":
				o.Window = Count{n, true}
			}
		}
		return o, true
	}
	return Overflow{}, false
}
