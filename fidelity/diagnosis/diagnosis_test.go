package diagnosis_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fidelity/diagnosis"
	"github.com/assay-suite/assay/fidelity/evidence"
)

// fill adds runs of one class to an arm, and their answers.
func fill(s *evidence.Set, probe, name string, at float64, right, wrong int, class string) {
	for i := range right + wrong {
		a := evidence.Answer{Probe: probe, Arm: name, Class: class, Right: i < right, Measured: true}
		a.Order = len(s.Answers) + 1
		shows := class
		if a.Right {
			a.Class, shows = "exact", ""
		}
		switch probe {
		case evidence.Length:
			a.Tokens, a.Before = int(at), int(at)/10
		case evidence.Depth:
			a.Tokens, a.Before = long, int(at)*long/100
		default:
			a.Tokens = 60
		}
		if a.Before > 0 {
			a.FromEnd = a.Tokens - a.Before
		}
		s.Answers = append(s.Answers, a)
		s.Count(probe, name, at, a.Class, a.Right, true, shows)
	}
}

// long is the length of the prompts in which depth is varied.
const long = 16384

// sound is a run without a fault: eight runs an arm.
func sound() evidence.Set {
	s := evidence.Set{Budget: "full"}
	for _, n := range []float64{192, 512, 1024, 2048, 4096, 8192} {
		fill(&s, evidence.Length, "len-"+itoa(n), n, 8, 0, "")
	}
	fill(&s, evidence.Warm, "cold", 0, 12, 0, "")
	for _, a := range []string{"warm1", "warm2", "warm3", "first-changed", "extended"} {
		fill(&s, evidence.Warm, a, 0, 12, 0, "")
	}
	s.Set(evidence.Warm, "prefixes", 12)
	s.Set(evidence.Warm, "prefixes-bad", 0)
	s.Set(evidence.Warm, "prefixes-mixed", 0)
	s.Set(evidence.Accounting, "kept-8192", 1)
	s.Say(evidence.Accounting, "counter", "tokenize")
	return s
}

// forgetful is a server that does not see what it reuses.
func forgetful() evidence.Set {
	s := sound()
	for i, a := range s.Arms {
		if a.Probe == evidence.Warm && strings.HasPrefix(a.Name, "warm") {
			s.Arms[i].Right, s.Arms[i].Classes = 0, map[string]int{"denial": 12}
		}
	}
	s.Set(evidence.Warm, "prefixes-bad", 12)
	return s
}

func itoa(n float64) string { return strconv.Itoa(int(n)) }

// An arm that did not run MUST be no evidence, neither for nor against: an empty set is unmeasured, never clean.
func TestNothingMeasured(t *testing.T) {
	r := diagnosis.Diagnose(evidence.Set{})
	assert.Equal(t, diagnosis.Unmeasured, r.Verdict)
	assert.Empty(t, r.Findings)
	assert.Equal(t, diagnosis.Clean, diagnosis.Diagnose(sound()).Verdict)
}

// A finding MUST carry its evidence, the flag of each engine that has one, and a splitter, and MUST name no engine's
// component.
func TestWarmForgets(t *testing.T) {
	s := forgetful()
	fill(&s, evidence.Fork, "a1", 0, 8, 0, "")
	for _, a := range []string{"b1", "a2", "b2"} {
		fill(&s, evidence.Fork, a, 0, 0, 8, "denial")
	}
	s.Set(evidence.Fork, "replays", 0)
	r := diagnosis.Diagnose(s)
	require.Len(t, r.Findings, 1)
	f := r.Findings[0]
	assert.Equal(t, "warm-forgets", f.Class)
	assert.Equal(t, "--disable-radix-cache", f.Next.For("sglang"))
	assert.Equal(t, "--no-enable-prefix-caching", f.Next.For("vllm"))
	assert.NotEmpty(t, f.Next.For("llama.cpp"))
	assert.Empty(t, f.Next.For("other"))
	assert.Equal(t, diagnosis.Firm, f.Confidence.Grade)
	assert.LessOrEqual(t, f.Confidence.P, 1e-4)
	assert.Contains(t, strings.Join(f.Evidence, "\n"), "cold: 12/12 right")
	assert.Equal(t, "warm-forgets", r.Line())
}

