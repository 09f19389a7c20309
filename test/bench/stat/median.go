package stat

import (
	"math"
	"slices"
)

// Median is the middle of xs, or the mean of the two middle ones; NaN when xs is
// empty. Values that are not numbers are left out. xs stays as it is.
func Median(xs []float64) float64 {
	sorted := slices.DeleteFunc(slices.Clone(xs), math.IsNaN)
	slices.Sort(sorted)
	n := len(sorted)
	if n == 0 {
		return math.NaN()
	}
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// Ratio is the median of xs[i]/to[i]: rounds are compared with their neighbours, so
// that what slows the machine for a while slows both. Pairs without a second value
// above 0 are left out; NaN when none is left.
func Ratio(xs, to []float64) float64 {
	var ratios []float64
	for i := range min(len(xs), len(to)) {
		if to[i] > 0 {
			ratios = append(ratios, xs[i]/to[i])
		}
	}
	return Median(ratios)
}
