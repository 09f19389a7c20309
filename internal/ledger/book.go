package ledger

import (
	"fmt"
	"iter"
	"slices"

	"github.com/google/uuid"
)

// Offset is where a line stands in the journal. It has the shape of record.Position.
type Offset struct {
	Seq    uint64 // strictly growing, over restarts too
	Offset int64  // hint where it stands in its file; 0 when not known
}

// OpenEntries knows which lines are open, and where in the journal each was reserved: about 130
// bytes for each, since the lines themselves stay there. It is fed the lines in the
// order of the journal. The zero Book is empty and ready. It belongs to one goroutine.
type OpenEntries struct {
	open  map[uuid.UUID]int // number of the entry
	order []entry           // as they were reserved; the first has the number base
	base  int
	gone  int // entries at the front of order that count no more
}

type entry struct {
	offset Offset
	id     uuid.UUID
	closed bool
}

// Apply takes in the line that stands at a place in the journal. A reserved line opens,
// any other closes the one of its id; a copy of an open line takes its place. was says
// whether the line was open. A line may be fed again. ErrMalformed when its id is no UUID
// or it has no state.
func (b *OpenEntries) Apply(offset Offset, l *Entry) (was bool, err error) {
	id, err := uuid.Parse(l.ID)
	if err != nil || l.State.String() == "" {
		return false, fmt.Errorf("entry %.40q in state %d: %w", l.ID, l.State, ErrMalformed)
	}
	number, was := b.open[id]
	if was && (l.State.Closes() || l.CopyOf != 0) {
		b.order[number-b.base].closed = true
		delete(b.open, id)
	}
	if l.State == Reserved && (!was || l.CopyOf != 0) {
		if b.open == nil {
			b.open = map[uuid.UUID]int{}
		}
		b.open[id] = b.base + len(b.order)
		b.order = append(b.order, entry{offset: offset, id: id})
	}
	b.closeEntry()
	return was, nil
}

// Has reports whether the line of an id is open.
func (b *OpenEntries) Has(id string) bool {
	u, err := uuid.Parse(id)
	_, ok := b.open[u]
	return ok && err == nil
}

// Len is the number of open lines.
func (b *OpenEntries) Len() int { return len(b.open) }

// Open gives the places of the open lines, in their order. The book must not be changed
// meanwhile.
func (b *OpenEntries) Open() iter.Seq[Offset] {
	return func(yield func(Offset) bool) {
		for i := range b.order[b.gone:] {
			if e := &b.order[b.gone+i]; !e.closed && !yield(e.offset) {
				return
			}
		}
	}
}

// Oldest is the place of the open line that was reserved first; false when none is open.
// Whoever wants to read the open lines again needs the journal from there on.
func (b *OpenEntries) Oldest() (offset Offset, ok bool) {
	if b.gone == len(b.order) {
		return Offset{}, false
	}
	return b.order[b.gone].offset, true
}

// closeEntry drops the entries of closed lines from the front of order, and all of them once
// they are the greater part: one line may be open for hours while others come and go.
func (b *OpenEntries) closeEntry() {
	for b.gone < len(b.order) && b.order[b.gone].closed {
		b.gone++
	}
	if b.gone > 1024 && 2*b.gone > len(b.order) {
		b.order, b.base, b.gone = slices.Delete(b.order, 0, b.gone), b.base+b.gone, 0
	}
	if left := len(b.order) - b.gone; left <= 1024 || left <= 2*len(b.open) {
		return
	}
	b.base += len(b.order)
	b.order = slices.DeleteFunc(b.order[b.gone:], func(e entry) bool { return e.closed })
	b.gone = 0
	for i := range b.order {
		b.open[b.order[i].id] = b.base + i
	}
}