// Few runs MUST not name a cause: three of five against none of five is chance in one case of six.
func TestFewRuns(t *testing.T) {
	s := evidence.Set{}
	fill(&s, evidence.Length, "len-512", 512, 5, 0, "")
	fill(&s, evidence.Length, "len-4096", 4096, 2, 3, "denial")
	fill(&s, evidence.Warm, "cold", 0, 3, 0, "")
	fill(&s, evidence.Warm, "warm1", 0, 0, 3, "denial")
	assert.Equal(t, diagnosis.Clean, diagnosis.Diagnose(s).Verdict)
}

// A report MUST be a function of the evidence, whatever the order of its arms.
func TestOrderOfArms(t *testing.T) {
	s := sound()
	fill(&s, evidence.Length, "len-16384", 16384, 0, 16, "junk")
	fill(&s, evidence.Depth, "depth-50", 50, 0, 8, "junk")
	fill(&s, evidence.Depth, "tail-32", 99, 0, 8, "junk")
	s.Set(evidence.Length, "edge", 12000)
	want := diagnosis.Diagnose(s)
	for i, j := 0, len(s.Arms)-1; i < j; i, j = i+1, j-1 {
		s.Arms[i], s.Arms[j] = s.Arms[j], s.Arms[i]
	}
	if d := cmp.Diff(want, diagnosis.Diagnose(s)); d != "" {
		t.Errorf("the order of arms shows (-first +reversed):\n%s", d)
	}
	assert.NotEqual(t, diagnosis.Clean, want.Verdict)
}

// What the evidence does not split MUST be called ambiguous, with the classes that are left: long prompts that lose
// needles, and nothing else asked, fit a tail as well as a choice of blocks.
func TestAmbiguous(t *testing.T) {
	s := sound()
	s.Set(evidence.Length, "edge", 6000)
	for i, a := range s.Arms {
		if a.Name == "len-8192" {
			s.Arms[i].Right, s.Arms[i].Classes = 0, map[string]int{"denial": 8}
		}
	}
	for i, a := range s.Answers {
		if a.Arm == "len-8192" {
			s.Answers[i].Right, s.Answers[i].Class = false, "denial"
		}
	}
	r := diagnosis.Diagnose(s)
	assert.Equal(t, diagnosis.Ambiguous, r.Verdict)
	assert.Contains(t, r.Ranked(), "tail-only")
	assert.Contains(t, r.Ranked(), "sparse-selection")
	assert.NotContains(t, r.Ranked(), "junk-cliff")
	assert.True(t, strings.HasPrefix(r.Line(), "ambiguous: "), r.Line())
	assert.NotEqual(t, diagnosis.Firm, r.Findings[0].Confidence.Grade)
}

// Two faults in different places MUST both be named, and what one brings along MUST not be a third.
func TestTwoFindings(t *testing.T) {
	s := forgetful()
	s.Set(evidence.Fork, "replays", 0)
	fill(&s, evidence.Fork, "b1", 0, 0, 8, "denial")
	fill(&s, evidence.Turns, "plain", 0, 6, 18, "denial") // chats reuse their beginning
	fill(&s, evidence.Flat, "flat", 0, 24, 0, "")
	s.Set(evidence.Accounting, "text", 20)
	s.Set(evidence.Accounting, "developer", 0)
	r := diagnosis.Diagnose(s)
	assert.Equal(t, diagnosis.Fault, r.Verdict)
	assert.ElementsMatch(t, []string{"message-dropped", "warm-forgets"}, r.Ranked())
}
