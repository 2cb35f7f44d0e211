package suite

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestExitCodesAndVerdictLines(t *testing.T) {
	for name, row := range map[string]struct {
		scenario string
		env      []string
		args     []string
		code     int
		verdict  string
		stderr   string
	}{
		"tests passed":              {scenario: "plain-pass", code: 0, verdict: "verdict pass"},
		"tests failed":              {scenario: "plain-fail", code: 1, verdict: "verdict fault: tests failed"},
		"cases passed":              {scenario: "all-pass", code: 0, verdict: "verdict pass"},
		"a case failed":             {scenario: "one-failed", code: 1, verdict: "verdict fault: 1 of 2 cases"},
		"one answer of many failed": {scenario: "observed", code: 0, verdict: "verdict pass"},
		"a case failed in a green test": {
			scenario: "failed-but-green",
			code:     1,
			verdict:  "verdict fault: 1 of 1 cases",
		},
		"a required part unmeasured": {
			scenario: "praised-then-unmeasured",
			code:     3,
			verdict:  "verdict inconclusive: 1 of 2 cases",
		},
		"an optional part unmeasured": {scenario: "optional-unmeasured", code: 0, verdict: "verdict no fault found"},
		"praise does not outlive a failure": {
			scenario: "praised-then-test-failed",
			code:     1,
			verdict:  "verdict fault: tests failed",
		},
		"inconclusive stays 3 in a red test": {
			scenario: "inconclusive-and-red",
			code:     3,
			verdict:  "verdict inconclusive: 3 of 5",
		},
		"a fault outweighs a lost endpoint": {
			scenario: "fault-then-unreachable",
			code:     1,
			verdict:  "verdict REGRESSED  far recall; 40 of 40 lost",
		},
		"unreachable": {
			scenario: "unreachable",
			code:     4,
			verdict:  "verdict unreachable: connection refused",
		},
		"an engine broke": {
			scenario: "engine-broke",
			code:     5,
			verdict:  "verdict tool error: 1 of 1 cases",
		},
		"a result nobody can record": {
			scenario: "bad-result",
			code:     5,
			verdict: `verdict a result is not recorded: case ID "UPPER" needs at least two segments, the pillar first, as in ` +
				`fidelity/grid`,
		},
		"usage": {
			scenario: "usage",
			code:     2,
			verdict:  "verdict usage",
			stderr:   "Error: OPENAI_BASE_URL is not set\n",
		},
		"too few cases": {
			scenario: "plain-pass",
			args:     []string{"-assay.min=1"},
			code:     5,
			verdict:  "verdict tool error: 0 cases ran, and this run must have at least 1",
		},
		"enough cases": {
			scenario: "all-pass",
			args:     []string{"-assay.min=2"},
			code:     0,
			verdict:  "verdict pass",
		},
		"unreachable explains too few cases": {
			scenario: "unreachable",
			args:     []string{"-assay.min=2"},
			code:     4,
			verdict:  "verdict unreachable: connection refused",
		},
		"an unknown variable": {
			scenario: "plain-pass",
			env:      []string{"ASSAY_GOLDEN=x"},
			code:     2,
			verdict:  "verdict usage",
			stderr:   "Error: ASSAY_GOLDEN is set, but there is no such variable: did you mean ASSAY_GOLDENS?\n",
		},
		"a value that makes no sense": {
			scenario: "plain-pass",
			env:      []string{"ASSAY_BUDGET=huge"},
			code:     2,
			verdict:  "verdict usage",
			stderr:   "Error: ASSAY_BUDGET=\"huge\" cannot be used: use one of smoke, standard, full\n",
		},
		"interrupted": {
			scenario: "interrupted",
			code:     3,
			verdict:  "verdict inconclusive: interrupted (interrupt) after 0 results",
		},
		"an interrupted job": {
			scenario: "interrupted job",
			code:     3,
			verdict:  "verdict the job said so: interrupted",
		},
		"interrupted twice": {
			scenario: "interrupted twice",
			code:     3,
			verdict:  "verdict inconclusive: interrupted (interrupt) after 0 results",
		},
		"a registry with two cases of one ID": {
			scenario: "twins",
			code:     5,
			verdict:  "verdict tool error: the case registry is not valid",
			stderr:   "Error: case \"a/b\" is registered twice: IDs are golden keys and must be unique\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := helper(t, row.scenario, row.env, row.args...)
			assert.Equal(t, row.code, got.code, "exit code; stderr %q", got.stderr)
			assert.Equal(t, row.verdict, got.lastLine())
			assert.Equal(t, row.stderr, got.stderr)
			assert.Regexp(t, `^[0-5] .+\n$`, got.verdictFile)
			assert.Equal(t, int(got.verdictFile[0]-'0'), got.code, "the verdict file and the exit code")
		})
	}
}

