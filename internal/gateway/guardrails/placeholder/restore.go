package placeholder

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"sluice/internal/kernel/jsonedit"
)

// index finds placeholders in texts. It does not change.
type index struct {
	values    map[string]string
	names     []string // sorted
	maxLength int
}

// load returns the index of the present values.
func (v *Vault) load() *index {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.index == nil {
		x := &index{values: maps.Clone(v.values), names: slices.Sorted(maps.Keys(v.values))}
		for _, name := range x.names {
			x.maxLength = max(x.maxLength, len(name))
		}
		v.index = x
	}
	return v.index
}

// MaxLength returns the length in bytes of the longest placeholder in the vault, 0 for an empty
// vault. A window of that length contains each placeholder as a whole.
func (v *Vault) MaxLength() int { return v.load().maxLength }

// Restore replaces the placeholders in a text by their values. Placeholders whose value the vault
// does not contain stay. Values are not searched for placeholders.
func (v *Vault) Restore(text string) string { return v.load().restore(text, Plain) }

// RestoreJSONText is Restore for a JSON text, such as the arguments of a tool call. The placeholders
// are inside of its strings, so the values are escaped.
func (v *Vault) RestoreJSONText(text string) string { return v.load().restore(text, JSON) }

func (x *index) restore(text string, c Channel) string {
	if strings.IndexByte(text, '[') < 0 || len(x.names) == 0 {
		return text
	}
	out, _ := x.consume(make([]byte, 0, len(text)), text, c, true)
	return string(out)
}

// consume appends a text with its placeholders replaced. Unless the text is final, it returns an
// end of the text that may be the start of a placeholder instead of appending it.
func (x *index) consume(out []byte, text string, c Channel, final bool) (done []byte, held string) {
	for {
		open := strings.IndexByte(text, '[')
		if open < 0 {
			return append(out, text...), ""
		}
		out, text = append(out, text[:open]...), text[open:]
		n, value := x.match(text)
		if n == 0 && !final && len(text) < x.maxLength && x.starts(text) {
			return out, text
		}
		if n == 0 {
			out, text = append(out, '['), text[1:]
			continue
		}
		out, text = c.append(out, value), text[n:]
	}
}

// match returns the length and value of the placeholder at the start of a text, 0 without one.
func (x *index) match(text string) (n int, value string) {
	end := strings.IndexByte(text[:min(len(text), x.maxLength)], ']')
	if end < 0 {
		return 0, ""
	}
	value, ok := x.values[text[:end+1]]
	if !ok {
		return 0, ""
	}
	return end + 1, value
}

// starts reports whether a placeholder starts with a text.
func (x *index) starts(text string) bool {
	i, _ := slices.BinarySearch(x.names, text)
	return i < len(x.names) && strings.HasPrefix(x.names[i], text)
}

// Channel is the format of a text in which values are restored.
type Channel uint8

// The channels.
const (
	Plain Channel = iota
	JSON          // JSON text, such as arguments of a tool call
)

// append appends a value in the format of the channel.
func (c Channel) append(out []byte, value string) []byte {
	if c == Plain {
		return append(out, value...)
	}
	n := len(out)
	out = jsonedit.AppendQuoted(out, value)
	return append(out[:n], out[n+1:len(out)-1]...)
}

// Place is a placeholder in a text.
type Place struct {
	Start, End int // byte offsets
	Value      string
}

// form matches placeholders of any vault.
var form = regexp.MustCompile(`\[[A-Z0-9_]{1,32}_[0-9a-f]{6,64}\]`)

// HasForeign reports whether a text has placeholders whose values the vault does not contain.
func (v *Vault) HasForeign(text []byte) bool {
	for _, name := range form.FindAll(text, -1) {
		if len(v.Find(string(name))) == 0 {
			return true
		}
	}
	return false
}

// Find returns the placeholders in a text whose values the vault contains, in their order.
func (v *Vault) Find(text string) []Place {
	x := v.load()
	if len(x.names) == 0 {
		return nil
	}
	var out []Place
	for at := 0; ; {
		open := strings.IndexByte(text[at:], '[')
		if open < 0 {
			return out
		}
		at += open
		n, value := x.match(text[at:])
		if n == 0 {
			at++
			continue
		}
		out = append(out, Place{Start: at, End: at + n, Value: value})
		at += n
	}
}
