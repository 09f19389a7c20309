// Package stat holds the figures of a benchmark: latencies in a histogram that many
// goroutines fill at once, and medians of rounds and of their ratios.
package stat

import (
	"math/bits"
	"sync/atomic"
	"time"
)

// A value keeps its seven highest bits behind the first: an error of less than 1 %.
const (
	subBits  = 7
	longest  = 40 // bits of the longest time kept apart: 18 minutes
	nBuckets = (longest - subBits + 1) << subBits
)

// Histogram counts durations with an error below 1 %, in fixed memory. Longer ones
// than 18 minutes count as that. The zero value is ready; it is safe for concurrent
// use and must not be copied.
type Histogram struct {
	buckets [nBuckets]atomic.Int64
	highest atomic.Int64
}

// Add counts d; a negative one, from two clocks read out of order, counts as 0.
func (h *Histogram) Add(d time.Duration) {
	n := max(int64(d), 0)
	h.buckets[bucket(n)].Add(1)
	for {
		old := h.highest.Load()
		if n <= old || h.highest.CompareAndSwap(old, n) {
			return
		}
	}
}

// Count is how many were added.
func (h *Histogram) Count() int64 {
	var n int64
	for i := range h.buckets {
		n += h.buckets[i].Load()
	}
	return n
}

// Max is the longest, exactly; 0 when there is none.
func (h *Histogram) Max() time.Duration { return time.Duration(h.highest.Load()) }

// Quantile is the duration that the share q, 0 to 1, of all does not exceed; 0 when
// there is none.
func (h *Histogram) Quantile(q float64) time.Duration {
	total := h.Count()
	if total == 0 {
		return 0
	}
	rank := min(max(int64(q*float64(total)+0.999999), 1), total)
	var seen int64
	for i := range h.buckets {
		if seen += h.buckets[i].Load(); seen >= rank {
			return min(time.Duration(ceiling(i)), h.Max())
		}
	}
	return h.Max()
}

// bucket is where n is counted. Values below 2^(subBits+1) have one each; above,
// each power of two is cut into 2^subBits of equal width.
func bucket(n int64) int {
	shift := max(bits.Len64(uint64(n))-subBits-1, 0)
	return min(shift<<subBits+int(n>>shift), nBuckets-1)
}

// ceiling is the largest value of a bucket.
func ceiling(i int) int64 {
	shift := max(i>>subBits-1, 0)
	return int64(i-shift<<subBits+1)<<shift - 1
}