func TestACrashLeavesNoVerdict(t *testing.T) {
	for _, scenario := range []string{"crash", "killed"} {
		got := helper(t, scenario, nil)
		assert.NotZero(t, got.code, scenario)
		assert.NotContains(t, got.stdout, "verdict", scenario)
		assert.Empty(t, got.verdictFile, scenario)
	}
}

// The job tests do something only in a copy of this binary that TestJobs starts.
func TestHelperJobDecides(t *testing.T) {
	if Job(t) {
		Verdict(Regression, "REGRESSED far recall")
	}
}

func TestHelperJobForgets(t *testing.T) {
	Job(t)
}

func TestHelperJobFails(t *testing.T) {
	if Job(t) {
		Verdict(Pass, "no fault found")
		t.Error("the seventh cell is wrong")
	}
}

func TestJobs(t *testing.T) {
	t.Run("output is the program's own", func(t *testing.T) {
		got := helper(t, "real", nil, "-assay.job", "-test.run=^TestHelperJobDecides$")
		assert.Equal(t, 1, got.code)
		assert.Equal(t, "verdict      REGRESSED far recall\n", got.stdout)
	})
	t.Run("a job without a verdict is a tool error", func(t *testing.T) {
		got := helper(t, "real", nil, "-assay.job", "-test.run=^TestHelperJobForgets$")
		assert.Equal(t, 5, got.code)
		assert.Equal(t, "verdict      tool error: the job ended without a verdict\n", got.stdout)
	})
	t.Run("failures are still printed", func(t *testing.T) {
		got := helper(t, "real", nil, "-assay.job", "-test.run=^TestHelperJobFails$")
		assert.Equal(t, 1, got.code)
		assert.Contains(t, got.stdout, "the seventh cell is wrong")
		assert.Equal(t, "verdict      fault: tests failed", got.lastLine())
	})
	t.Run("an ordinary test stays one", func(t *testing.T) {
		got := helper(t, "real", nil, "-test.run=^TestHelperJobDecides$")
		assert.Equal(t, 0, got.code)
		assert.Equal(t, "PASS\nverdict pass\n", got.stdout)
	})
	t.Run("a filter that matches no job", func(t *testing.T) {
		got := helper(t, "real", nil, "-test.run=^TestNothing$", "-assay.min=1")
		assert.Equal(t, 5, got.code)
	})
}

func TestListings(t *testing.T) {
	got := helper(t, "cases", nil, "-assay.list")
	assert.Equal(t, 0, got.code)
	assert.Equal(t, "a/b\n    claim    x MUST hold\n    catches  A1, G6\n    needs    logprobs\n    cost     2 "+
		"requests, 300 tokens\n"+
		"a/c\n    claim    y MUST hold\n    cost     none\n", got.stdout)

	for text, want := range map[string]string{"a1": "a/b", "Y must": "a/c", "LOGPROBS": "a/b", "nothing": ""} {
		got = helper(t, "cases", nil, "-assay.list", "-assay.filter="+text)
		first, _, _ := strings.Cut(got.stdout, "\n")
		assert.Equal(t, want, first, text)
	}

	got = helper(t, "real", nil, "-test.list=^TestListings$")
	assert.Equal(t, "TestListings\n", got.stdout, "no verdict among the names")
}
