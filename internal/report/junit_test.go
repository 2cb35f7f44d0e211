package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

// The reading side is written here anew, so that it does not agree with the writer by
// construction.
type readSuites struct {
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Suites   []readSuite `xml:"testsuite"`
}

type readSuite struct {
	Name     string     `xml:"name,attr"`
	Tests    int        `xml:"tests,attr"`
	Failures int        `xml:"failures,attr"`
	Errors   int        `xml:"errors,attr"`
	Skipped  int        `xml:"skipped,attr"`
	Cases    []readCase `xml:"testcase"`
}

type readCase struct {
	Class   string      `xml:"classname,attr"`
	Name    string      `xml:"name,attr"`
	Failure *readResult `xml:"failure"`
	Error   *readResult `xml:"error"`
	Skipped *readResult `xml:"skipped"`
	Out     string      `xml:"system-out"`
}

type readResult struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

func junitOf(t *testing.T, r Run) (string, readSuites) {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, WriteJUnit(&b, r))
	var s readSuites
	require.NoError(t, xml.Unmarshal(b.Bytes(), &s))
	return b.String(), s
}

func TestJUnitOutcomes(t *testing.T) {
	_, got := junitOf(t, healthyRun())
	want := readSuites{Tests: 6, Failures: 1, Errors: 1, Skipped: 2, Suites: []readSuite{
		{
			Name:  "fidelity.recall.128",
			Tests: 1,
			Cases: []readCase{{Class: "fidelity.recall.128", Name: "0.00", Out: "claim: the needle MUST be answered exactly"}},
		},
		{Name: "fidelity.recall.4096", Tests: 1, Failures: 1, Cases: []readCase{{
			Class: "fidelity.recall.4096", Name: "0.00",
			Failure: &readResult{"want 841736, got 841730", "near-miss", "margin -0.31 nats at digit 6"},
		}}},
		{Name: "fidelity.cache", Tests: 2, Skipped: 2, Cases: []readCase{
			{Class: "fidelity.cache", Name: "warm", Skipped: &readResult{Message: "skip: no cached_tokens"}},
			{Class: "fidelity.cache", Name: "flush", Skipped: &readResult{Message: "unmeasured: needs ASSAY_DISRUPT=1"}},
		}},
		{Name: "fidelity.window", Tests: 1, Errors: 1, Cases: []readCase{{
			Class: "fidelity.window", Name: "tail",
			Error: &readResult{"connection reset", "error", "connection reset"},
		}}},
		{Name: "assay", Tests: 1, Cases: []readCase{{Class: "assay", Name: "verdict"}}},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("junit.xml (-want +got):\n%s", diff)
	}
}

// TestJUnitNeverGreenWithoutPass: every exit code but 0 leaves a failure or an error,
// so does an outcome that this version does not know.
func TestJUnitNeverGreenWithoutPass(t *testing.T) {
	for code, want := range [][2]int{{0, 0}, {1, 0}, {0, 1}, {0, 1}, {0, 1}, {0, 1}} {
		_, s := junitOf(t, Run{Verdict: Verdict{Code: code, Text: "x"}})
		if got := [2]int{s.Failures, s.Errors}; got != want {
			t.Errorf("code %d: failures and errors %v, want %v", code, got, want)
		}
	}
	_, s := junitOf(t, Run{Cases: []Case{{ID: "a/b", Outcome: "splendid"}, {}}})
	if s.Errors != 2 {
		t.Errorf("%d errors for two unknown outcomes", s.Errors)
	}
}

// rule is what the common schema (the Jenkins xUnit and Ant XSDs, where they agree)
// says of an element: children in this order, required and allowed attributes.
type rule struct {
	children, required, optional []string
	text                         bool
}

var junitRules = map[string]rule{
	"testsuites": {
		children: []string{"testsuite"},
		optional: []string{"name", "time", "tests", "failures", "errors", "skipped", "disabled"},
	},
	"testsuite": {
		children: []string{"properties", "testcase", "system-out", "system-err"}, required: []string{
			"name", "tests", "failures", "errors", "time",
		},
		optional: []string{"id", "hostname", "package", "skipped", "timestamp", "disabled"},
	},
	"properties": {children: []string{"property"}},
	"property":   {required: []string{"name", "value"}},
	"testcase": {
		children: []string{"skipped", "error", "failure", "system-out", "system-err"}, required: []string{
			"name", "classname", "time",
		},
		optional: []string{"status"},
	},
	"skipped":    {optional: []string{"message"}, text: true},
	"error":      {optional: []string{"message", "type"}, text: true},
	"failure":    {optional: []string{"message", "type"}, text: true},
	"system-out": {text: true}, "system-err": {text: true},
}

// checkJUnit returns what of doc breaks the rules.
func checkJUnit(doc string) error {
	d := xml.NewDecoder(strings.NewReader(doc))
	var stack []string
	var last []int // index of the last child in its parent's rule
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			return errors.Join(errs...)
		}
		if err != nil {
			return err
		}
		switch tok := tok.(type) {
		case xml.StartElement:
			name := tok.Name.Local
			r, known := junitRules[name]
			if !known {
				bad("element %s is not in the schema", name)
			}
			if len(stack) == 0 && name != "testsuites" {
				bad("root is %s", name)
			} else if len(stack) > 0 {
				at := slices.Index(junitRules[stack[len(stack)-1]].children, name)
				if at < 0 || at < last[len(last)-1] {
					bad("%s is not allowed here in %s", name, stack[len(stack)-1])
				}
				last[len(last)-1] = at
			}
			var attrs []string
			for _, a := range tok.Attr {
				attrs = append(attrs, a.Name.Local)
				if !slices.Contains(r.required, a.Name.Local) && !slices.Contains(r.optional, a.Name.Local) {
					bad("attribute %s of %s is not in the schema", a.Name.Local, name)
				}
				if a.Name.Local == "time" && !regexp.MustCompile(`^\d+\.\d{3}$`).MatchString(a.Value) {
					bad("time %q of %s is not a decimal", a.Value, name)
				}
			}
			for _, a := range r.required {
				if !slices.Contains(attrs, a) {
					bad("%s lacks %s", name, a)
				}
			}
			stack, last = append(stack, name), append(last, 0)
		case xml.EndElement:
			stack, last = stack[:len(stack)-1], last[:len(last)-1]
		case xml.CharData:
			if len(stack) > 0 && !junitRules[stack[len(stack)-1]].text && strings.TrimSpace(string(tok)) != "" {
				bad("text %q in %s", tok, stack[len(stack)-1])
			}
		}
	}
}

