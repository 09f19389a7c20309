package guardedstream

import (
	"iter"
	"strconv"
	"strings"

	"sluice/internal/kernel/jsonedit"
)

// addUnknown adds all strings of a value outside the known members. Path names the value; equal paths
// share a channel.
func (t *texts) addUnknown(e *event, choice int, path string, s span) {
	d := document(e.data)
	switch d[s.start] {
	case '"':
		t.addUnknownText(e, choice, path, s)
	case '[':
		for _, value := range d.elements(s) {
			t.addUnknown(e, choice, path, value)
		}
	case '{':
		for name, value := range d.members(s) {
			if !d.isIdentity(name, value) {
				t.addUnknown(e, choice, path+"."+name, value)
			}
		}
	}
}

// addUnknownText adds one string. A member next to the choices with the same value in each event, such
// as the name of a provider, is judged once. Equal fragments of a text are not the same.
func (t *texts) addUnknownText(e *event, choice int, path string, s span) {
	text, _ := jsonedit.Unquote(document(e.data).raw(s))
	if text == "" {
		return
	}
	id := Channel{KindText, choice, t.unknownBlock(choice, path)}
	metadata := choice < 0 && !strings.Contains(path, "delta")
	if c := t.open(id); metadata && string(c.text) == text {
		e.fragments = append(e.fragments, &fragment{at: s, channel: c, to: len(text), until: len(text)})
		return
	}
	t.add(e, id, s)
}

// unknownBlock returns the block of a path, a negative number.
func (t *texts) unknownBlock(choice int, path string) int {
	key := strconv.Itoa(choice) + "." + path
	block, ok := t.unknown[key]
	if !ok {
		block = -min(len(t.unknown)+1, maxChannels-1)
		if len(t.unknown) < maxChannels {
			t.unknown[key] = block
		}
	}
	return block
}

// objects returns the objects of a list. It adds everything else as unknown text.
func (t *texts) objects(e *event, choice int, path string, list span) iter.Seq2[int, span] {
	return func(yield func(int, span) bool) {
		d := document(e.data)
		if !d.isList(list) {
			t.addUnknown(e, choice, path, list)
		}
		for i, entry := range d.elements(list) {
			if !d.isObject(entry) {
				t.addUnknown(e, choice, path, entry)
			} else if !yield(i, entry) {
				return
			}
		}
	}
}

// members returns the members of an object. It adds another value as unknown text.
func (t *texts) members(e *event, choice int, path string, object span) iter.Seq2[string, span] {
	d := document(e.data)
	if !d.isObject(object) {
		t.addUnknown(e, choice, path, object)
	}
	return d.members(object)
}
