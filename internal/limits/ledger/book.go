package ledger

import (
	"fmt"
	"iter"
	"slices"

	"github.com/google/uuid"
)

// Offset is the position of an entry in the journal. It has the shape of record.Position.
type Offset struct {
	Seq    uint64 // strictly increasing, across restarts too
	Offset int64  // hint for the position in its file; 0 if not known
}

// OpenEntries records which entries are open, and where in the journal each was reserved. It
// uses about 130 bytes for each, since the entries themselves remain in the journal. Apply
// must get the entries in journal order. The zero OpenEntries is empty and ready to use. It
// belongs to one goroutine.
type OpenEntries struct {
	open  map[uuid.UUID]int // number of the entry
	order []entry           // in the order of reservation; the first has the number base
	base  int
	gone  int // closed entries at the front of order
}

type entry struct {
	offset Offset
	id     uuid.UUID
	closed bool
}

// Apply processes the entry at an offset of the journal. A reserved entry opens, any other
// state closes the entry of its id, and a copy of an open entry replaces it. was reports
// whether the entry was open. The same entry may be applied again. The error is ErrMalformed
// if its id is not a UUID or its state is unknown.
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

// Has reports whether the entry with an id is open.
func (b *OpenEntries) Has(id string) bool {
	u, err := uuid.Parse(id)
	_, ok := b.open[u]
	return ok && err == nil
}

// Len returns the number of open entries.
func (b *OpenEntries) Len() int { return len(b.open) }

// Open yields the offsets of the open entries, in their order. OpenEntries must not change
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

// Oldest returns the offset of the open entry that was reserved first; false if none is open.
// To read the open entries again, the journal is needed from that offset on.
func (b *OpenEntries) Oldest() (offset Offset, ok bool) {
	if b.gone == len(b.order) {
		return Offset{}, false
	}
	return b.order[b.gone].offset, true
}

// closeEntry removes closed entries from the front of order. It removes all closed entries
// once they are the majority: one entry may be open for hours while others open and close.
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
