package wordguard

import (
	"cmp"
	"slices"
	"strings"
)

// forms returns the items in the orders that one question may have: as written, and with the
// possessor first, which makes "the language of the app" equal to "the app's language".
func (r *reading) forms() [][]item {
	chunks := r.chunks()
	return [][]item{joinChunks(asWritten(chunks)), joinChunks(possessorFirst(chunks))}
}

// chunks returns the items by phrase.
func (r *reading) chunks() [][]item {
	var out [][]item
	for i, it := range r.items {
		if i == 0 || it.chunk != r.items[i-1].chunk {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], it)
	}
	return out
}

func asWritten(chunks [][]item) [][]item {
	out := make([][]item, 0, len(chunks))
	for _, chunk := range chunks {
		if chunk[0].role == "of" {
			chunk = withRole(chunk, "")
		}
		out = append(out, chunk)
	}
	return out
}

// possessorFirst puts each phrase with "of" before the phrase it belongs to.
func possessorFirst(chunks [][]item) [][]item {
	out := slices.Clone(chunks)
	for i := len(out) - 1; i > 0; i-- {
		if out[i][0].role == "of" {
			role := out[i-1][0].role
			out[i-1] = slices.Concat(withRole(out[i], role), out[i-1])
			out = slices.Delete(out, i, i+1)
		}
	}
	return asWritten(out)
}

func withRole(chunk []item, role string) []item {
	out := slices.Clone(chunk)
	for i := range out {
		out[i].role = role
	}
	return out
}

// joinChunks returns the items of all phrases. Phrases with prepositions that follow each other are
// sorted: "from London to Paris" and "to Paris from London" are equal.
func joinChunks(chunks [][]item) []item {
	for start := 0; start < len(chunks); start++ {
		end := start
		for end < len(chunks) && chunks[end][0].role != "" {
			end++
		}
		slices.SortStableFunc(chunks[start:end], func(a, b []item) int { return cmp.Compare(a[0].role, b[0].role) })
		start = max(start, end-1)
	}
	var out []item
	for _, chunk := range chunks {
		if chunk[0].role == "between" {
			chunk = sortSides(chunk)
		}
		out = append(out, chunk...)
	}
	return out
}

// sortSides sorts what is compared: "between TCP and UDP" and "between UDP and TCP" are equal.
func sortSides(chunk []item) []item {
	i := slices.IndexFunc(chunk, func(it item) bool { return isConjunction(it.text) })
	if i <= 0 || i == len(chunk)-1 {
		return chunk
	}
	left, right := chunk[:i], chunk[i+1:]
	if text(left) <= text(right) {
		return chunk
	}
	return slices.Concat(right, chunk[i:i+1], left)
}

// isConjunction reports whether a word joins the members of a list.
func isConjunction(w string) bool {
	switch w {
	case "and", "or", "und", "oder", "y", "e", "o", "u":
		return true
	}
	return false
}

func text(items []item) string {
	var out strings.Builder
	for _, it := range items {
		out.WriteString(it.text)
		out.WriteByte(' ')
	}
	return out.String()
}
