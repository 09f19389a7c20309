package textfold

import "sort"

// origin maps offsets of a folded text to offsets of its original. Folding replaces one segment of the
// original after another; a segment is a character with its combining marks and the invisible signs after
// it. An origin lists runs of segments of equal size, in the order of both texts, so it needs memory in
// proportion to the number of changes and of changes between scripts. Its last run is empty and marks the
// ends of both texts.
type origin []run

// run is a sequence of segments with the same number of bytes in each text: 1 and 1 for ASCII, 2 and 2 for
// Greek, 1 and 3 for full-width letters.
type run struct {
	folded, original int32 // offsets of the first segment
	width, step      int32 // bytes of a segment in the folded text, and in the original
}

// segment returns the part of the original that byte at of the folded text comes from. The offset at may
// be the end of the text.
func (o origin) segment(at int) (start, end int) {
	r := &o[sort.Search(len(o), func(i int) bool { return int(o[i].folded) > at })-1]
	start = int(r.original)
	if r.width > 0 {
		start += (at - int(r.folded)) / int(r.width) * int(r.step)
	}
	return start, start + int(r.step)
}

// originBuilder builds an origin from the starts of the segments.
type originBuilder struct {
	runs             origin
	folded, original int  // start of the last segment, whose end is not known yet
	open             bool // there is a last segment
}

// addUnchanged adds the first n bytes of both texts, each a segment.
func (b *originBuilder) addUnchanged(n int) {
	for i := range min(n, 2) {
		b.add(i, i)
	}
	if n > 0 {
		b.folded, b.original = n-1, n-1
	}
}

// add adds a segment that begins at these offsets. One with the same offset in the original as the last
// continues it.
func (b *originBuilder) add(folded, original int) {
	if b.open && original == b.original {
		return
	}
	b.end(folded, original)
	b.folded, b.original, b.open = folded, original, true
}

// end ends the last segment where the next one begins, or the texts end.
func (b *originBuilder) end(folded, original int) {
	if !b.open {
		return
	}
	width, step := int32(folded-b.folded), int32(original-b.original)
	if n := len(b.runs); n == 0 || b.runs[n-1].width != width || b.runs[n-1].step != step {
		b.runs = append(b.runs, run{int32(b.folded), int32(b.original), width, step})
	}
}

// finish returns the origin of texts with these lengths.
func (b *originBuilder) finish(folded, original int) origin {
	b.end(folded, original)
	return append(b.runs, run{folded: int32(folded), original: int32(original)})
}
