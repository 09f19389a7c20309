package dialecttest

import (
	"math/rand/v2"
	"strconv"
	"strings"

	"sluice/internal/kernel/jsonedit"
)

// syllables hold what writers of JSON get wrong.
var syllables = []string{
	"a", "Rome ", "\"", "\\", "\n", "\t", "\u0001", "é", "日本", "😀", "</script>", "\u2028", "data: ", "\r\n", "{", "}", "%s", " ", "é́", "\u007f",
}

// text is not empty.
func text(r *rand.Rand) string {
	var b strings.Builder
	b.WriteByte('t')
	for range r.IntN(8) {
		b.WriteString(syllables[r.IntN(len(syllables))])
	}
	return b.String()
}

func randomName(r *rand.Rand) string { return strconv.FormatUint(uint64(r.Uint32()), 36) }

func pick(r *rand.Rand, from ...string) string { return from[r.IntN(len(from))] }

// object is a JSON object without white space.
func object(r *rand.Rand, depth int) string {
	b := []byte{'{'}
	for i := range r.IntN(4) {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(jsonedit.AppendQuoted(b, "k"+strconv.Itoa(i)), ':'), value(r, depth)...)
	}
	return string(append(b, '}'))
}

func value(r *rand.Rand, depth int) string {
	switch n := r.IntN(7); {
	case n == 0 && depth > 0:
		return object(r, depth-1)
	case n == 1 && depth > 0:
		return "[" + value(r, depth-1) + "," + value(r, depth-1) + "]"
	case n == 2:
		return pick(r, "0", "-1.5", "1e3", "9007199254740993", "0.10")
	case n == 3:
		return pick(r, "true", "false", "null")
	}
	return string(jsonedit.Quote(text(r)))
}
