//go:build exhaustive

package diagnosis_test

func init() { everything = true }
