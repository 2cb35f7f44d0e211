package stat

import "fmt"

// RuleOfThree returns 3/n, what n runs without an event still allow as its rate at 95 % confidence: -ln 0.05 = 2.996.
// It is at most 1, lies above the exact UpperBound(0, n, 0.95), and by less than 5 % of it from n = 30 on.
//
// Source: J. A. Hanley and A. Lippman-Hand, JAMA 249 (1983) 1743-1745. It fails when n < 1.
func RuleOfThree(n int) (float64, error) {
	if n < 1 {
		return 0, fmt.Errorf("rule of three: n is %d, want at least one run", n)
	}
	return min(1, 3/float64(n)), nil
}

// CleanRuns says what n runs without an event prove: "clean in 200 runs, rate below about 1.5 %". It fails when n < 1.
func CleanRuns(n int) (string, error) {
	r, err := RuleOfThree(n)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("clean in %d runs, rate below about %.2g %%", n, 100*r), nil
}

// DetectableDropHolm is DetectableDrop for one test of a family of the given size that is corrected after Holm. Holm's
// first step compares with alpha/tests, so this is the smallest drop that is seen when nothing else in the family
// moved. It fails as DetectableDrop does, and when tests < 1.
func DetectableDropHolm(n, tests int, alpha, power float64) (float64, error) {
	if tests < 1 {
		return 0, fmt.Errorf("detectable drop after Holm: a family of %d tests, want at least one", tests)
	}
	return DetectableDrop(n, alpha/float64(tests), power)
}
