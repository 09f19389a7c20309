package ledger

import (
	"encoding/binary"
	"fmt"
)

// decoder walks the stored form. The first fault sticks: every later read is empty, so
// callers look at err once, at the end.
type decoder struct {
	rest []byte
	err  error
}

func (d *decoder) fail(what string) {
	if d.err == nil {
		d.err = fmt.Errorf("%s: %w", what, ErrMalformed)
	}
	d.rest = nil
}

func (d *decoder) byte() byte {
	b := d.bytes(1)
	if d.err != nil {
		return 0
	}
	return b[0]
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.rest)
	if n <= 0 {
		d.fail("number")
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

// bytes takes n bytes without copying.
func (d *decoder) bytes(n uint64) []byte {
	if n > uint64(len(d.rest)) {
		d.fail("length")
		return nil
	}
	b := d.rest[:n]
	d.rest = d.rest[n:]
	return b
}

// text takes n bytes as a text: before itself when it is the same.
func (d *decoder) text(n uint64, before string) string {
	b := d.bytes(n)
	if string(b) == before {
		return before
	}
	return string(b)
}

// numbers fills into with as many of the counted numbers as it holds.
func (d *decoder) numbers(into []uint64) {
	for i := range int(d.byte()) {
		if v := d.uvarint(); i < len(into) {
			into[i] = v
		}
	}
}

// lengths fills into with the lengths of the known texts and returns the sum of those
// that a newer writer added.
func (d *decoder) lengths(into []uint64) (extra uint64) {
	for i := range int(d.byte()) {
		v := d.uvarint()
		switch {
		case i < len(into):
			into[i] = v
		case v > uint64(len(d.rest)): // also keeps the sum from overflowing
			d.fail("length")
			return 0
		default:
			extra += v
		}
	}
	return extra
}
