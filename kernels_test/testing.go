package kernels

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/assay-suite/assay/internal/suite"
	"github.com/assay-suite/assay/kernels_test/bench"
)

// shown is how many failures of a facet are printed whole: they mostly look alike.
const shown = 3

// Test fails t unless every facet that the candidate offers is equivalent: for every code but 0, with the code and the
// verdict line as its last message. What was judged, and what was not, is in the log. Partial is a failure, never a
// skip.
func Test(t *testing.T, under bench.Candidate, opts ...Option) {
	t.Helper()
	r, err := Run(t.Context(), under, append([]Option{again(command(t.Name()))}, opts...)...)
	for _, f := range r.Facets {
		t.Logf("%s: %s under %s in %d cases, worst rho %.2g (%s)", f.Name, f.State, f.Contract, f.Cases, f.Rho, f.Why)
		for _, s := range f.NotJudged {
			t.Logf("%s: not judged: %s", f.Name, s)
		}
		for i, failure := range f.Failures {
			if i == shown {
				t.Errorf("%s: and %d more cases fail", f.Name, len(f.Failures)-shown)
				break
			}
			t.Error(failure.Text)
		}
	}
	if len(r.NotOffered) > 0 && err == nil {
		t.Logf("not offered, so not judged: %s", strings.Join(r.NotOffered, ", "))
	}
	if r.Stderr != "" && r.Code != 0 {
		t.Logf("the worker's standard error ends with:\n%s", r.Stderr)
	}
	if r.Code != 0 {
		t.Errorf("code %d: %s", r.Code, r.Verdict)
	}
}

// command runs a test again, from the root of its module.
func command(test string) string {
	var segments []string
	for s := range strings.SplitSeq(test, "/") {
		segments = append(segments, "^"+regexp.QuoteMeta(s)+"$")
	}
	folder := "."
	if wd, err := os.Getwd(); err == nil {
		if module, inside := suite.OwnModule(wd); inside && module != wd {
			folder = "./" + filepath.ToSlash(strings.TrimPrefix(wd, module+string(filepath.Separator)))
		}
	}
	return "go test " + folder + " -count=1 -run '" + strings.Join(segments, "/") + "'"
}
