package providerjob

import (
	"math"
	"strconv"
	"strings"

	"sluice/internal/kernel/jsonedit"
)

// maxCount is the largest count. Sums and products are limited to it.
const maxCount = 1 << 50

// Times returns the product of two non-negative counts, at most 1<<50.
func Times(a, b int64) int64 {
	if b > 0 && a > maxCount/b {
		return maxCount
	}
	return min(a*b, maxCount)
}

// plus returns the sum of two counts, at most maxCount.
func plus(a, b int64) int64 { return min(min(a, maxCount)+min(b, maxCount), maxCount) }

// numberAt returns the number at a path of a JSON object, which may be written as a string. It
// is 0 if there is none, or if it is negative or larger than any count. Of several numbers it
// returns the largest.
func numberAt(body []byte, path ...string) (maximum int64) {
	for raw := range Values(body, path...) {
		maximum = max(maximum, numberOf(raw))
	}
	return maximum
}

// numberOf is numberAt for a raw value.
func numberOf(raw []byte) int64 {
	text := string(raw)
	if s, quoted := jsonedit.Unquote(raw); quoted {
		text = s
	}
	f, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(text), "s"), 64)
	if err != nil || math.IsNaN(f) || f <= 0 || f >= maxCount {
		return 0
	}
	return int64(math.Ceil(f))
}
