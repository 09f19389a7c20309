package record

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// decoder walks the stored form. The first fault sticks: every later read is
// empty, so callers look at err once, at the end.
type decoder struct {
	rest []byte
	err  error
}

func (d *decoder) fail(what string) {
	if d.err == nil {
		d.err = fmt.Errorf("%s: %w", what, errMalformed)
	}
	d.rest = nil
}

func (d *decoder) byte() byte {
	if len(d.rest) == 0 {
		d.fail("short")
		return 0
	}
	b := d.rest[0]
	d.rest = d.rest[1:]
	return b
}

func (d *decoder) uvarint() uint64 {
	if len(d.rest) > 0 && d.rest[0] < 1<<7 { // most are
		v := d.rest[0]
		d.rest = d.rest[1:]
		return uint64(v)
	}
	v, n := binary.Uvarint(d.rest)
	if n <= 0 {
		d.fail("number")
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

// bytes takes n bytes without copying; nil for none.
func (d *decoder) bytes(n uint64) []byte {
	if n > uint64(len(d.rest)) {
		d.fail("length")
		return nil
	}
	if n == 0 {
		return nil
	}
	b := d.rest[:n:n]
	d.rest = d.rest[n:]
	return b
}

func (d *decoder) skip(n uint64) { d.bytes(n) }

// numbers fills into with as many of the counted numbers as it holds.
func (d *decoder) numbers(into []uint64) {
	for i := range int(d.byte()) {
		if v := d.uvarint(); i < len(into) {
			into[i] = v
		}
	}
}

// lengths fills into with the lengths of the known texts and returns the sum of
// those that a newer writer added.
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

// metadata reads the pairs; nil when there are none, before when those are the same.
func (d *decoder) metadata(before map[string]string) map[string]string {
	n := d.uvarint()
	if n > uint64(len(d.rest))/2 { // a pair takes two length bytes at least
		d.fail("metadata")
	}
	if n == 0 || d.err != nil {
		return nil
	}
	if uint64(len(before)) == n {
		ahead := *d
		if ahead.same(before) {
			d.rest = ahead.rest
			return before
		}
	}
	m := make(map[string]string, n)
	for range n {
		k, v := d.pair()
		m[string(k)] = string(v)
		if d.err != nil {
			return nil
		}
	}
	return m
}

// pair reads one pair without copying it.
func (d *decoder) pair() (key, value []byte) {
	k, v := d.uvarint(), d.uvarint()
	key = d.bytes(k)
	return key, d.bytes(v)
}

// skipMetadata passes over the pairs.
func (d *decoder) skipMetadata() {
	for n := d.uvarint(); n > 0 && d.err == nil; n-- {
		d.pair()
	}
}

// same reports whether as many pairs follow as m has, and they are those of m. No
// writer names one twice.
func (d *decoder) same(m map[string]string) bool {
	for range m {
		k, v := d.pair()
		if have, ok := m[string(k)]; !ok || have != string(v) || d.err != nil {
			return false
		}
	}
	return true
}

// texts makes one string of all text bytes that are not as before and slices it: one
// allocation for a record instead of two dozen.
func (d *decoder) texts(into texts, lens *[len(texts{})]uint64, before *[len(texts{})]string) {
	var total uint64
	for _, n := range lens {
		if n > uint64(len(d.rest)) {
			d.fail("text")
			return
		}
		total += n
	}
	all := d.bytes(total)
	if d.err != nil {
		return
	}
	var other [len(texts{})][]byte
	size := 0
	for i, n := range lens {
		text := all[:n]
		all = all[n:]
		if string(text) == before[i] {
			*into[i] = before[i]
		} else {
			other[i] = text
			size += len(text)
		}
	}
	var b strings.Builder
	b.Grow(size)
	for _, text := range other {
		b.Write(text)
	}
	made := b.String()
	for i, text := range other {
		if len(text) > 0 {
			*into[i], made = made[:len(text)], made[len(text):]
		}
	}
}