func TestJUnitSchema(t *testing.T) {
	for name, r := range map[string]Run{
		"healthy": healthyRun(), "failing": failingRun(), "hostile": hostileRun(), "empty": {},
	} {
		t.Run(name, func(t *testing.T) {
			doc, _ := junitOf(t, r)
			if err := checkJUnit(doc); err != nil {
				t.Error(err)
			}
			for i, c := range doc {
				if c == utf8.RuneError && name != "hostile" || c < 0x20 && c != '\n' && c != '\t' || c == 0xfffe || c == 0xffff {
					t.Errorf("character %U at byte %d is not allowed in XML 1.0", c, i)
				}
			}
		})
	}
}

// TestSchemaCheckCatches plants what the check must see.
func TestSchemaCheckCatches(t *testing.T) {
	good, _ := junitOf(t, healthyRun())
	for _, row := range []struct{ name, from, to string }{
		{"status instead of failure", "<failure ", "<fail "},
		{"unknown attribute", `classname="fidelity.cache"`, `klass="fidelity.cache"`},
		{"missing counts", ` failures="0"`, ""},
		{"time in words", `time="65.000"`, `time="65 s"`},
		{"text between cases", "<testcase ", "text<testcase "},
		{"properties last", "<properties>", "<system-err></system-err><properties>"},
	} {
		t.Run(row.name, func(t *testing.T) {
			doc := strings.ReplaceAll(strings.ReplaceAll(good, row.from, row.to), "</failure>", map[bool]string{
				true: "</fail>", false: "</failure>",
			}[row.to == "<fail "])
			require.NotEqual(t, good, doc, "the fault was not planted")
			if checkJUnit(doc) == nil {
				t.Error("the schema check does not see it")
			}
		})
	}
}

// TestJUnitText: a text comes back as it went in, less what XML cannot hold.
func TestJUnitText(t *testing.T) {
	in := "a]]>b <c> & \"d\" \x1b[31m\x00\r\nnext\tü \ufffe𝔘"
	_, s := junitOf(t, Run{Cases: []Case{{ID: "x/y", Outcome: Fail, Message: "m <&>\n\"q\"", Text: in}}})
	if diff := cmp.Diff(&readResult{`m <&> "q"`, "fail", "a]]>b <c> & \"d\" [31m\nnext\tü 𝔘"},
		s.Suites[0].Cases[0].Failure); diff != "" {
		t.Errorf("failure (-want +got):\n%s", diff)
	}
}

func TestSplitID(t *testing.T) {
	for id, want := range map[string][2]string{
		"fidelity/recall/128/0.50": {"fidelity.recall.128", "0.50"},
		"a/0.50/b":                 {"a.0_50", "b"},
		"alone":                    {"assay", "alone"},
		"":                         {"assay", "unnamed"},
		"/":                        {"unnamed", "unnamed"},
	} {
		class, name := splitID(id)
		if got := [2]string{class, name}; got != want {
			t.Errorf("splitID(%q) = %q, want %q", id, got, want)
		}
	}
}
