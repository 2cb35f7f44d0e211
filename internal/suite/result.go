package suite

import (
	"encoding/json"
	"fmt"
	"math"
)

// Schema is the version of a ledger line. A field may be added within a version; meanings do not change.
const Schema = 1

// Result is what became of one case in one run: one line of <run>/results.jsonl.
type Result struct {
	// Schema is set by the ledger.
	Schema int `json:"schema"`
	// Run names the run: the last element of its folder. Set by Record.
	Run string `json:"run,omitempty"`
	// Case is the ID of the case.
	Case    string  `json:"case"`
	Outcome Outcome `json:"outcome"`
	// Optional results do not make a run partial by being unmeasured; what a gentle run leaves out on purpose is optional.
	Optional bool `json:"optional,omitempty"`
	// Observation is one answer of many: the run's gates judge over all of them, so that a fail by itself is no fault of
	// the run.
	Observation bool `json:"observation,omitempty"`
	// Seconds is how long the case took on the wall clock.
	Seconds float64 `json:"seconds"`
	// Message is one sentence for the reader; required for everything but a pass.
	Message string `json:"message,omitempty"`
	// Numbers holds what was measured, by name with the unit in it (margin-nats, prompt-tokens).
	Numbers Numbers `json:"numbers,omitempty"`
	// Detail is whatever else the pillar keeps for its report.
	Detail json.RawMessage `json:"detail,omitempty"`
}

// Validate returns an error for a result that a ledger does not take.
func (r Result) Validate() error {
	if err := ValidID(r.Case); err != nil {
		return fmt.Errorf("a result is not recorded: %w", err)
	}
	if err := r.Outcome.Validate(); err != nil {
		return fmt.Errorf("the result of %q is not recorded: %w", r.Case, err)
	}
	if r.Message == "" && r.Outcome != Passed {
		return fmt.Errorf("the result of %q is not recorded: outcome %q needs a message that says why", r.Case,
			string(r.Outcome))
	}
	if len(r.Detail) > 0 && !json.Valid(r.Detail) {
		return fmt.Errorf("the result of %q is not recorded: its detail is not JSON", r.Case)
	}
	return nil
}

// Numbers maps names to measured values. NaN and the infinities, which JSON lacks, are written as strings.
type Numbers map[string]float64

// MarshalJSON writes non-finite values as "NaN", "+Inf" and "-Inf".
func (n Numbers) MarshalJSON() ([]byte, error) {
	out := make(map[string]any, len(n))
	for k, v := range n {
		switch {
		case math.IsNaN(v):
			out[k] = "NaN"
		case math.IsInf(v, 1):
			out[k] = "+Inf"
		case math.IsInf(v, -1):
			out[k] = "-Inf"
		default:
			out[k] = v
		}
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (n *Numbers) UnmarshalJSON(raw []byte) error {
	var in map[string]any
	if err := json.Unmarshal(raw, &in); err != nil {
		return err
	}
	*n = make(Numbers, len(in))
	for k, v := range in {
		switch v := v.(type) {
		case float64:
			(*n)[k] = v
		case string:
			f, ok := map[string]float64{"NaN": math.NaN(), "+Inf": math.Inf(1), "-Inf": math.Inf(-1)}[v]
			if !ok {
				return fmt.Errorf("the number %q has the value %q, which is neither a number nor NaN, +Inf or -Inf", k, v)
			}
			(*n)[k] = f
		default:
			return fmt.Errorf("the number %q is not a number: %v", k, v)
		}
	}
	return nil
}
