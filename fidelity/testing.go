package fidelity

import "testing"

// Test fails t unless no fault was found: for every code but 0, with the code and the verdict line as its last message.
// What was asked and decided is in the log, with what a terminal would show where Log is not set. Inconclusive is a
// failure, never a skip.
func Test(t *testing.T, c Config) {
	t.Helper()
	if c.Log == nil {
		c.Log = t.Output()
	}
	r, err := Run(t.Context(), c)
	if err == nil {
		t.Logf("%s on %s: %d of %d needles found, %d of %d questions measured, golden %q", r.Model, r.Server, r.Found,
			r.Asked, r.Measured, r.Cells, r.Golden)
	}
	for _, s := range r.LeftOut {
		t.Logf("not asked: %s", s)
	}
	for _, g := range r.Gates {
		if g.Outcome == Failed {
			t.Errorf("%s: %s: %s", g.ID, g.Claim, g.Text)
		} else {
			t.Logf("%s %s: %s", g.ID, g.Outcome, g.Text)
		}
	}
	if r.Code != 0 {
		t.Errorf("code %d: %s", r.Code, r.Verdict)
	}
}
