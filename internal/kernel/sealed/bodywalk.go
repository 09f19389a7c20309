package sealed

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// bodyWalk walks through a body member by member and replaces credentials. It follows only
// quotes and brackets, so it also handles the beginning of a body, and JSON between other text.
// It belongs to one goroutine.
type bodyWalk struct {
	b      []byte
	out    []byte   // masked output so far; nil until something is masked
	copied int      // number of bytes of b that are in out
	nested int      // number of strings that enclose this one
	zone   bodyZone // zone of the complete body
	events bool     // lines of an event stream: each line ends strings, an empty one ends an event
	found  *string

	few     [fewLevels]bodyLevel
	more    []bodyLevel // levels beyond few
	depth   int         // number of open levels
	name    []byte      // name of the member whose value comes next, as written
	hasName bool
}

// fewLevels is the number of levels that suffices for nearly all bodies; more levels are
// allocated.
const fewLevels = 24

// bodyLevel is an object or a list that is open.
type bodyLevel struct {
	name   []byte // name of its member, nil in a list
	list   bool
	index  int  // index of the value that comes next in a list
	masked bool // every value in it is masked

	headers bool // an object of headers
	zone    bodyZone
}

// run walks through the body.
func (w *bodyWalk) run() {
	for i := 0; i < len(w.b); {
		switch c := w.b[i]; c {
		case '"':
			i = w.text(i)
		case '{', '[':
			w.open(c == '[')
			i++
		case '}', ']':
			w.depth = max(0, w.depth-1)
			w.hasName = false
			i++
		case ',':
			if w.depth > 0 {
				w.level(w.depth-1).index++
			}
			w.hasName = false
			i++
		case ' ', '\t', '\r', ':':
			i++
		case '\n':
			if i++; w.events {
				i = w.line(i)
			}
		default:
			i = w.scalar(i)
		}
	}
}

// line handles the start of a line of an event stream. An empty line ends the event. In other
// lines the data follows "data:".
func (w *bodyWalk) line(i int) int {
	if emptyLine(w.b[i:]) {
		w.depth, w.hasName = 0, false
	}
	if bytes.HasPrefix(w.b[i:], []byte("data:")) {
		i += len("data:")
	}
	return i
}

func emptyLine(b []byte) bool { return len(b) > 0 && (b[0] == '\n' || b[0] == '\r') }

// open opens a level for an object or a list.
func (w *bodyWalk) open(list bool) {
	l := bodyLevel{list: list, masked: w.isMasked() || list && w.headerLine(), zone: w.zoneOf(!list)}
	if w.hasName {
		l.name = w.name
		switch rule := w.rule(); {
		case w.inSchema():
		case rule == maskAll:
			l.masked = true
		case rule == maskHeaders:
			l.headers = !list
		}
	}
	if w.hasName = false; w.depth < fewLevels {
		w.few[w.depth] = l
	} else {
		w.more = append(w.more[:w.depth-fewLevels], l)
	}
	w.depth++
}

// around returns the zone of the innermost level.
func (w *bodyWalk) around() bodyZone {
	if w.depth == 0 {
		return w.zone
	}
	return w.level(w.depth - 1).zone
}

// zoneOf returns the zone of the value that comes next. In the content of messages, "input" is
// the arguments of a tool. Elsewhere, an "input" object has the enclosing zone, and any other
// "input" is content.
func (w *bodyWalk) zoneOf(object bool) bodyZone {
	zone := w.around()
	if !w.hasName || zone == inData {
		return zone
	}
	var flat [maxParam]byte
	name := flatName(&flat, w.name)
	switch {
	case string(name) != "input":
		return max(zone, zoneNames[string(name)])
	case zone == inContent:
		return inData
	case object:
		return zone
	}
	return inContent
}

// headerLine reports whether the member that comes next is a header that may contain a secret.
func (w *bodyWalk) headerLine() bool {
	return w.hasName && w.depth > 0 && w.level(w.depth-1).headers && !openBelow(flatText(w.name))
}

// level returns an open level, the outermost being 0.
func (w *bodyWalk) level(k int) *bodyLevel {
	if k < fewLevels {
		return &w.few[k]
	}
	return &w.more[k-fewLevels]
}

