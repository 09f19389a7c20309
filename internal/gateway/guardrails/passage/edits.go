package passage

import (
	"cmp"
	"encoding/base64"
	"slices"

	"sluice/internal/kernel/jsonedit"
)

// edit replaces a range of the body.
type edit struct {
	start, end int
	with       []byte
}

// Replace queues a new decoded text for a passage. The last one counts. A new text for a signed
// passage removes its block: the list element around it. A message without further content receives
// the text "[removed]". A text that equals the present one leaves the bytes unchanged. Other
// positions than those of Passages are ignored.
func (b *Body) Replace(i int, text string) {
	if i < 0 || i >= len(b.passages) {
		return
	}
	if text == b.passages[i].Text {
		delete(b.replaced, i)
		return
	}
	if b.replaced == nil {
		b.replaced = map[int]string{}
	}
	b.replaced[i] = text
}

// Bytes returns the body with all replacements. Without one it is the slice that was read.
func (b *Body) Bytes() []byte {
	if len(b.replaced) == 0 {
		return b.src
	}
	edits := b.edits()
	slices.SortFunc(edits, func(x, y edit) int {
		return cmp.Or(cmp.Compare(x.start, y.start), cmp.Compare(y.end, x.end))
	})
	size := len(b.src)
	for _, e := range edits {
		size += len(e.with)
	}
	out, done := make([]byte, 0, size), 0
	for k, e := range edits {
		if e.start < done || k > 0 && e.start == edits[k-1].start && e.end == edits[k-1].end {
			continue // inside of a removed block, or a duplicate
		}
		out = append(append(out, b.src[done:e.start]...), e.with...)
		done = e.end
	}
	return append(out, b.src[done:]...)
}

// edits returns the edits of all replacements, in any order.
func (b *Body) edits() []edit {
	var out []edit
	removed := map[int32]bool{}
	for i, text := range b.replaced {
		if s := &b.spots[i]; s.block >= 0 {
			removed[s.block] = true
		} else {
			out = append(out, edit{start: s.start, end: s.end, with: s.coding.encode(text)})
		}
	}
	return append(out, b.removals(removed)...)
}

// removals returns the edits that remove blocks.
func (b *Body) removals(removed map[int32]bool) []edit {
	var out []edit
	groups := map[int][]block{}
	for i := range removed {
		if bl := b.blocks[i]; bl.group < 0 {
			out = append(out, edit{start: bl.start, end: bl.end, with: []byte("null")})
		} else {
			groups[bl.group] = append(groups[bl.group], bl)
		}
	}
	for g, blocks := range groups {
		slices.SortFunc(blocks, func(x, y block) int { return cmp.Compare(x.index, y.index) })
		blocks = slices.CompactFunc(blocks, func(x, y block) bool { return x.index == y.index })
		out = append(out, b.removal(&b.groups[g], blocks)...)
	}
	return out
}

// encode returns a text as it is written in the body.
func (c coding) encode(text string) []byte {
	switch c {
	case quoted, number:
		return jsonedit.Quote(text)
	case base64Text:
		return []byte(base64.StdEncoding.EncodeToString([]byte(text)))
	case tokenList:
		return []byte("[]")
	case tokenObject:
		return []byte("null")
	case embedded:
		outer := jsonedit.Quote(string(jsonedit.Quote(text)))
		return outer[1 : len(outer)-1]
	case unquoted:
	}
	return []byte(text)
}
