package cuda

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Error is a call of the driver or of the compiler that failed.
type Error struct {
	Call string // "cuLaunchKernel"
	Code int
	Name string // "CUDA_ERROR_LAUNCH_FAILED"
	Text string // the driver's sentence
	Log  string // of the compiler or of the driver's own assembler
}

// Error names the call, CUDA's name and number, its sentence, and the log.
func (e *Error) Error() string {
	s := fmt.Sprintf("%s: %s (%d)", e.Call, e.Name, e.Code)
	if e.Text != "" {
		s += ": " + e.Text
	}
	if log := strings.TrimSpace(e.Log); log != "" {
		s += "; the log says:\n" + log
	}
	return s
}

// Codes of the driver API (cuda.h, CUresult) that the worker tells apart.
const (
	OutOfMemory     = 2
	NoDevice        = 100
	InvalidImage    = 200
	IllegalAddress  = 700
	LaunchFailed    = 719
	NotInitialised  = 3
	CaptureFailed   = 900 // the first of those about captures: CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
	captureLast     = 909
	FunctionMissing = 500
)

// sticky are the codes after which every call of the context fails (CUDA driver API, "error handling": the process must
// be terminated and relaunched).
var sticky = []int{214, 220, 226, 700, 702, 710, 713, 714, 715, 716, 717, 718, 719, 721}

// Sticky tells whether an error leaves the context unusable.
func Sticky(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && slices.Contains(sticky, e.Code)
}

// uncapturable tells whether an error says that what was launched cannot be captured in a graph.
func uncapturable(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Code >= CaptureFailed && e.Code <= captureLast
}
