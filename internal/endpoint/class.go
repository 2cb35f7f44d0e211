package endpoint

import (
	"context"
	"errors"
	"net/http"
	"regexp"
)

// Class is what became of one request, as far as the wire tells. It says nothing about whether the answer is right.
type Class string

// The classes. Only OK, Budget and Cut say something about the model; the rest are about the server or the way to it.
const (
	OK          Class = "ok"
	Empty       Class = "empty"            // finished properly, and nothing is in it
	NullContent Class = "null-content"     // content is null or missing, without reasoning or tool calls
	Budget      Class = "budget"           // reasoning exhausted max_tokens; no answer
	Cut         Class = "cut"              // a tool call cut by max_tokens, so that it cannot be used
	TooLong     Class = "too-long"         // the request does not fit
	History     Class = "history-contract" // refused for the form of an earlier assistant turn
	Refused     Class = "refused"          // any other 3xx or 4xx
	Failing     Class = "failed"           // the server reports an error of its own, or ends a stream before anything came
	Shed        Class = "shed"             // overloaded, also after the retries: not a failure of the probe
	Unparsed    Class = "unparsed"         // the server could not parse what the model wrote: a wrong answer
	Gateway     Class = "gateway-timeout"  // a proxy gave up before the server answered
	Silent      Class = "silent"           // a limit on silence was reached
	Dropped     Class = "truncated"        // the connection ended before the answer did
	Large       Class = "too-large"        // the answer exceeds Limits.MaxBody
	Malformed   Class = "malformed"        // the answer cannot be read
	Unreached   Class = "unreachable"      // no connection
	Cancelled   Class = "cancelled"        // the caller gave up
)

// ClassOf sorts the two results of Chat or Complete.
func ClassOf(a Answer, err error) Class {
	if err != nil {
		return classOfError(err)
	}
	broken := false
	for _, t := range a.ToolCalls {
		broken = broken || !t.Valid
	}
	_, unparsed := a.Noted(NoteUnparsed)
	switch {
	case unparsed:
		return Unparsed
	case broken:
		return Cut
	case a.Text != "" || len(a.ToolCalls) > 0:
		return OK
	case a.Reasoning != "":
		return Budget
	case a.Null:
		return NullContent
	}
	return Empty
}

func classOfError(err error) Class {
	var silent *SilenceError
	var cut *TruncatedError
	var large *TooLargeError
	var history *HistoryError
	_, long := OverflowOf(err)
	switch {
	case IsUnreachable(err):
		return Unreached
	case IsShed(err):
		return Shed
	case errors.As(err, &history):
		return History
	case long:
		return TooLong
	case errors.As(err, &silent):
		return Silent
	case errors.As(err, &large):
		return Large
	case errors.As(err, &cut):
		switch {
		case cut.Nothing:
			return Failing
		case cut.Alike > 0:
			return Gateway
		}
		return Dropped
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return Cancelled
	}
	s, ok := errors.AsType[*StatusError](err)
	switch {
	case !ok:
		return Malformed
	case s.gateway():
		return Gateway
	case s.effective() >= 300 && s.effective() < 500:
		return Refused
	}
	return Failing
}

// IsShed reports whether err means that the server has no room now or is still loading.
func IsShed(err error) bool {
	s, ok := errors.AsType[*StatusError](err)
	return ok && s.shed()
}

// loadingWords is how servers say that they are not ready yet, some with a 500; busyWords, for a 500 alone, that they
// have no room.
var (
	loadingWords = regexp.MustCompile(`(?i)\b(?:model|weights?|server)\b.{0,40}\b(?:loading|starting|warming|` +
		`not ready)\b|\bloading\b.{0,20}\bmodel\b`)
	busyWords = regexp.MustCompile(`(?i)\boverloaded\b|\bqueue is full\b`)
)

func (e *StatusError) shed() bool {
	switch e.effective() {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return true
	case http.StatusInternalServerError:
		return loadingWords.MatchString(e.Message) || busyWords.MatchString(e.Message)
	}
	return false
}

// effective is the code inside the body where the status is a 200 or the body is more exact than a 500.
func (e *StatusError) effective() int {
	if e.Code >= 400 && (e.Status < 400 || e.Status == http.StatusInternalServerError) {
		return e.Code
	}
	return e.Status
}

// aboutHistory is how a server words that an earlier assistant turn lacks something or has too much.
var aboutHistory = regexp.MustCompile(`(?i)\breasoning(?:_content)?\b|\bassistant\b.*\bcontent\b|` +
	`\bcontent\b.*\b(?:assistant|null|empty|tool[_ ]calls?|must be a ` +
	`string|required)\b|\bmessages?(?:\.|\[)\d*\]?\.?content\b`)
