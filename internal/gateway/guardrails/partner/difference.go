package partner

import (
	"strings"

	"sluice/internal/gateway/guardrails/check"
)

// maxDifference is the maximum number of insertions and removals that difference searches for.
const maxDifference = 256

// difference returns the replacements that turn a text into its redacted form, at the borders of
// tokens where possible. Texts that differ in many places become one replacement.
func difference(from, to string) []check.Edit {
	if from == to {
		return nil
	}
	head := commonPrefix(from, to)
	tail := commonSuffix(from[head:], to[head:])
	return compareTokens(tokens(from[head:len(from)-tail]), tokens(to[head:len(to)-tail]), head)
}

// commonPrefix returns the length of the tokens with which both texts begin.
func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	for n > 0 && isWordByte(a[n-1]) {
		n--
	}
	return n
}

// commonSuffix returns the length of the tokens with which both texts end.
func commonSuffix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	for n > 0 && isWordByte(a[len(a)-n]) {
		n--
	}
	return n
}

// tokens splits a text into runs of letters and digits, and single other characters.
func tokens(s string) (out []string) {
	start := 0
	for i := 1; i <= len(s); i++ {
		if i == len(s) || !isWordByte(s[i]) || !isWordByte(s[i-1]) {
			out, start = append(out, s[start:i]), i
		}
	}
	return out
}

// isWordByte reports whether a byte is part of a letter or digit. All characters outside of ASCII
// count as letters.
func isWordByte(c byte) bool {
	return c >= 0x80 || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// compareTokens returns the replacements that turn a into b; start is the byte offset of a. It is
// Myers' algorithm, bounded by maxDifference: the work grows with the number of differences, not with
// the length of the texts.
func compareTokens(a, b []string, start int) []check.Edit {
	trace, steps := shortestEdit(a, b)
	if steps < 0 {
		return []check.Edit{{Start: start, End: start + total(a), With: strings.Join(b, "")}}
	}
	same := commonTokens(a, b, trace, steps)
	var edits []check.Edit
	x, y := 0, 0
	offset := start
	flush := func(toX, toY int) {
		if toX > x || toY > y {
			length := total(a[x:toX])
			edits = append(edits, check.Edit{Start: offset, End: offset + length, With: strings.Join(b[y:toY], "")})
			offset += length
		}
	}
	for _, p := range same {
		flush(p[0], p[1])
		offset += len(a[p[0]])
		x, y = p[0]+1, p[1]+1
	}
	flush(len(a), len(b))
	return edits
}

// shortestEdit returns the furthest positions of each step, and the number of steps; -1 if there are
// more than maxDifference.
func shortestEdit(a, b []string) (trace [][]int, steps int) {
	limit := min(len(a)+len(b), maxDifference)
	v := make([]int, 2*limit+2)
	for d := 0; d <= limit; d++ {
		trace = append(trace, append([]int(nil), v...))
		for k := -d; k <= d; k += 2 {
			x := nextX(v, k, d, limit)
			for x < len(a) && x-k < len(b) && a[x] == b[x-k] {
				x++
			}
			v[k+limit] = x
			if x >= len(a) && x-k >= len(b) {
				return trace, d
			}
		}
	}
	return nil, -1
}

// nextX returns the position at which the diagonal k begins in step d.
func nextX(v []int, k, d, limit int) int {
	if k == -d || k != d && v[k-1+limit] < v[k+1+limit] {
		return v[k+1+limit]
	}
	return v[k-1+limit] + 1
}

// commonTokens returns the positions of the tokens that both lists have, in their order.
func commonTokens(a, b []string, trace [][]int, steps int) [][2]int {
	limit := min(len(a)+len(b), maxDifference)
	x, y := len(a), len(b)
	var same [][2]int
	for d := steps; d >= 0; d-- {
		k := x - y
		fromX, fromY := 0, 0
		if d > 0 {
			v := trace[d]
			from := k - 1
			if k == -d || k != d && v[k-1+limit] < v[k+1+limit] {
				from = k + 1
			}
			fromX = v[from+limit]
			fromY = fromX - from
		}
		for x > fromX && y > fromY && a[x-1] == b[y-1] {
			x, y = x-1, y-1
			same = append(same, [2]int{x, y})
		}
		x, y = fromX, fromY
	}
	for i, j := 0, len(same)-1; i < j; i, j = i+1, j-1 {
		same[i], same[j] = same[j], same[i]
	}
	return same
}

func total(list []string) (n int) {
	for _, s := range list {
		n += len(s)
	}
	return n
}
