package evidence

// Answer is one answer with what may explain it.
type Answer struct {
	Probe string `json:"probe"`
	Arm   string `json:"arm"`
	Class string `json:"class"`
	Right bool   `json:"right,omitempty"`
	// Measured is false where no answer came that could be judged.
	Measured bool `json:"measured,omitempty"`
	// Tokens is the prompt's length: as the server reports it, else as it was built.
	Tokens int `json:"tokens"`
	// Before and FromEnd are the tokens before the needle, and from the needle to the end of the prompt, as estimated
	// from words; both 0 where the prompt has no one needle.
	Before  int `json:"before,omitempty"`
	FromEnd int `json:"from_end,omitempty"`

	Completion int    `json:"completion,omitempty"` // tokens as reported; -1: not said
	Finish     string `json:"finish,omitempty"`
	Thoughts   int    `json:"thoughts,omitempty"` // bytes of reasoning
	Cached     int    `json:"cached,omitempty"`   // tokens as reported; -1: not said
	Order      int    `json:"order,omitempty"`    // which request of the run; 0: not known
	Conn       string `json:"conn,omitempty"`     // its connection; empty: not known

	Tag bool `json:"tag,omitempty"` // shows a tag of the chat template
	// Stutter: some tokens are repeated, and without the repetitions the answer would be right.
	Stutter bool `json:"stutter,omitempty"`
	// Early: it breaks off within what was asked for, and says that it is finished.
	Early bool `json:"early,omitempty"`
}
