package bench

import (
	"errors"

	"github.com/assay-suite/assay/internal/candidate"
)

// Broken tells what a candidate did in place of answering, as a class of cause, and whether that is the candidate's
// fault. A kernel that raises, crashes, hangs or gives an output of another shape is faulty; a worker that cannot be
// started or does not speak the protocol cannot be judged at all.
func Broken(err error) (class string, fault bool) {
	e, ok := errors.AsType[*candidate.Error](err)
	if !ok {
		return "raises", true
	}
	switch e.Kind {
	case candidate.KindFailed:
		return "raises", true
	case candidate.KindExit:
		return "crash", true
	case candidate.KindTimeout:
		return "hang", true
	case candidate.KindOutput:
		return "output", true
	}
	return string(e.Kind), false
}
