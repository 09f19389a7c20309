package access

import (
	"bytes"
	"encoding/json"
)

// ScopeNames is a list of scopes as records keep it: ["logs.list","logs.view"]. A key has
// up to a hundred of them, which are most of its record. So they are read without the
// decoder where they stand as this package writes them, and names of scopes that exist
// share one text.
type ScopeNames []string

// UnmarshalJSON reads what a []string would read.
func (n *ScopeNames) UnmarshalJSON(raw []byte) error {
	if list, ok := plainNames(raw); ok {
		*n = list
		return nil
	}
	return json.Unmarshal(raw, (*[]string)(n))
}

// plainNames reads a list of texts without blanks and escapes; not ok of anything else.
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

// plainText cuts a text in quotes off.
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
