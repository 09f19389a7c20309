package providerjob

import (
	"bytes"
	"iter"
	"strings"
	"unicode/utf8"

	"sluice/internal/kernel/jsonedit"
)

// Values returns the values of a JSON object at a path of fields, in the spelling of any
// provider: all of "input_file_id", "inputFileId" and a second "input_file_id", since it is
// not known which of them the provider reads.
func Values(body []byte, path ...string) iter.Seq[[]byte] {
	return func(yield func(val []byte) bool) { eachValue(body, path, yield) }
}

func eachValue(val []byte, path []string, yield func(val []byte) bool) bool {
	if len(path) == 0 {
		return yield(val)
	}
	for name, member := range jsonedit.Members(val) {
		if isField(name, path[0]) && !eachValue(member, path[1:], yield) {
			return false
		}
	}
	return true
}

// isField reports whether a raw name is a field. It ignores case and underscores.
func isField(raw []byte, field string) bool {
	if bytes.IndexByte(raw, '\\') >= 0 || bytes.IndexFunc(raw, func(r rune) bool { return r >= utf8.RuneSelf }) >= 0 {
		name, ok := jsonedit.Unquote(raw)
		return ok && strings.EqualFold(strings.ReplaceAll(name, "_", ""), strings.ReplaceAll(field, "_", ""))
	}
	at := 0
	for _, c := range raw[1 : len(raw)-1] {
		if c == '_' {
			continue
		}
		for at < len(field) && field[at] == '_' {
			at++
		}
		if at == len(field) || small(field[at]) != small(c) {
			return false
		}
		at++
	}
	return strings.Trim(field[at:], "_") == ""
}

func small(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}
