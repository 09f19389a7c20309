package dialect

import (
	"strings"

	"sluice/internal/splice"
)

// textArgument reads the text out of {"input":"…"} while it comes. What is something else,
// for models do not always keep to a schema, is the text itself.
type textArgument struct {
	state textState
	held  string // that may become something with what follows
}

type textState uint8

const (
	textBefore textState = iota // the text has not begun
	textInside
	textAfter
	textBare // there is no argument: all is text
)

// add takes the next piece and returns what it adds to the text.
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

// end returns what was held back when nothing follows.
func (a *textArgument) end() string {
	if a.state == textBefore {
		return a.held
	}
	return ""
}

// begin looks for the head of the argument.
func (a *textArgument) begin(s string) string {
	rest := s
	for _, token := range [...]string{"{", `"` + argument + `"`, ":", `"`} {
		rest = strings.TrimLeft(rest, " \t\r\n")
		after, found := strings.CutPrefix(rest, token)
		switch {
		case found:
			rest = after
		case strings.HasPrefix(token, rest): // more may come
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
		char, _ := splice.Unquote([]byte(`"` + s[:n] + `"`))
		text.WriteString(char)
		s = s[n:]
	}
	return text.String()
}

// escaped is how many bytes the escape takes that a text begins with, more than there are
// when it has not ended: \n, \u00e9, and of a pair \ud83d\ude00.
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
