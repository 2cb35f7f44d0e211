package stat

import "fmt"

// DetectableDropHolm is DetectableDrop for one test of a family of the given size that is corrected after Holm. Holm's
// first step compares with alpha/tests, so this is the smallest drop that is seen when nothing else in the family
// moved. It fails as DetectableDrop does, and when tests < 1.
func DetectableDropHolm(n, tests int, alpha, power float64) (float64, error) {
	if tests < 1 {
		return 0, fmt.Errorf("detectable drop after Holm: a family of %d tests, want at least one", tests)
	}
	return DetectableDrop(n, alpha/float64(tests), power)
}
