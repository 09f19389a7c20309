package jobs

import (
	"math"
	"strconv"
	"strings"

	"sluice/internal/splice"
)

// maxCount is the largest count: sums and products end there.
const maxCount = 1 << 50

// Times is the product of two counts, which are not below 0; at most 1<<50.
func Times(a, b int64) int64 {
	if b > 0 && a > maxCount/b {
		return maxCount
	}
	return min(a*b, maxCount)
}

// plus is the sum of two counts.
func plus(a, b int64) int64 { return min(min(a, maxCount)+min(b, maxCount), maxCount) }

// numberAt is a number of a JSON object, also one that is written as a string; 0 where
// there is none, it is below 0, or larger than any count. Of several the largest counts.
func numberAt(body []byte, path ...string) (maximum int64) {
	for raw := range Values(body, path...) {
		maximum = max(maximum, numberOf(raw))
	}
	return maximum
}

// numberOf is numberAt of a raw value.
func numberOf(raw []byte) int64 {
	text := string(raw)
	if s, quoted := splice.Unquote(raw); quoted {
		text = s
	}
	f, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(text), "s"), 64)
	if err != nil || math.IsNaN(f) || f <= 0 || f >= maxCount {
		return 0
	}
	return int64(math.Ceil(f))
}
