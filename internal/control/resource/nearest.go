package resource

import "strings"

// longName is the length from which a name may differ from a known name by two edits and still
// match it.
const longName = 7

// nearest returns the known name that name probably means, "" for none. It is at most one edit
// away, or two from longName letters on. An edit adds, removes or replaces a letter, or swaps
// two neighbours. Case is ignored.
func nearest(name string, known []string) string {
	limit := 1
	if len(name) >= longName {
		limit = 2
	}
	best := ""
	folded := strings.ToLower(name)
	for _, k := range known {
		if n := len(k) - len(name); n > limit || -n > limit {
			continue
		}
		d := edits(folded, strings.ToLower(k))
		if d < limit || d == limit && (best == "" || k < best) {
			best = k
			limit = d
		}
	}
	return best
}

// edits returns the number of edits between two names, where a swap of neighbours is one edit:
// the optimal string alignment distance.
func edits(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
