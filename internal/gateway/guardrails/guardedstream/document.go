package guardedstream

import (
	"iter"
	"strconv"

	"sluice/internal/kernel/jsonedit"
)

// span is the part of a text from start to end, in bytes.
type span struct{ start, end int }

// document is bytes that contain valid JSON. Its methods take the span of a value.
type document []byte

// members returns the names and values of an object, in their order. It returns none for another
// value.
func (d document) members(object span) iter.Seq2[string, span] {
	return func(yield func(string, span) bool) {
		for name, value := range d.entries(object, '{') {
			key, _ := jsonedit.Unquote(d[name.start:name.end])
			if !yield(key, value) {
				return
			}
		}
	}
}

// elements returns the elements of a list. It returns none for another value.
func (d document) elements(list span) iter.Seq2[int, span] {
	return func(yield func(int, span) bool) {
		n := 0
		for _, value := range d.entries(list, '[') {
			if !yield(n, value) {
				return
			}
			n++
		}
	}
}

// entries returns the names and values of an object, or the values of a list.
func (d document) entries(s span, opening byte) iter.Seq2[span, span] {
	return func(yield func(span, span) bool) {
		if d[s.start] != opening {
			return
		}
		for i := d.space(s.start + 1); i < s.end-1; {
			var name span
			if opening == '{' {
				name = span{i, d.stringEnd(i)}
				i = d.space(d.space(name.end) + 1)
			}
			value := span{i, d.valueEnd(i)}
			if !yield(name, value) {
				return
			}
			i = d.space(d.space(value.end) + 1)
		}
	}
}

// find returns the value of the first member with this name.
func (d document) find(object span, name string) (span, bool) {
	for key, value := range d.members(object) {
		if key == name {
			return value, true
		}
	}
	return span{}, false
}

// text returns the string member with this name, or "".
func (d document) text(object span, name string) string {
	value, ok := d.find(object, name)
	if !ok {
		return ""
	}
	text, _ := jsonedit.Unquote(d.raw(value))
	return text
}

// number returns the integer member with this name, or missing.
func (d document) number(object span, name string, missing int) int {
	if value, ok := d.find(object, name); ok {
		return d.integer(value, missing)
	}
	return missing
}

// integer returns a value that is a number of at most 9 digits, or missing.
func (d document) integer(value span, missing int) int {
	if value.end-value.start > 9 {
		return missing
	}
	n, err := strconv.Atoi(string(d.raw(value)))
	if err != nil || n < 0 {
		return missing
	}
	return n
}

func (d document) raw(s span) []byte { return d[s.start:s.end:s.end] }

func (d document) isString(s span) bool { return d[s.start] == '"' }

func (d document) isObject(s span) bool { return d[s.start] == '{' }

// isEmpty reports whether an object or list has no members.
func (d document) isEmpty(s span) bool {
	return d.space(s.start+1) >= s.end-1
}

// space returns the index of the first byte from i on that is not white space.
func (d document) space(i int) int {
	for i < len(d) && (d[i] == ' ' || d[i] == '\n' || d[i] == '\r' || d[i] == '\t') {
		i++
	}
	return i
}

// stringEnd returns the index after the string that begins at i.
func (d document) stringEnd(i int) int {
	for i++; i < len(d); i++ {
		switch d[i] {
		case '"':
			return i + 1
		case '\\':
			i++
		}
	}
	return len(d)
}

// valueEnd returns the index after the value that begins at i.
func (d document) valueEnd(i int) int {
	if i >= len(d) {
		return len(d)
	}
	switch d[i] {
	case '"':
		return d.stringEnd(i)
	case '{', '[':
		return d.closing(i)
	}
	for i < len(d) && d[i] != ',' && d[i] != '}' && d[i] != ']' && d[i] > ' ' {
		i++
	}
	return i
}

// closing returns the index after the object or list that begins at i.
func (d document) closing(i int) int {
	depth := 0
	for i < len(d) {
		switch d[i] {
		case '"':
			i = d.stringEnd(i)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return len(d)
}

// string returns the decoded value of a string, or "".
func (d document) string(s span) string {
	text, _ := jsonedit.Unquote(d.raw(s))
	return text
}

func (d document) isList(s span) bool { return d[s.start] == '[' }
