package jsonedit

import (
	"strconv"
	"strings"
)

// step is one part of a path such as "messages[*].content[0].text".
type step struct {
	key   string // name of a member; set when index is noIndex
	index int    // index of an element, or every, or noIndex
}

const (
	noIndex = -1
	every   = -2
)

// cut splits the first step from a path. It reports false for an invalid path, such as "a..b",
// "a[" or "[-1]". An invalid path selects nothing.
func cut(path string) (st step, rest string, ok bool) {
	if strings.HasPrefix(path, "[") {
		inside, rest, found := strings.Cut(path[1:], "]")
		if !found {
			return step{}, "", false
		}
		st = step{index: every}
		if inside != "*" {
			n, err := strconv.ParseUint(inside, 10, 31)
			if err != nil {
				return step{}, "", false
			}
			st.index = int(n)
		}
		return st, rest, separated(&rest)
	}
	end := strings.IndexAny(path, ".[")
	if end < 0 {
		end = len(path)
	}
	rest = path[end:]
	return step{key: path[:end], index: noIndex}, rest, end > 0 && separated(&rest)
}

// separated removes the dot before a further name and checks that it exists.
func separated(rest *string) bool {
	r := *rest
	return r == "" || r[0] == '[' || r[0] == '.' && len(r) > 1 && r[1] != '.' && r[1] != '['
}

// next returns the rest of a path after a step, without its dot.
func next(rest string) string { return strings.TrimPrefix(rest, ".") }
