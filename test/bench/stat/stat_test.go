package stat_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sluice/test/bench/stat"
)

// A quantile is within 1 % of the one that sorting gives, and never too low.
func TestQuantileIsTrue(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		ns := rapid.SliceOfN(rapid.Int64Range(0, int64(15*time.Minute)), 1, 200).Draw(t, "ns")
		q := rapid.Float64Range(0, 1).Draw(t, "q")
		var h stat.Histogram
		for _, n := range ns {
			h.Add(time.Duration(n))
		}
		slices.Sort(ns)
		rank := max(int(math.Ceil(q*float64(len(ns))-1e-6)), 1)
		want, got := ns[rank-1], int64(h.Quantile(q))
		if got < want || float64(got) > float64(want)*1.01+1 {
			t.Fatalf("quantile %v of %v: got %d, want %d", q, ns, got, want)
		}
		if int64(h.Max()) != ns[len(ns)-1] || h.Count() != int64(len(ns)) {
			t.Fatalf("max %v, count %d of %v", h.Max(), h.Count(), ns)
		}
	})
}

func TestHistogramAtItsEdges(t *testing.T) {
	t.Parallel()
	var h stat.Histogram
	if h.Quantile(0.5) != 0 || h.Max() != 0 || h.Count() != 0 {
		t.Error("an empty histogram has values")
	}
	h.Add(-time.Second)
	h.Add(100 * time.Hour)
	if h.Quantile(0.5) != 0 || h.Max() != 100*time.Hour || h.Count() != 2 {
		t.Errorf("half %v, longest %v of %d", h.Quantile(0.5), h.Max(), h.Count())
	}
}

func TestMedian(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		input []float64
		want  float64
	}{
		{nil, math.NaN()},
		{[]float64{3}, 3},
		{[]float64{9, 1, 5}, 5},
		{[]float64{4, 1, 2, 100}, 3},
		{[]float64{math.NaN(), 2, math.NaN()}, 2},
	} {
		if got := stat.Median(c.input); got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("median of %v: got %v, want %v", c.input, got, c.want)
		}
	}
}

func TestRatioComparesRoundByRound(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		xs, to []float64
		want   float64
	}{
		{"a slow spell hits both", []float64{20, 60, 22}, []float64{10, 30, 11}, 2},
		{"an empty round is left out", []float64{20, 5, 30}, []float64{10, 0, 10}, 2.5},
		{"nothing to compare with", []float64{20}, nil, math.NaN()},
	} {
		if got := stat.Ratio(c.xs, c.to); got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}
