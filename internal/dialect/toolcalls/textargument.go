package toolcalls

import (
	"strings"

	"sluice/internal/kernel/jsonedit"
)

// textArgument extracts the text of {"input":"…"} from a stream. If the arguments have another form,
// because models do not always follow a schema, they are the text themselves.
type textArgument struct {
	state textState
	held  string // start of a token that is still incomplete
}

type textState uint8

const (
	textBefore textState = iota // the text has not started
	textInside
	textAfter
	textBare // the argument is missing: everything is text
)

// add reads the next delta and returns the text that it adds.
func (a *textArgument) add(delta string) string {
	switch a.state {
	case textBare:
		return delta
	case textAfter:
		return ""
	case textBefore:
		return a.begin(a.held + delta)
	case textInside:
	}
	return a.readString(a.held + delta)
}

// end returns the held text when nothing follows.
func (a *textArgument) end() string {
	if a.state == textBefore {
		return a.held
	}
	return ""
}

// begin searches for the start of the argument.
func (a *textArgument) begin(s string) string {
	rest := s
	for _, token := range [...]string{"{", `"` + argument + `"`, ":", `"`} {
		rest = strings.TrimLeft(rest, " \t\r\n")
		after, found := strings.CutPrefix(rest, token)
		switch {
		case found:
			rest = after
		case strings.HasPrefix(token, rest): // the token may be incomplete
			a.held = s
			return ""
		default:
			a.state, a.held = textBare, ""
			return s
		}
	}
	a.state, a.held = textInside, ""
	return a.readString(rest)
}

// readString reads the text up to the end of its string.
func (a *textArgument) readString(s string) string {
	var text strings.Builder
	a.held = ""
	for s != "" {
		plain := strings.IndexAny(s, `"\`)
		if plain < 0 {
			plain = len(s)
		}
		text.WriteString(s[:plain])
		if s = s[plain:]; s == "" {
			break
		}
		if s[0] == '"' {
			a.state = textAfter
			break
		}
		n := escaped(s)
		if n > len(s) {
			a.held = s
			break
		}
		char, _ := jsonedit.Unquote([]byte(`"` + s[:n] + `"`))
		text.WriteString(char)
		s = s[n:]
	}
	return text.String()
}

// escaped is the length of the escape at the start of a text: \n, \u00e9, or the pair \ud83d\ude00.
// It exceeds the length of the text if the escape is incomplete.
func escaped(s string) int {
	const short, long = 2, 6
	switch {
	case len(s) < short || s[1] != 'u':
		return short
	case len(s) < long || !strings.ContainsAny(s[2:3], "dD") || !strings.ContainsAny(s[3:4], "89abAB"):
		return long
	case strings.HasPrefix(`\u`, s[long:min(len(s), long+short)]):
		return 2 * long
	}
	return long
}
