package record

import (
	"strings"

	"sluice/internal/kernel/varint"
)

// decoder reads the stored form of an attempt.
type decoder struct{ varint.Decoder }

func newDecoder(src []byte) decoder {
	return decoder{varint.Decoder{Rest: src, Malformed: errMalformed}}
}

// metadata reads the pairs. It returns nil if there are none, and before if they are equal to
// it.
func (d *decoder) metadata(before map[string]string) map[string]string {
	n := d.Uvarint()
	if n > uint64(len(d.Rest))/2 { // a pair has at least two length bytes
		d.Fail("metadata")
	}
	if n == 0 || d.Err != nil {
		return nil
	}
	if uint64(len(before)) == n {
		next := *d
		if next.same(before) {
			d.Rest = next.Rest
			return before
		}
	}
	m := make(map[string]string, n)
	for range n {
		k, v := d.pair()
		m[string(k)] = string(v)
		if d.Err != nil {
			return nil
		}
	}
	return m
}

// pair reads one pair without copying it.
func (d *decoder) pair() (key, value []byte) {
	k, v := d.Uvarint(), d.Uvarint()
	key = d.Bytes(k)
	return key, d.Bytes(v)
}

// skipMetadata skips the pairs.
func (d *decoder) skipMetadata() {
	for n := d.Uvarint(); n > 0 && d.Err == nil; n-- {
		d.pair()
	}
}

// same reports whether the following pairs are equal to m. Writers never write a key twice.
func (d *decoder) same(m map[string]string) bool {
	for range m {
		k, v := d.pair()
		if have, ok := m[string(k)]; !ok || have != string(v) || d.Err != nil {
			return false
		}
	}
	return true
}

// texts makes one string of all text bytes that differ from before and slices it: one
// allocation for a record instead of two dozen.
func (d *decoder) texts(into *texts, lens *[len(texts{})]uint64, before *[len(texts{})]string) {
	var total uint64
	for _, n := range lens {
		if n > uint64(len(d.Rest)) {
			d.Fail("text")
			return
		}
		total += n
	}
	all := d.Bytes(total)
	if d.Err != nil {
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
