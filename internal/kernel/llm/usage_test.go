package llm_test

import (
	"math"
	"reflect"
	"testing"

	"sluice/internal/kernel/llm"
)

// Each count of a usage has its bounds, also one that is added one day.
func TestUsageIsBounded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		count, clamped    int64
		seconds, boundary float64
	}{
		{12, 12, 12.5, 12.5},
		{-1, 0, -0.5, 0},
		{math.MinInt64, 0, math.NaN(), 0},
		{math.MaxInt64, llm.MaxCount, math.Inf(1), llm.MaxCount},
		{llm.MaxCount + 1, llm.MaxCount, math.Inf(-1), 0},
	} {
		var u llm.Usage
		v := reflect.ValueOf(&u).Elem()
		for i := range v.NumField() {
			if f := v.Field(i); f.CanInt() {
				f.SetInt(c.count)
			}
		}
		u.AudioSeconds = c.seconds
		got := u.Bounded()
		if got.AudioSeconds != c.boundary {
			t.Errorf("%v seconds: %v, want %v", c.seconds, got.AudioSeconds, c.boundary)
		}
		v = reflect.ValueOf(got)
		for i := range v.NumField() {
			if f := v.Field(i); f.CanInt() && f.Int() != c.clamped {
				t.Errorf("%s of %d: %d, want %d", v.Type().Field(i).Name, c.count, f.Int(), c.clamped)
			}
		}
	}
}
