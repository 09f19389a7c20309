package dataplane

import "sluice/internal/wire"

// capture keeps the beginning of what passes by. Its rooms are lent: free gives them back,
// and nothing of them may be used any more then. It takes one room after another, because
// streams that moved to larger ones would leave those behind that they came from, all at
// about the same time. Zero but for max is ready.
type capture struct {
	size int64 // of all that passed by
	max  int
	held int       // bytes of it that are kept
	full []*[]byte // the rooms with the first of them
	last *[]byte   // the room with the others, nil before there are any
	used int       // bytes in it
}

// take notes a piece.
func (c *capture) take(p []byte) {
	c.size += int64(len(p))
	for p = p[:min(len(p), max(0, c.max-c.held))]; len(p) > 0; {
		if c.last == nil || c.used == len(*c.last) {
			c.extend(len(p))
		}
		n := copy((*c.last)[c.used:], p)
		c.used, c.held, p = c.used+n, c.held+n, p[n:]
	}
}

// extend makes place for n bytes: so that a long answer has few rooms, and little of them
// unused.
func (c *capture) extend(n int) {
	switch {
	case c.last == nil:
		c.last = wire.GetBuffer(n)
	case n > c.held: // it costs less to move what there is now than all of it later
		c.join(c.held + n)
	default:
		c.full = append(c.full, c.last)
		c.last, c.used = wire.GetBuffer(max(n, c.held/4)), 0
	}
}

// bytes is what was kept, in one piece, until more is taken.
func (c *capture) bytes() []byte {
	if len(c.full) > 0 {
		c.join(c.held)
	}
	if c.last == nil {
		return nil
	}
	return (*c.last)[:c.used]
}

// join moves what was kept to one room for at least n bytes.
func (c *capture) join(n int) {
	full := wire.GetBuffer(n)
	data := (*full)[:0]
	for _, buf := range c.full {
		data = append(data, *buf...)
	}
	data = append(data, (*c.last)[:c.used]...)
	c.free()
	c.last, c.used, c.held = full, len(data), len(data)
}

// isComplete reports whether all that passed by was kept.
func (c *capture) isComplete() bool { return c.size == int64(c.held) }

// free gives the rooms back.
func (c *capture) free() {
	for _, buf := range c.full {
		wire.PutBuffer(buf)
	}
	if c.last != nil {
		wire.PutBuffer(c.last)
	}
	c.full, c.last, c.used, c.held = nil, nil, 0, 0
}
