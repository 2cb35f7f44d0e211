package needle

// Class is what an answer is.
type Class string

// The classes. Every answer has exactly one.
const (
	Exact      Class = "exact"        // the code and no other code
	Partial    Class = "partial"      // some of several codes, not all
	NearMiss   Class = "near-miss"    // one or two edits away, or the code beside another one
	OtherCode  Class = "other-needle" // the code of another needle or request
	FillerEcho Class = "filler-echo"  // words or a number of the haystack
	Denial     Class = "denial"       // says that there is none
	Invented   Class = "invented"     // a code, or another readable answer, from nowhere
	Empty      Class = "empty"        // stopped without a visible character
	CutOff     Class = "cut-off"      // ran into the token limit before the code was complete
	Budget     Class = "budget"       // reasoning used all tokens: retry with more, no fault yet
	Junk       Class = "junk"         // no language: loops, replacement characters, placeholders
	Failed     Class = "error"        // the request failed
	Unmeasured Class = "unmeasured"   // never asked, or given up
)

// Classes lists all classes, best first.
func Classes() []Class {
	return []Class{
		Exact, Partial, NearMiss, OtherCode, FillerEcho, Denial, Invented, Empty, CutOff, Junk, Budget, Failed, Unmeasured,
	}
}

// Recalled reports whether the answer counts as a hit. Only Exact does.
func (c Class) Recalled() bool { return c == Exact }

// Measured reports whether the answer counts as a trial at all: an error, a spent budget or a case
// that was never asked says nothing about recall.
func (c Class) Measured() bool {
	return c != Failed && c != Unmeasured && c != Budget && c != ""
}

// Answer is what came back for one prompt.
type Answer struct {
	Text       string // visible content
	Reasoning  string // reasoning, when the server returns it separately
	Finish     string // finish_reason: "stop", "length", ...; empty when absent
	Err        error  // transport or server error
	Unmeasured bool   // never asked
}

// Truth is what the prompt planted.
type Truth struct {
	Name string
	Code string // digits; for the kinds UUID, Path and Phrase that text
	// Others are the codes of other needles in this prompt, and of other requests in flight when
	// cross-talk is to be seen.
	Others []string
	// Haystack is the filler as the model would print it. nano-v4 prints unknown words as bucket
	// numbers: give it the decoded encoding of the filler there.
	Haystack string
	// Kind tells how to read an answer.
	Kind Kind
	// Codes are all codes asked for by the kind Several, in the order asked; the first is Code.
	Codes []string
}
