package report

import "time"

// Run is everything a report says about one run. The zero value is valid and gives
// an empty, well-formed report. Nothing in it is trusted: texts may contain markup,
// control characters or invalid UTF-8.
type Run struct {
	Title   string        // what was judged, "embedded nano-v4 (fp32)"
	Hint    string        // printed to the right of the title: what else could be run
	Started time.Time     // printed in UTC
	Elapsed time.Duration // wall clock of the whole run; zero is not printed
	Report  string        // path of report.html as the user should read it

	Identity     []Fact // provenance: host, model, tool version, seeds, goldens
	Capabilities []Capability
	Plan         []string // one line each: cells, tokens, minutes
	Grids        []HeatMap
	Facts        []Fact // window, cache, golden: in reading order
	Diagnosis    *Diagnosis
	Suspects     []Suspect
	Cliffs       []Cliff
	Charts       []Chart
	Pairs        []Pairs
	Ladders      []Ladder
	Tokens       []Tokens
	Tables       []Table
	Findings     []Finding
	Evidence     []Evidence // what each probe measured, folded in the page
	Exchanges    []Exchange // raw requests and answers, folded in the page
	Cases        []Case     // every case with its outcome, for junit.xml
	Verdict      Verdict
}

// Fact is one aligned line: a label and what is known about it. Line breaks in Text
// continue under it. Sub are indented facts below (evidence, rivals, next).
type Fact struct {
	Label string
	Text  string
	// Verbatim is set for commands: they are never re-wrapped, so they can be copied.
	Verbatim bool
	Sub      []Fact
}

// Capability is one line of the pre-flight: "logprobs 20", "cached_tokens ok".
type Capability struct {
	Name    string
	Value   string // "ok", a number, or why it is missing
	Missing bool
	Detail  string // for the table in the page: what the server said, what goes unmeasured without it
}

// HeatMap is a grid of cells, usually depth (rows) by length in tokens (columns).
// A row of Cells that is short, or missing, is filled up with unmeasured cells.
type HeatMap struct {
	Title    string // printed above; empty for the main grid
	RowLabel string // "depth"
	Rows     []string
	ColLabel string // "length in tokens"
	Cols     []string
	Cells    [][]Cell // [len(Rows)][len(Cols)]
	Recall   *Recall  // printed right of the grid; nil if it has none
}

// Cell is one square of a heat map.
type Cell struct {
	Case   string // case ID; links the cell to the finding of the same ID
	Class  string // answer class slug, "near-miss", "denial", "cut-off"
	State  State
	Title  string   // shown on hover and in the table beside the picture
	Margin *float64 // smallest log-probability margin of the needle, nats; nil if unknown
	Golden *float64 // the golden's margin of the same cell, nats; nil without a golden
}

// At returns the cell at row r and column c, an unmeasured one where Cells has none.
func (h HeatMap) At(r, c int) Cell {
	if r < 0 || c < 0 || r >= len(h.Cells) || c >= len(h.Cells[r]) {
		return Cell{State: Unmeasured, Class: string(Unmeasured)}
	}
	return h.Cells[r][c]
}

// Count returns how many cells of the grid are in state s.
func (h HeatMap) Count(s State) int {
	n := 0
	for r := range h.Rows {
		for c := range h.Cols {
			if h.At(r, c).State.Known() == s {
				n++
			}
		}
	}
	return n
}

// Recall is a proportion with its interval, computed by the caller.
type Recall struct {
	Label     string // "recall"; empty means "recall"
	Hits, Of  int
	Low, High float64 // interval ends in [0, 1]
	Method    string  // how the interval was made, "Wilson, 95 %"
}

// Table is a small table. Rows may be shorter than Head.
type Table struct {
	Title    string
	Head     []string
	Rows     [][]string
	Note     string
	Terminal bool // print it on the terminal too, not only in report.html
}

// Finding is one failing case with all that is needed to judge it again.
type Finding struct {
	Case     string // case ID
	Class    string // answer class slug
	State    State
	Claim    string // the MUST sentence that was violated
	Got      string // one line: what came instead; Answer holds the text
	Expected string
	Shape    string // the pattern over neighbouring cases
	Likely   string // probable cause, rivals after it
	Prompt   string
	Answer   string
	Request  string // path of the stored request
	Curl     string // one line that sends it again
	Again    string // one command that reruns the case
	Repro    string // one command that shows the failure without assay
	Margins  []Margin
	Pictures []Picture // residuals of a kernel's outputs
}

// Margin is the log-probability margin of one needle token, in nats: log p(expected)
// minus the largest log p of any other token. Negative: another token won.
type Margin struct {
	Token  string
	Got    float64
	Golden *float64 // nil without a golden
}

// Outcome is the fate of a case, spelled as internal/suite spells it.
type Outcome string

// The outcomes. An unknown one is reported as an error of the tool.
const (
	Pass        Outcome = "pass"
	Fail        Outcome = "fail"
	Error       Outcome = "error"
	Skip        Outcome = "skip"
	NotMeasured Outcome = "unmeasured"
)

// Case is one line of junit.xml.
type Case struct {
	ID      string // slug path; all but the last segment become the class name
	Claim   string
	Outcome Outcome
	Seconds float64
	Message string // one line
	Type    string // kind of failure, "near-miss"; defaults to the outcome
	Text    string // body of <failure> or <error>; defaults to Message
	Output  string // system-out
}

// Verdict is the run's last word. Code is the process exit code: 0 pass, 1 regression
// or fault, 2 usage, 3 inconclusive or unmeasured, 4 unreachable, 5 tool error.
type Verdict struct {
	Code int
	Text string
}

// Word names the exit code for people.
func (v Verdict) Word() string {
	switch v.Code {
	case 0:
		return "pass"
	case 1:
		return "fault"
	case 2:
		return "usage"
	case 3:
		return "inconclusive"
	case 4:
		return "unreachable"
	default:
		return "tool error"
	}
}
