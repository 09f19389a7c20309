package guardedstream

import "strings"

// argumentEdits splits an edit of tool arguments so that the arguments remain valid JSON: it
// replaces the content of strings and complete numbers, and leaves brackets, commas and colons.
// InString reports whether the edit begins inside a string.
func argumentEdits(text []byte, e Edit, inString bool) []Edit {
	if e.Start == e.End {
		if !inString {
			return nil
		}
		return []Edit{e}
	}
	s := argumentEditor{text: text, end: e.End, with: e.With}
	for i := e.Start; i < e.End; {
		switch {
		case inString && text[i] != '"':
			i = s.editString(i)
		case text[i] == '"':
			inString = !inString
			i++
		case strings.IndexByte("{}[],: \t\r\n", text[i]) >= 0:
			i++
		default:
			i = s.editToken(i, e.Start)
		}
	}
	return s.edits
}

type argumentEditor struct {
	text  []byte
	end   int    // of the edit
	with  string // empty after its first use
	edits []Edit
}

// editString replaces the content of a string from i on. It returns the index of the closing quote, or
// the end of the edit.
func (s *argumentEditor) editString(i int) int {
	stop := i
	for stop < s.end && s.text[stop] != '"' {
		stop, _ = step(s.text, stop, true)
	}
	stop = min(stop, s.end)
	s.add(i, stop, s.with)
	return stop
}

// editToken replaces a number or a word outside of strings, and returns the index after it. From is
// the start of the edit.
func (s *argumentEditor) editToken(i, from int) int {
	stop := tokenEnd(s.text, i, s.end)
	token := string(s.text[i:stop])
	cut := i == from && i > 0 && isTokenByte(s.text[i-1]) || stop < len(s.text) && isTokenByte(s.text[stop])
	switch {
	case token == "true" || token == "false" || token == "null":
	case strings.Trim(token, "0123456789+-.eE") != "": // not JSON
		s.add(i, stop, s.with)
	case cut:
		s.edits = append(s.edits, Edit{i, stop, maskDigits(token)})
	default:
		s.add(i, stop, `"`+s.with+`"`)
	}
	return stop
}

// add adds an edit. The first one of them contains the replacement.
func (s *argumentEditor) add(start, end int, with string) {
	s.edits = append(s.edits, Edit{start, end, with})
	s.with = ""
}

// maskDigits replaces the digits of a part of a number. It does not begin with 0, which JSON forbids.
func maskDigits(number string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return '1'
		}
		return r
	}, number)
}

func isTokenByte(c byte) bool { return strings.IndexByte("{}[],:\" \t\r\n", c) < 0 }

func tokenEnd(text []byte, i, end int) int {
	for i < end && isTokenByte(text[i]) {
		i++
	}
	return i
}
