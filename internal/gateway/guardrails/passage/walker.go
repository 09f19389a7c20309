package passage

import (
	"strconv"
	"unicode/utf8"

	"sluice/internal/kernel/jsonedit"
)

// coding is how a text is written in the body.
type coding uint8

const (
	unquoted    coding = iota // the bytes of the text itself
	quoted                    // a JSON string
	embedded                  // a JSON string or number in a JSON text in a JSON string
	number                    // a JSON number
	tokenList                 // a list of tokens
	tokenObject               // an object with lists of tokens
	base64Text                // the base64 of a text
)

// spot is the position of a passage in the body.
type spot struct {
	start, end int // of the value, with its quotes
	coding     coding
	media      bool  // the text is data unless its block turns out to be a text
	block      int32 // position of its signed block; -1 if it is not signed
}

// around is what values inherit from the values around them.
type around struct {
	role    Role
	kind    Kind
	message int
	depth   int
}

// enter returns the inheritance of the values inside a value with a rule: the innermost role and
// the outermost kind count, but nothing inside of Other has another kind.
func (a around) enter(r *rule) around {
	if r.role != "" {
		a.role = r.role
	}
	if a.kind == "" || r.kind == Other {
		a.kind = r.kind
	}
	a.depth++
	return a
}

// walker reads a body from front to back and appends its texts to a Body.
type walker struct {
	*Body
	r    jsonedit.Reader
	lead int     // offset of the reader's text in its source
	raw  *cursor // converts offsets in embedded arguments to offsets in the body; nil outside
	path []byte
	err  error
}

func newWalker(b *Body) *walker {
	w := &walker{Body: b}
	w.open(b.src)
	return w
}

// open starts to read a text.
func (w *walker) open(src []byte) {
	w.lead = 0
	for w.lead < len(src) && (src[w.lead] == ' ' || src[w.lead] == '\t' || src[w.lead] == '\n' || src[w.lead] == '\r') {
		w.lead++
	}
	w.r = jsonedit.NewReader(src)
}

// offset is the position of the next value in the current source.
func (w *walker) offset() int { return w.lead + w.r.Mark() }

// root reads the body. It must be an object, or a list where the form permits it.
func (w *walker) root(f form) error {
	r := &rules[f]
	if k := w.r.Kind(); k != '{' && (k != '[' || r.element == ignored) {
		return ErrNotJSON
	}
	a := around{message: -1}
	if r.single {
		a.message = 0
	}
	w.value(f, a)
	if w.err != nil {
		return w.err
	}
	if w.r.Mark() == 0 {
		w.r.Raw()
	}
	if !w.r.IsComplete() {
		return ErrNotJSON
	}
	return nil
}

// value reads the next value if it can have texts. Otherwise the loop around it skips it.
func (w *walker) value(f form, a around) {
	r := &rules[f]
	a = a.enter(r)
	if a.depth > maxDepth {
		w.err = ErrUnreadable
		return
	}
	switch w.r.Kind() {
	case '"':
		if r.text {
			w.text(r, a)
		}
	case '[':
		if r.element != ignored {
			w.list(r, a)
		}
	case '{':
		if r.members != nil || r.other != ignored {
			w.object(r, a)
		}
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		if r.leaf && r.text {
			w.number(a)
		}
	}
}

// shortestNumber is the length of the shortest number that may identify a person: one of a card or of a
// telephone.
const shortestNumber = 6

// number reads a number among data that a model or a tool wrote.
func (w *walker) number(a around) {
	start := w.offset()
	raw := w.r.Raw()
	if len(raw) < shortestNumber {
		return
	}
	s := spot{start: start, end: start + len(raw), coding: number}
	if w.raw != nil {
		s = spot{start: w.raw.offset(start), end: w.raw.offset(start + len(raw)), coding: embedded}
	}
	a.kind = Other
	w.add(Passage{Text: string(raw)}, s, a)
}

// text reads a string.
func (w *walker) text(r *rule, a around) {
	start := w.offset()
	raw := w.r.Raw()
	switch {
	case raw == nil || r.leaf && isDataURL(raw):
	case w.raw != nil:
		text, _ := jsonedit.Unquote(raw)
		from := w.raw.offset(start)
		w.add(Passage{Text: text}, spot{start: from, end: w.raw.offset(start + len(raw)), coding: embedded}, a)
	case r.embedded && w.arguments(raw, start, a):
	default:
		w.add(Passage{}, spot{start: start, end: start + len(raw), coding: quoted}, a)
	}
}

// add appends a passage.
func (w *walker) add(p Passage, s spot, a around) {
	if len(w.passages) == maxPassages {
		w.err = ErrUnreadable
		return
	}
	if p.Role, p.Kind, p.Message = a.role, a.kind, a.message; p.Kind == "" {
		p.Kind = Text
	}
	p.Path, s.block = string(w.path), -1
	w.passages, w.spots = append(w.passages, p), append(w.spots, s)
}

// list reads the elements of a list.
func (w *walker) list(r *rule, a around) {
	e := elements{walker: w, rule: r, group: -1, start: w.offset()}
	e.end = e.start + 1
	if r.turns {
		w.lists, w.messages = w.lists+1, 0
	}
	for k := range w.r.Elements() {
		if r.turns {
			a.message, w.messages = k, k+1
		}
		n := w.enterElement(k)
		e.begin()
		w.value(r.element, a)
		w.path = w.path[:n]
		if w.err != nil {
			return
		}
		e.finish()
	}
	e.close()
}

// object reads the members of an object.
func (w *walker) object(r *rule, a around) {
	if r.turns && r.single { // one message where a list of them is usual
		a.message, w.messages, w.lists = 0, 1, w.lists+1
	}
	m := marks{rule: r, start: w.offset(), passages: len(w.passages), groups: len(w.groups)}
	var buf [maxName]byte
	for name := range w.r.Members() {
		key := foldName(buf[:0], name)
		if r.marked && m.read(w, key) {
			continue
		}
		f, ok := r.members[string(key)]
		if !ok {
			f = r.other
		}
		if f == ignored || f == otherForm && w.isIdentity(key) {
			continue
		}
		n, first := w.enterMember(name), len(w.passages)
		switch f {
		case tokensForm:
			w.tokens(a)
		case encodedForm:
			w.encodedText(a)
		default:
			w.value(f, a)
		}
		w.path = w.path[:n]
		if w.err != nil {
			return
		}
		if r.media && string(key) == "data" {
			w.setMedia(first, true)
		}
	}
	if r.marked {
		m.apply(w, a)
	}
}

// setMedia marks the passages from a position as data or as texts.
func (w *walker) setMedia(first int, media bool) {
	for i := first; i < len(w.spots); i++ {
		w.spots[i].media = media
	}
}

// Bounds of paths: a path has a copy in each passage.
const (
	maxPath     = 512
	maxPathName = 64
)

// enterElement appends an index to the path and returns the length before.
func (w *walker) enterElement(k int) int {
	n := len(w.path)
	if n < maxPath {
		w.path = append(strconv.AppendInt(append(w.path, '['), int64(k), 10), ']')
	}
	return n
}

// enterMember appends a name to the path and returns the length before.
func (w *walker) enterMember(name []byte) int {
	n := len(w.path)
	if n >= maxPath {
		return n
	}
	if n > 0 {
		w.path = append(w.path, '.')
	}
	if len(name) > maxPathName {
		end := maxPathName
		for end > 0 && !utf8.RuneStart(name[end]) {
			end--
		}
		name = name[:end]
	}
	w.path = append(w.path, name...)
	return n
}
