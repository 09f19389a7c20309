package modellist

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// The limits of one list. What exceeds them is left out.
const (
	MaxNames     = 1000     // models
	maxNameBytes = 256      // of one name
	maxListBytes = 64 << 10 // of all names together
)

// limitNames returns the names that fit the limits, each once, in their order and without the
// memory of the response that they come from. Names that no call could carry, which are
// empty, not UTF-8 or contain control characters, are left out.
func limitNames(names []string) []string {
	out, seen, bytes := make([]string, 0, min(len(names), MaxNames)), map[string]bool{}, 0
	for _, name := range names {
		if !usable(name) || seen[name] {
			continue
		}
		if bytes += len(name); len(out) == MaxNames || bytes > maxListBytes {
			break
		}
		name = strings.Clone(name)
		seen[name] = true
		out = append(out, name)
	}
	return out
}

func usable(name string) bool {
	return name != "" && len(name) <= maxNameBytes && utf8.ValidString(name) && !strings.ContainsFunc(name, unicode.IsControl)
}
