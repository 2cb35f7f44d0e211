package layers

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Law is a power law of depth, error = Prefactor · depth^Slope, with the interval [Lo, Hi] of the slope. A slope of ½
// is a random walk of independent errors on a state of constant size, 1 a constant bias, 0 an error that every layer
// makes anew.
type Law struct {
	Slope, Lo, Hi, Confidence float64
	Prefactor                 float64 // error at depth 1
	N                         int     // points of Fit, or rows of Slopes
}

// Contains says whether a slope lies in the interval.
func (l Law) Contains(slope float64) bool { return slope >= l.Lo && slope <= l.Hi }

// Fit is the least-squares line through (log depth, log value). Its interval is Student's, and holds if the deviations
// from the line are independent and normal of one size. Along one free-running curve they are not: each error contains
// the ones before it, so the interval is too narrow there. Use Slopes on several rows.
//
// It fails on fewer than three points, on depths or values that are not positive and finite, and on a single depth.
func Fit(depth, value []float64, confidence float64) (Law, error) {
	slope, intercept, residual, sxx, err := line(depth, value)
	if err != nil {
		return Law{}, err
	}
	n := len(depth)
	if n < 3 {
		return Law{}, fmt.Errorf("a line through %d points has no interval; give at least 3 depths", n)
	}
	half, err := studentHalfWidth(n-2, confidence)
	if err != nil {
		return Law{}, err
	}
	half *= math.Sqrt(residual / float64(n-2) / sxx)
	return Law{slope, slope - half, slope + half, confidence, math.Exp(intercept), n}, nil
}

// Slopes fits a line to every row of a curve, curves[row][l] at depth[l], and gives the mean slope with Student's
// interval over the rows. Rows are repetitions: the serial correlation inside a row does not enter the interval. It
// holds for further rows through the same stack, as far as the rows' slopes are independent and near normal; it says
// nothing about other weights. The prefactor is the geometric mean.
//
// It fails on fewer than two rows, and as Fit does.
func Slopes(depth []float64, curves [][]float64, confidence float64) (Law, error) {
	n := len(curves)
	if n < 2 {
		return Law{}, fmt.Errorf("%d rows give no interval of their slopes; measure at least 2 tokens", n)
	}
	half, err := studentHalfWidth(n-1, confidence)
	if err != nil {
		return Law{}, err
	}
	var sum, squares, intercepts float64
	for r, c := range curves {
		slope, intercept, _, _, err := line(depth, c)
		if err != nil {
			return Law{}, fmt.Errorf("row %d: %w", r, err)
		}
		sum, squares, intercepts = sum+slope, squares+slope*slope, intercepts+intercept
	}
	mean := sum / float64(n)
	variance := math.Max(0, squares/float64(n)-mean*mean) * float64(n) / float64(n-1)
	half *= math.Sqrt(variance / float64(n))
	return Law{mean, mean - half, mean + half, confidence, math.Exp(intercepts / float64(n)), n}, nil
}

// line returns the least-squares slope and intercept of log value on log depth, the sum of squared residuals, and the
// sum of squared deviations of log depth.
func line(depth, value []float64) (slope, intercept, residual, sxx float64, err error) {
	n := len(depth)
	if n != len(value) || n < 2 {
		return 0, 0, 0, 0, fmt.Errorf("%d depths and %d values: want as many of both, at least 2", n, len(value))
	}
	x, y := make([]float64, n), make([]float64, n)
	var mx, my float64
	for i := range n {
		if !positive(depth[i]) || !positive(value[i]) {
			return 0, 0, 0, 0, fmt.Errorf("point %d is depth %v with error %v; a power law needs both positive and finite (an "+
				"exact result has no slope)", i, depth[i], value[i])
		}
		x[i], y[i] = math.Log(depth[i]), math.Log(value[i])
		mx, my = mx+x[i]/float64(n), my+y[i]/float64(n)
	}
	var sxy float64
	for i := range n {
		sxx += (x[i] - mx) * (x[i] - mx)
		sxy += (x[i] - mx) * (y[i] - my)
	}
	if sxx == 0 {
		return 0, 0, 0, 0, errors.New("all points have one depth; a slope needs two")
	}
	slope = sxy / sxx
	intercept = my - slope*mx
	for i := range n {
		d := y[i] - intercept - slope*x[i]
		residual += d * d
	}
	return slope, intercept, residual, sxx, nil
}

// studentHalfWidth is the two-sided quantile of Student's t.
func studentHalfWidth(freedom int, confidence float64) (float64, error) {
	if !(confidence > 0 && confidence < 1) {
		return 0, fmt.Errorf("a confidence of %v; want a number between 0 and 1, such as 0.95", confidence)
	}
	return distuv.StudentsT{Sigma: 1, Nu: float64(freedom)}.Quantile((1 + confidence) / 2), nil
}

func positive(v float64) bool { return v > 0 && !math.IsInf(v, 1) }
