package anthropic

import "math"

// argumentEnd scans the arguments of a call as they arrive, each byte once, and detects when
// their object is complete. It does not check that the content is valid JSON.
type argumentEnd struct {
	complete bool
	begun    bool
	depth    int  // number of open brackets; noObject if nothing can complete them
	text     bool // inside a string
	escaped  bool // after a backslash in a string
}

const noObject = math.MaxInt

func (a *argumentEnd) read(delta string) {
	for i := range len(delta) {
		if a.depth == noObject {
			return
		}
		a.next(delta[i])
	}
}

func (a *argumentEnd) next(c byte) {
	switch {
	case a.escaped:
		a.escaped = false
	case a.text:
		a.escaped, a.text = c == '\\', c != '"'
	case c == ' ' || c == '\t' || c == '\r' || c == '\n':
	case a.depth == 0 && (a.begun || c != '{'):
		a.depth, a.complete = noObject, false
	case c == '{' || c == '[':
		a.depth++
		a.begun = true
	case c == '}' || c == ']':
		a.depth--
		a.complete = a.depth == 0
	case c == '"':
		a.text = true
	}
}
