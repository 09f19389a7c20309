package jobs

import (
	"math"
	"strconv"
	"strings"

	"sluice/internal/splice"
)

// Number is a number of a JSON object that counts something: 8 of {"seconds":"8"}; 0 where
// there is none.
func Number(body []byte, path ...string) int64 { return numberAt(body, path...) }

// numberAt is a number of a JSON object, also one that is written as a string; 0 where
// there is none, it is below 0, or larger than any count.
func numberAt(body []byte, path ...string) int64 {
	f := floatAt(body, path...)
	if f <= 0 || f >= 1<<50 {
		return 0
	}
	return int64(math.Ceil(f))
}

func floatAt(body []byte, path ...string) float64 {
	raw, ok := splice.Find(body, path...)
	if !ok {
		return 0
	}
	text := string(raw)
	if s, quoted := splice.Unquote(raw); quoted {
		text = s
	}
	f, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(text), "s"), 64)
	if err != nil || math.IsNaN(f) {
		return 0
	}
	return f
}
