package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/jstemmer/go-junit-report/v2/junit"
)

// WriteJUnit writes run's cases as JUnit XML, one testsuite for each class name in
// the order of first appearance.
//
// A failing case has a <failure> element with message, type and text, an erroring one
// an <error>: readers count elements, not attributes. Skipped and unmeasured cases
// have <skipped>. Because a run whose required part is unmeasured must not look green,
// the verdict is a test case of its own, which fails for code 1 and errs for 2 to 5.
// Only elements and attributes of the common schema (the Ant and Jenkins XSDs) are
// used; properties are on suites, where both know them.
func WriteJUnit(w io.Writer, run Run) error {
	all := junit.Testsuites{Name: xmlText("assay " + oneLine(run.Title)), Time: xmlSeconds(run.Elapsed.Seconds())}
	index := map[string]int{}
	var suites []junit.Testsuite
	seconds := map[string]float64{}
	for _, c := range append(slices.Clip(run.Cases), verdictCase(run.Verdict)) {
		class, name := splitID(c.ID)
		at, ok := index[class]
		if !ok {
			at = len(suites)
			index[class] = at
			suites = append(suites, newSuite(run, class, at))
		}
		if !math.IsNaN(c.Seconds) && c.Seconds > 0 {
			seconds[class] += c.Seconds
		}
		suites[at].AddTestcase(testcase(c, class, name))
	}
	for _, s := range suites {
		s.Time = xmlSeconds(seconds[s.Name])
		all.AddSuite(s)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return fmt.Errorf("writing JUnit XML: %w", err)
	}
	if err := all.WriteXML(w); err != nil {
		return fmt.Errorf("writing JUnit XML: %w", err)
	}
	return nil
}

// newSuite starts a testsuite; the first one carries the run's provenance.
func newSuite(run Run, class string, at int) junit.Testsuite {
	s := junit.Testsuite{Name: class, ID: at, Hostname: "localhost", Package: class}
	if !run.Started.IsZero() {
		s.Timestamp = run.Started.UTC().Format("2006-01-02T15:04:05") // xs:dateTime without zone, as the XSD asks
	}
	if at == 0 {
		for _, f := range run.Identity {
			s.AddProperty(xmlText(oneLine(f.Label)), xmlText(oneLine(f.Text)))
		}
		for _, c := range run.Capabilities {
			s.AddProperty(xmlText("capability."+oneLine(c.Name)), xmlText(oneLine(c.Value)))
		}
	}
	return s
}

// testcase translates one case. Unknown outcomes are errors: the tool is broken then.
func testcase(c Case, class, name string) junit.Testcase {
	tc := junit.Testcase{Name: name, Classname: class, Time: xmlSeconds(c.Seconds)}
	kind := c.Type
	if kind == "" {
		kind = string(c.Outcome)
	}
	message := c.Message
	if message == "" {
		message = c.Claim
	}
	if message == "" {
		message = string(c.Outcome)
	}
	text := c.Text
	if text == "" {
		text = message
	}
	result := &junit.Result{Message: xmlText(oneLine(message)), Type: xmlText(oneLine(kind)), Data: xmlText(text)}
	switch c.Outcome {
	case Pass:
	case Fail:
		tc.Failure = result
	case Skip, NotMeasured:
		// The Ant schema allows no type and no text in <skipped>.
		tc.Skipped = &junit.Result{Message: xmlText(string(c.Outcome) + ": " + oneLine(message))}
	case Error:
		tc.Error = result
	default:
		result.Message = xmlText(fmt.Sprintf("unknown outcome %q: %s", string(c.Outcome), oneLine(message)))
		result.Type = string(Error)
		tc.Error = result
	}
	var out []string
	if c.Claim != "" {
		out = append(out, "claim: "+c.Claim)
	}
	if c.Output != "" {
		out = append(out, c.Output)
	}
	if len(out) > 0 {
		tc.SystemOut = &junit.Output{Data: xmlText(strings.Join(out, "\n"))}
	}
	return tc
}

// verdictCase makes the run's verdict a case.
func verdictCase(v Verdict) Case {
	c := Case{ID: "assay/verdict", Message: v.Text, Type: v.Word(), Outcome: Error}
	switch v.Code {
	case 0:
		c.Outcome = Pass
	case 1:
		c.Outcome = Fail
	}
	if c.Message == "" {
		c.Message = v.Word()
	}
	return c
}

// splitID turns fidelity/recall/128/0.50 into class fidelity.recall.128 and name
// 0.50: dots are the separators of JUnit class names, so dots inside a segment become
// underscores there.
func splitID(id string) (class, name string) {
	id = xmlText(oneLine(id))
	i := strings.LastIndexByte(id, '/')
	if i < 0 {
		return "assay", orUnnamed(id)
	}
	class = strings.ReplaceAll(strings.ReplaceAll(id[:i], ".", "_"), "/", ".")
	return orUnnamed(class), orUnnamed(id[i+1:])
}

func orUnnamed(s string) string {
	if s == "" {
		return "unnamed"
	}
	return s
}

// xmlText drops what XML 1.0 section 2.2 (Char) forbids, even as a reference, and
// carriage returns, which a parser would turn into line feeds.
func xmlText(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t', r == '\n', r >= 0x20 && r <= 0xd7ff, r >= 0xe000 && r <= 0xfffd, r >= 0x10000:
			return r
		}
		return -1
	}, s)
}

// xmlSeconds is a duration as the schema's decimal, three places, never negative.
func xmlSeconds(s float64) string {
	if math.IsNaN(s) || math.IsInf(s, 0) || s < 0 {
		s = 0
	}
	return fmt.Sprintf("%.3f", s)
}
