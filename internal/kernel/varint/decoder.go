package varint

import (
	"encoding/binary"
	"fmt"
)

// Decoder walks what was written. The first fault sticks: every later read is empty, so
// callers look at Err once, at the end. It belongs to one goroutine.
type Decoder struct {
	Rest []byte // what is not read yet
	Err  error  // wraps Malformed
	// Malformed is what a caller knows a broken entry by; it is set before the first read.
	Malformed error
}

// Fail notes a fault in what, unless there was one before.
func (d *Decoder) Fail(what string) {
	if d.Err == nil {
		d.Err = fmt.Errorf("%s: %w", what, d.Malformed)
	}
	d.Rest = nil
}

// Byte takes one byte.
func (d *Decoder) Byte() byte {
	if len(d.Rest) == 0 {
		d.Fail("short")
		return 0
	}
	b := d.Rest[0]
	d.Rest = d.Rest[1:]
	return b
}

// Uvarint takes one number.
func (d *Decoder) Uvarint() uint64 {
	v, n := short(d.Rest)
	if n == 0 {
		v, n = binary.Uvarint(d.Rest)
	}
	if n <= 0 {
		d.Fail("number")
		return 0
	}
	d.Rest = d.Rest[n:]
	return v
}

// short is the number that b begins with where that is one byte, as most are, and 1; else
// nothing. Unlike binary.Uvarint it becomes a part of its callers.
func short(b []byte) (v uint64, n int) {
	if len(b) == 0 || b[0] >= 1<<7 {
		return 0, 0
	}
	return uint64(b[0]), 1
}

// Bytes takes n bytes without copying; nil for none.
func (d *Decoder) Bytes(n uint64) []byte {
	if n > uint64(len(d.Rest)) {
		d.Fail("length")
		return nil
	}
	if n == 0 {
		return nil
	}
	b := d.Rest[:n:n]
	d.Rest = d.Rest[n:]
	return b
}

// Skip passes over n bytes.
func (d *Decoder) Skip(n uint64) { d.Bytes(n) }

// Numbers takes a count byte and that many numbers, and fills into with as many of them
// as it holds.
func (d *Decoder) Numbers(into []uint64) {
	count := int(d.Byte())
	rest := d.Rest // in a register: these are the most of what an entry has
	for i := range count {
		v, n := short(rest)
		if n == 0 {
			v, n = binary.Uvarint(rest)
		}
		if n <= 0 {
			d.Fail("number")
			return
		}
		rest = rest[n:]
		if i < len(into) {
			into[i] = v
		}
	}
	d.Rest = rest
}

// Lengths takes a count byte and that many lengths of texts, fills into with those of the
// known ones and returns the sum of those that a newer writer added.
func (d *Decoder) Lengths(into []uint64) (extra uint64) {
	count := int(d.Byte())
	rest := d.Rest
	for i := range count {
		v, n := short(rest)
		if n == 0 {
			v, n = binary.Uvarint(rest)
		}
		switch rest = rest[max(n, 0):]; {
		case n <= 0 || v > uint64(len(rest)): // also keeps sums from overflowing
			d.Fail("length")
			return 0
		case i < len(into):
			into[i] = v
		default:
			extra += v
		}
	}
	d.Rest = rest
	return extra
}
