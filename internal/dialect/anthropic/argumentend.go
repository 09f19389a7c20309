package anthropic

import "math"

// argumentEnd follows the arguments of a call while they come, each byte once, and knows when
// their object is whole. It does not look whether what stands in it is JSON.
type argumentEnd struct {
	complete bool
	begun    bool
	depth    int  // brackets that are open; noObject where nothing can make them whole
	text     bool // in a string
	escaped  bool // behind a backslash in it
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
