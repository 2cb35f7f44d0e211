package safetensors

import (
	"errors"
	"fmt"
	"strings"
)

// ErrNoTensor is wrapped by every lookup of a name that the file or checkpoint does not hold.
var ErrNoTensor = errors.New("no such tensor")

// FormatError says where a file breaks the format, and what to do about it.
type FormatError struct {
	File    string // as given to Open, OpenFS or NewReader
	Tensor  string // empty when no single tensor is at fault
	Offset  int64  // byte in File: of the offending header token, or of the data that is missing or left over
	Problem string // what is wrong, with the value, and what to do
	Err     error  // cause, when another error is behind it (a read, a JSON error); may be nil
}

// Error is one sentence: file, tensor, byte, problem.
func (e *FormatError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "safetensors: %s: ", e.File)
	if e.Tensor != "" {
		fmt.Fprintf(&b, "tensor %q: ", e.Tensor)
	}
	fmt.Fprintf(&b, "byte %d: %s", e.Offset, e.Problem)
	if e.Err != nil {
		fmt.Fprintf(&b, " (%v)", e.Err)
	}
	return b.String()
}

// Unwrap gives the cause.
func (e *FormatError) Unwrap() error { return e.Err }

// The two remedies that nearly every defect comes down to.
const (
	fixDownload = "the file was cut or damaged on its way: fetch it again"
	fixWriter   = "write the file again with an up-to-date safetensors library"
)

// clip keeps hostile names and values from flooding a terminal: at most 200 bytes survive.
func clip(s string) string {
	const limit = 200
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + "..."
}
