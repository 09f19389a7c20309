package ledger

import (
	"slices"

	"sluice/internal/kernel/varint"
)

// decoder reads the stored form of an entry.
type decoder struct{ varint.Decoder }

func newDecoder(src []byte) decoder {
	return decoder{varint.Decoder{Rest: src, Malformed: ErrMalformed}}
}

// text reads n bytes as a string. It returns before if the bytes are equal to it.
func (d *decoder) text(n uint64, before string) string {
	b := d.Bytes(n)
	if string(b) == before {
		return before
	}
	return string(b)
}

// set reads the set and the amounts of an entry. before is the set of the previous entry.
func (d *decoder) set(l *Entry, before *Set) {
	stored := d.Bytes(d.Uvarint())
	for i := range l.Amounts {
		l.Amounts[i] = int64(d.Uvarint())
	}
	if d.Err != nil {
		return
	}
	if before != nil && before.stored == string(stored) {
		l.Set = before
		return
	}
	if l.Set, d.Err = l.Known.find(stored); d.Err != nil {
		d.Rest = nil
	}
}

// charges reads the list of charges into the capacity of before.
func (d *decoder) charges(before []Charge) []Charge {
	n := d.Uvarint()
	if n > uint64(len(d.Rest))/4 { // a charge has at least four bytes
		d.Fail("charges")
	}
	if n == 0 || d.Err != nil {
		return before[:0:cap(before)]
	}
	out := slices.Grow(before[:0], int(n))[:n]
	for i := range out {
		c := &out[i]
		lens := [...]uint64{d.Uvarint(), d.Uvarint(), d.Uvarint()}
		c.Units = int64(d.Uvarint())
		for k, t := range c.texts() {
			*t = d.text(lens[k], *t)
		}
	}
	return out
}

// costs reads which charges count nano-dollars. Entries of older programs do not contain that.
func (d *decoder) costs(charges []Charge) {
	var bits []byte
	if len(d.Rest) > 0 {
		bits = d.Bytes(uint64(costBytes(len(charges))))
	}
	for i := range charges {
		charges[i].Cost = bits != nil && bits[i/8]>>(i%8)&1 == 1
	}
}
