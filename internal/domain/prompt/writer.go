package prompt

import "sluice/internal/kernel/jsonedit"

// writer collects what is rendered. In a raw template it follows where in the JSON it
// stands, so that the text of a partial can stand inside a string.
type writer struct {
	b       []byte
	spent   int // bytes that were written by renderings before this one
	raw     bool
	quoted  bool // inside a string of the JSON
	escaped bool // after a backslash in it
	shield  bool // literals are escaped: they belong to a partial inside a string
}

func (w *writer) literal(s string) error {
	if w.shield {
		return w.escape(s)
	}
	return w.put(s)
}

// value writes a variable: in a raw template escaped as the inside of a JSON string,
// unless it is plain. Source: contract/content-and-observability.md 1.3.
func (w *writer) value(s string, plain bool) error {
	if w.raw && !plain {
		return w.escape(s)
	}
	return w.put(s)
}

func (w *writer) escape(s string) error {
	q := jsonedit.Quote(s)
	return w.put(string(q[1 : len(q)-1]))
}

func (w *writer) put(s string) error {
	if w.spent+len(w.b)+len(s) > MaxOutputBytes {
		return invalid("the rendered prompt exceeds %d bytes", MaxOutputBytes).WithParam("variables")
	}
	w.b = append(w.b, s...)
	if w.raw {
		w.follow(s)
	}
	return nil
}

func (w *writer) follow(s string) {
	for i := range len(s) {
		switch {
		case w.escaped:
			w.escaped = false
		case s[i] == '\\':
			w.escaped = w.quoted
		case s[i] == '"':
			w.quoted = !w.quoted
		}
	}
}

// beginPartial begins a partial, and returns what leave needs to end it.
func (w *writer) beginPartial() (was bool) {
	was = w.shield
	w.shield = w.shield || w.raw && w.quoted
	return was
}

func (w *writer) endPartial(was bool) { w.shield = was }

// flush gives the text out and begins another one with what is left of the budget.
func (w *writer) flush() string {
	s := string(w.b)
	w.spent += len(w.b)
	w.b = w.b[:0]
	return s
}
