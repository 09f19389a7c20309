package access

import (
	"bytes"
	"encoding/json"
)

// ScopeNames is a list of scopes in its stored form: ["logs.list","logs.view"]. A key has up to
// a hundred scopes, which make up most of its record. A list in the form that this package
// writes is therefore read without the JSON decoder, and the names of existing scopes share one
// string.
type ScopeNames []string

// UnmarshalJSON reads the JSON that a []string would read.
func (n *ScopeNames) UnmarshalJSON(raw []byte) error {
	if list, ok := plainNames(raw); ok {
		*n = list
		return nil
	}
	return json.Unmarshal(raw, (*[]string)(n))
}

// plainNames reads a list of strings without blanks and escapes. ok is false for any other
// input.
func plainNames(raw []byte) (list ScopeNames, ok bool) {
	rest, ok := bytes.CutPrefix(raw, []byte{'['})
	if !ok {
		return nil, false
	}
	list = make(ScopeNames, 0, bytes.Count(rest, []byte{','})+1)
	for more := true; more; {
		var name string
		if name, rest, ok = plainText(rest); !ok {
			return nil, false
		}
		list = append(list, name)
		rest, more = bytes.CutPrefix(rest, []byte{','})
	}
	return list, string(rest) == "]"
}

// plainText splits a quoted string from the beginning of raw.
func plainText(raw []byte) (text string, rest []byte, ok bool) {
	raw, ok = bytes.CutPrefix(raw, []byte{'"'})
	end := bytes.IndexByte(raw, '"')
	if !ok || end < 0 {
		return "", nil, false
	}
	if s, exists := known[string(raw[:end])]; exists {
		return s.name, raw[end+1:], true
	}
	for _, c := range raw[:end] {
		if c < ' ' || c == '\\' || c >= 0x80 {
			return "", nil, false
		}
	}
	return string(raw[:end]), raw[end+1:], true
}
