package sealed

import (
	"bytes"
	"strings"
)

// FormValue returns the value of a form field in the form for records. A credential field
// becomes *** ("extra_headers[x-api-key]", "webhook_secret"). JSON is masked like in Body,
// below the field's name: the value [{"type":"mcp","authorization":"***"}] of "tools". The
// result is value itself when there is nothing to mask.
func FormValue(name string, value []byte) []byte {
	w := bodyWalk{b: value, depth: 1}
	names := strings.Split(strings.ReplaceAll(name, "]", ""), "[")
	for _, n := range names[:len(names)-1] {
		w.push(n)
		w.open(false)
	}
	w.push(names[len(names)-1])
	if !startsJSON(value) {
		return w.plain(value)
	}
	if w.run(); w.out == nil {
		return value
	}
	return append(w.out, value[w.copied:]...)
}

// push enters a member, or for "" and a number an object in a list.
func (w *bodyWalk) push(name string) {
	if w.hasName = strings.Trim(name, "0123456789") != ""; w.hasName {
		w.name = []byte(name)
	}
}

// plain processes a value that is not JSON and belongs to the next member.
func (w *bodyWalk) plain(value []byte) []byte {
	rule := maskRule(0)
	if w.hasName {
		rule = w.rule()
	}
	switch {
	case len(value) == 0:
	case w.isMasked(), rule == maskAll, rule == maskText, rule == maskKey && bytes.HasPrefix(value, []byte("ek_")):
		return []byte(Mask)
	case rule == maskAddress:
		return []byte(Address(string(value)))
	case rule == maskHook:
		return []byte(Webhook(string(value)))
	}
	return value
}
