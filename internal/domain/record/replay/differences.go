package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Limits of the reported differences. All are ours.
const (
	maxDifferences = 100
	maxValue       = 500 // bytes of a value that is shown
	maxDepth       = 64
)

// Difference is a place in which two JSON answers differ.
type Difference struct {
	Path     string          // "$.choices[0].message.content"
	Original json.RawMessage // nil: it is not there
	Replay   json.RawMessage // nil: it is not there
}

// volatile are members of an answer that are other ones each time.
var volatile = map[string]bool{"$.id": true, "$.created": true, "$.created_at": true, "$.completed_at": true, "$.system_fingerprint": true}

// Differences are the places in which two JSON texts differ, in their order in the text's
// names; what differs each time, such as ids and times of answers, is left out. Long
// values are cut. More means that there are others. Ok is false if one is not JSON.
func Differences(original, replay []byte) (list []Difference, more, ok bool) {
	a, b := decode(original), decode(replay)
	if a == nil || b == nil {
		return nil, false, false
	}
	var w walk
	w.compare("$", *a, *b, 0)
	return w.list, w.more, true
}

// decode reads a JSON text; nil for what is none. Numbers stay as they are written.
func decode(text []byte) *any {
	if !json.Valid(text) {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return nil
	}
	return &v
}

// walk goes through two values together.
type walk struct {
	list []Difference
	more bool
}

func (w *walk) compare(path string, a, b any, depth int) {
	if depth > maxDepth || volatile[path] || w.more {
		return
	}
	if x, ok := a.(map[string]any); ok {
		if y, ok := b.(map[string]any); ok {
			w.members(path, x, y, depth)
			return
		}
	}
	if x, ok := a.([]any); ok {
		if y, ok := b.([]any); ok {
			w.elements(path, x, y, depth)
			return
		}
	}
	if one, other := raw(a), raw(b); !bytes.Equal(one, other) {
		w.add(path, one, other)
	}
}

func (w *walk) members(path string, a, b map[string]any, depth int) {
	names := slices.Collect(maps.Keys(a))
	for name := range b {
		if _, both := a[name]; !both {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		x, inA := a[name]
		y, inB := b[name]
		memberPath := path + "." + name
		if strings.ContainsAny(name, ". []\"") {
			memberPath = fmt.Sprintf("%s[%q]", path, name)
		}
		w.pair(memberPath, x, y, inA, inB, depth)
	}
}

func (w *walk) elements(path string, a, b []any, depth int) {
	for i := range max(len(a), len(b)) {
		var x, y any
		if i < len(a) {
			x = a[i]
		}
		if i < len(b) {
			y = b[i]
		}
		w.pair(fmt.Sprintf("%s[%d]", path, i), x, y, i < len(a), i < len(b), depth)
	}
}

// pair compares two values of which one may be missing.
func (w *walk) pair(path string, a, b any, inA, inB bool, depth int) {
	switch {
	case inA && inB:
		w.compare(path, a, b, depth+1)
	case volatile[path]:
	case inA:
		w.add(path, raw(a), nil)
	default:
		w.add(path, nil, raw(b))
	}
}

func (w *walk) add(path string, a, b json.RawMessage) {
	if len(w.list) == maxDifferences {
		w.more = true
		return
	}
	w.list = append(w.list, Difference{path, clip(a), clip(b)})
}

// raw is a value as text again.
func raw(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil { // it was decoded: cannot happen
		return nil
	}
	return b
}

// clip cuts a long value; it is then shown as a text that ends with an ellipsis.
func clip(v json.RawMessage) json.RawMessage {
	if len(v) <= maxValue {
		return v
	}
	return raw(strings.ToValidUTF8(string(v[:maxValue]), "") + "…")
}
