package bodies

import (
	"cmp"
	"slices"
)

// Span is the part of a block that a row refers to.
type Span struct {
	Block  int64  // offset of the block in its file
	Offset uint32 // offset in the block
	Size   uint32 // of request and response; the rest follows
}

// Span returns the position of a reference's bodies.
func (r *Ref) Span() Span { return Span{r.Block, r.Offset, r.Request + r.Response} }

// byBlock are spans ordered by their blocks.
type byBlock []Span

func newByBlock(spans []Span) byBlock {
	return slices.SortedFunc(slices.Values(spans), func(a, b Span) int {
		return cmp.Or(cmp.Compare(a.Block, b.Block), cmp.Compare(a.Offset, b.Offset))
	})
}

// spansOf returns the spans of a block.
func (b byBlock) spansOf(block int64) []Span {
	from, _ := slices.BinarySearchFunc(b, block, func(s Span, blockOffset int64) int { return cmp.Compare(s.Block, blockOffset) })
	to := from
	for to < len(b) && b[to].Block == block {
		to++
	}
	return b[from:to]
}
