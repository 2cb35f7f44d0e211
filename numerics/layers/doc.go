// Package layers measures how an arithmetic error grows with depth, and judges the growth as a law.
//
// A contract that is harmless in one layer may not be in forty-three: unbiased rounding adds up as a random walk does,
// truncation adds up in one direction, and an inaccurate accumulator is bad from the first layer and grows no further.
// The package tells them apart by four measures: the local error of each layer with both sides fed the exact state, the
// free-running error of the whole stack, the slope of log error against log depth with a confidence interval, and the
// gain that an exact stack gives to a probe (research on kernel equivalence calls this gate F, compounding).
//
// It claims: those measures of any stack of steps, or of states recorded elsewhere; their intervals under the
// assumptions that Slopes names; a one-sided gate calibrated on reorderings of the declared contract (Calibrate). It
// does not claim that a stack inside the gate is accurate, only that it compounds no worse than its contract does; and
// one stack's slope is no property of another.
//
// States are flat float64 slices [rows, width], row-major; a row is a token.
package layers
