package partner

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// path selects values in a response: "results[0].categories.hate", "items[*].score" (each item),
// "categories.*" (each member) or "categories.$names" (the members that the parameter names lists).
// A member whose name has a dot or a bracket is written ["like.this"]. The empty path selects the
// response itself.
type path []segment

type segment struct {
	name  string // a member
	index int    // an item; -1 for none
	all   bool   // each item or member
	param string // a parameter that lists members
}

// parsePath compiles a path.
func parsePath(s string) (path, error) {
	var p path
	rest := s
	for rest != "" {
		seg, after, err := nextSegment(rest)
		if err != nil {
			return nil, fmt.Errorf("path %q: %w", s, err)
		}
		p = append(p, seg)
		rest = strings.TrimPrefix(after, ".")
	}
	return p, nil
}

// nextSegment returns the first segment of s and what follows it.
func nextSegment(s string) (seg segment, rest string, err error) {
	seg.index = -1
	if s[0] != '[' {
		end := strings.IndexAny(s, ".[")
		if end < 0 {
			end = len(s)
		}
		name := s[:end]
		switch {
		case name == "":
			return seg, "", fmt.Errorf("an empty name")
		case name == "*":
			seg.all = true
		case name[0] == '$':
			seg.param = name[1:]
		default:
			seg.name = name
		}
		return seg, s[end:], nil
	}
	inner, rest, ok := strings.Cut(s[1:], "]")
	switch {
	case !ok || inner == "":
		return seg, "", fmt.Errorf("a bracket without content or end")
	case inner == "*":
		seg.all = true
	case inner[0] == '"':
		seg.name, err = strconv.Unquote(inner)
	default:
		seg.index, err = strconv.Atoi(inner)
	}
	return seg, rest, err
}

// find returns the values at the path, in their order; none if a part of it is absent.
func (p path) find(root any, v *values) []any {
	found := []any{root}
	for _, seg := range p {
		var next []any
		for _, item := range found {
			next = seg.append(next, item, v)
		}
		found = next
	}
	return found
}

// first returns the first value at the path, nil for none.
func (p path) first(root any, v *values) any {
	if found := p.find(root, v); len(found) > 0 {
		return found[0]
	}
	return nil
}

// append appends the values of one segment.
func (s *segment) append(to []any, from any, v *values) []any {
	switch from := from.(type) {
	case []any:
		return s.appendItems(to, from)
	case map[string]any:
		return s.appendMembers(to, from, v)
	}
	return to
}

func (s *segment) appendItems(to, from []any) []any {
	if s.all {
		return append(to, from...)
	}
	if s.index >= 0 && s.index < len(from) {
		return append(to, from[s.index])
	}
	return to
}

func (s *segment) appendMembers(to []any, from map[string]any, v *values) []any {
	if s.all {
		for _, name := range names(from) {
			to = append(to, from[name])
		}
		return to
	}
	if s.param != "" {
		return appendListed(to, from, v.list(s.param))
	}
	if value, ok := from[s.name]; ok && s.index < 0 {
		to = append(to, value)
	}
	return to
}

// appendListed appends the members that a list names, whatever their case.
func appendListed(to []any, from map[string]any, list []string) []any {
	for _, name := range names(from) {
		if slices.ContainsFunc(list, func(s string) bool { return strings.EqualFold(s, name) }) {
			to = append(to, from[name])
		}
	}
	return to
}