// isMasked reports whether the value that comes next is below a credential field.
func (w *bodyWalk) isMasked() bool {
	if w.depth == 0 || !w.level(w.depth-1).masked {
		return false
	}
	return !w.hasName || !openBelow(flatText(w.name))
}

// inSchema reports whether the member that comes next is the definition of a field.
func (w *bodyWalk) inSchema() bool {
	return w.depth > 0 && schemaNames[flatText(w.level(w.depth-1).name)]
}

// rule returns how the member that comes next is masked, 0 when it is not.
func (w *bodyWalk) rule() maskRule {
	var flat [maxParam]byte
	zone := w.around()
	for _, f := range fieldsByName[string(flatName(&flat, w.name))] {
		if around := f.names[:len(f.names)-1]; zone <= f.last && w.under(around) && (!f.top || w.isTop(w.depth-len(around))) {
			return f.rule
		}
	}
	return 0
}

// isTop reports whether the members at a depth are those of the body itself, of an entry of a
// list of bodies, or of the body in a line of a batch. Members of events are not: some servers
// stream a "token".
func (w *bodyWalk) isTop(depth int) bool {
	return !w.events && (depth == 1 || depth == 2 && (w.level(0).list || flatText(w.level(1).name) == "body"))
}

// under reports whether the innermost open members have those names.
func (w *bodyWalk) under(names []string) bool {
	n := w.depth - len(names)
	if n < 0 {
		return false
	}
	for k, name := range names {
		if flatText(w.level(n+k).name) != name {
			return false
		}
	}
	return true
}

// text reads the string whose opening quote is at i and returns where to continue.
func (w *bodyWalk) text(i int) int {
	start := i + 1
	end, closed := w.endOfText(start)
	next := end
	if closed {
		next++
	}
	after := next
	for after < len(w.b) && (w.b[after] == ' ' || w.b[after] == '\t' || w.b[after] == '\n' || w.b[after] == '\r') {
		after++
	}
	if after < len(w.b) && w.b[after] == ':' && !w.hasName {
		w.name, w.hasName = w.b[start:end], true
		return after + 1
	}
	if masked, ok := w.masked(w.b[start:end]); ok {
		w.replace(start, end, masked)
	}
	w.hasName = false
	return next
}

// endOfText returns where the string that begins at i ends: at its quote, or without one at the
// end of the line or of the body.
func (w *bodyWalk) endOfText(i int) (end int, closed bool) {
	if n := bytes.IndexByte(w.b[i:], '"'); n >= 0 && !w.events && bytes.IndexByte(w.b[i:i+n], '\\') < 0 {
		return i + n, true
	}
	for ; i < len(w.b); i++ {
		switch c := w.b[i]; {
		case c == '"':
			return i, true
		case c == '\\':
			i++
		case c == '\n' && w.events:
			return i, false
		}
	}
	return len(w.b), false
}

// scalar reads a value without quotes: a number, true, false or null.
func (w *bodyWalk) scalar(i int) int {
	end := i
	for end < len(w.b) && strings.IndexByte(" \t\r\n,:{}[]\"", w.b[end]) < 0 {
		end++
	}
	if literal := w.b[i:end]; w.depth > 0 && string(literal) != "null" && (w.isMasked() || w.headerLine() || w.hasName && w.rule() == maskAll) {
		w.replace(i, end, []byte(`"`+Mask+`"`))
	}
	w.hasName = false
	return end
}

// masked returns a string as it may be shown, and whether that differs from the original.
func (w *bodyWalk) masked(text []byte) ([]byte, bool) {
	var rule maskRule
	if w.hasName {
		rule = w.rule()
	}
	if w.isMasked() || w.headerLine() {
		rule = maskAll
	}
	switch rule {
	case maskAll, maskText:
		return w.hidden(text)
	case maskKey:
		if bytes.HasPrefix(text, []byte("ek_")) || string(text) == Mask {
			return w.hidden(text)
		}
	case maskAddress:
		if mayHaveLogin(text) {
			return w.address(text, Address)
		}
	case maskHook:
		return w.address(text, Webhook)
	case maskHeaders: // applies to objects only
	}
	return w.inner(text)
}

// maxScheme is how many bytes of a URL are searched for the end of its scheme.
const maxScheme = 32

