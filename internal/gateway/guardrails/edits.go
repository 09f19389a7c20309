package guardrails

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"sluice/internal/gateway/guardrails/check"
	"sluice/internal/gateway/guardrails/placeholder"
)

// change is an edit of a check. A reversible one is replaced by a placeholder, which is restored in
// the response to the client.
type change struct {
	check.Edit
	reversible bool
}

// changesOf returns the edits of a check.
func (c *compiled) changesOf(edits []check.Edit) []change {
	out := make([]change, len(edits))
	for i := range edits {
		out[i] = change{edits[i], c.reversible}
	}
	return out
}

// apply applies changes to a text. with returns what replaces the part that a change covers.
func apply(text string, list []change, with func(c *change) string) string {
	var b strings.Builder
	b.Grow(len(text))
	done := 0
	for i := range list {
		c := &list[i]
		b.WriteString(text[done:c.Start])
		b.WriteString(with(c))
		done = c.End
	}
	b.WriteString(text[done:])
	return b.String()
}

// fits reports whether a change lies in a text.
func (c *change) fits(text string) bool {
	return c.Start >= 0 && c.Start <= c.End && c.End <= len(text) && startsCharacter(text, c.Start) && startsCharacter(text, c.End)
}

func startsCharacter(text string, at int) bool { return at == len(text) || utf8.RuneStart(text[at]) }

// merged returns changes of one text in their order, without overlaps. Changes of different checks may
// overlap: the parts that they cover are replaced together, by the text of the change that begins first
// and is longest. If one of them is irreversible, so is the whole, with the text of the first such one:
// no change restores what another one removed. Changes outside the text are left out.
func merged(text string, list []change) []change {
	out := make([]change, 0, len(list))
	for i := range list {
		if list[i].fits(text) {
			out = append(out, list[i])
		}
	}
	slices.SortStableFunc(out, func(a, b change) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End))
	})
	n := 0
	for i := range out {
		if n > 0 && out[i].Start < out[n-1].End {
			out[n-1].absorb(&out[i])
			continue
		}
		out[n] = out[i]
		n++
	}
	return out[:n]
}

// absorb extends a change by one that overlaps it.
func (c *change) absorb(o *change) {
	c.End = max(c.End, o.End)
	if c.reversible && !o.reversible {
		c.With, c.Kind, c.reversible = o.With, o.Kind, false
	}
}

// replacement returns what replaces the part of a text that a change covers. A placeholder that is
// restored needs a vault and a value that is the caller's own; values of others receive one that stays.
func (c *change) replacement(v *placeholder.Vault, fromCaller bool, text string) string {
	switch {
	case !c.reversible || v == nil || c.Start == c.End:
		return c.With
	case fromCaller:
		return v.Hide(c.Kind, text[c.Start:c.End])
	default:
		return v.Mask(c.Kind, text[c.Start:c.End])
	}
}
