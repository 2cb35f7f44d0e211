package suite

import "fmt"

// Code is an exit code of a test binary under Main.
type Code int

// The exit codes, which are part of the contract with users.
const (
	Pass         Code = 0 // nothing wrong was found, and everything required was measured
	Regression   Code = 1 // a fault or a regression
	UsageError   Code = 2 // the command or its environment makes no sense
	Inconclusive Code = 3 // something required was not measured, or the numbers decide nothing
	NotReachable Code = 4 // the endpoint or device is not there
	ToolError    Code = 5 // assay or an engine under it broke
)

// String is what the verdict line says when nobody gave it a text.
func (c Code) String() string {
	switch c {
	case Pass:
		return "pass"
	case Regression:
		return "fault"
	case UsageError:
		return "usage"
	case Inconclusive:
		return "inconclusive"
	case NotReachable:
		return "unreachable"
	case ToolError:
		return "tool error"
	}
	return fmt.Sprintf("code %d", int(c))
}

// weight orders codes: of several verdicts in one run the heaviest decides. A fault that was found stands although
// another part went unmeasured or the endpoint vanished later; a broken tool casts doubt on everything.
func (c Code) weight() int {
	switch c {
	case Pass:
		return 0
	case Inconclusive:
		return 1
	case NotReachable:
		return 2
	case Regression:
		return 3
	case UsageError:
		return 4
	case ToolError:
		return 5
	}
	return 6
}

// codeOf returns the code that a result asks for.
func codeOf(r Result) Code {
	switch r.Outcome {
	case Passed, Skip:
		return Pass
	case Unmeasured:
		if r.Optional {
			return Pass
		}
		return Inconclusive
	case Failed:
		if r.Observation {
			return Pass
		}
		return Regression
	case Errored:
		return ToolError
	}
	return ToolError
}