// mayHaveLogin reports whether a string may be a URL with a user or a parameter in it, as far as
// that is visible without a copy: most images are megabytes of a data URL.
func mayHaveLogin(text []byte) bool {
	begin := text[:min(len(text), maxScheme)]
	if bytes.HasPrefix(begin, []byte("data:")) || !bytes.Contains(begin, []byte("://")) && bytes.IndexByte(begin, '\\') < 0 {
		return false
	}
	return bytes.ContainsAny(text, `?@#\\`)
}

// hidden returns the mask, and whether it must replace the text: an empty or masked one stays.
func (w *bodyWalk) hidden(text []byte) ([]byte, bool) {
	if string(text) == Mask {
		w.note()
	}
	return []byte(Mask), len(text) > 0 && string(text) != Mask
}

// address returns a URL with its secrets masked.
func (w *bodyWalk) address(text []byte, mask func(string) string) ([]byte, bool) {
	if bytes.Contains(text, []byte(Mask)) {
		w.note()
	}
	plain, ok := unquoted(text)
	if !ok {
		return nil, false
	}
	shown := mask(plain)
	return quoted(shown), shown != plain
}

// inner returns a string that contains JSON or an event stream, with its credentials masked.
func (w *bodyWalk) inner(text []byte) ([]byte, bool) {
	if bytes.IndexByte(text, '\\') < 0 || !mayBeJSON(text) || !mayHoldCredential(text) {
		return nil, false
	}
	plain, ok := unquoted(text)
	if !ok || !startsJSON([]byte(plain)) && !strings.HasPrefix(plain, "data:") && !strings.HasPrefix(plain, "event:") {
		return nil, false // prose is not masked
	}
	shown := maskedZone("", []byte(plain), w.nested+1, w.zoneOf(false), w.found)
	return quoted(string(shown)), string(shown) != plain
}

// mayBeJSON reports whether the content of a JSON string may begin like JSON or like an event.
func mayBeJSON(text []byte) bool {
	text = bytes.TrimLeft(text, " \t\ufeff")
	return len(text) > 0 && (text[0] == '{' || text[0] == '[' || text[0] == '\\' || bytes.HasPrefix(text, []byte("data:")) || bytes.HasPrefix(text, []byte("event:")))
}

// replace writes other bytes instead of b[start:end].
func (w *bodyWalk) replace(start, end int, by []byte) {
	if w.out == nil {
		w.out = make([]byte, 0, len(w.b)+len(by))
	}
	w.out = append(append(w.out, w.b[w.copied:start]...), by...)
	w.copied = end
}

// note records the path of the member that comes next in found, unless found has one already.
func (w *bodyWalk) note() {
	if w.found == nil || *w.found != "" {
		return
	}
	var path []byte
	add := func(name []byte) {
		if len(name) > 0 && len(path) > 0 {
			path = append(path, '.')
		}
		path = append(path, name...)
	}
	for k := range w.depth {
		l := w.level(k)
		add(l.name)
		if l.list {
			path = append(strconv.AppendInt(append(path, '['), int64(l.index), 10), ']')
		}
	}
	if w.hasName {
		add(w.name)
	}
	*w.found = string(path)
}

// flatName writes a name to flat, in lower case and without separators. It returns nil for a
// longer name, which no rule contains.
func flatName(flat *[maxParam]byte, name []byte) []byte {
	if bytes.IndexByte(name, '\\') >= 0 {
		if plain, ok := unquoted(name); ok {
			name = []byte(plain)
		}
	}
	n := 0
	for _, c := range name {
		if separator(c) {
			continue
		}
		if n == len(flat) {
			return nil
		}
		flat[n] = lower(c)
		n++
	}
	return flat[:n]
}

// flatText is flatName as a string.
func flatText(name []byte) string {
	var flat [maxParam]byte
	return string(flatName(&flat, name))
}

// unquoted decodes the content of a JSON string. Of one that is cut off in an escape, it decodes
// the part before the escape.
func unquoted(text []byte) (string, bool) {
	for cut := 0; cut <= 12 && cut <= len(text); cut++ { // a surrogate pair of two escapes is the longest: 12 bytes
		var s string
		if json.Unmarshal(append(append([]byte{'"'}, text[:len(text)-cut]...), '"'), &s) == nil {
			return s, true
		}
	}
	return "", false
}

// quoted encodes a string as the content of a JSON string.
func quoted(s string) []byte {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if e.Encode(s) != nil { // encoding a string cannot fail
		return nil
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\"\n"))[1:]
}
