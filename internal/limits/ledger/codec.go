package ledger

import (
	"fmt"

	"sluice/internal/kernel/varint"
)

// The stored form of an Entry:
//
//	version      1 byte that no log record begins with: L for an entry with charges, S for
//	             one with a set
//	numbers      count byte, then that many unsigned varints
//	texts        count byte, then the length of each as a varint
//	text bytes   end to end
//	charges      count varint, then for each three lengths, the units and the bytes
//	costs        a bit for each charge, which is set if it counts nano-dollars; absent in
//	             entries of older programs
//
// Instead of charges and costs an entry with a set contains
//
//	set          length varint, then the stored form of the set
//	amounts      three varints: nano-dollars, tokens, calls
//
// New elements are appended to the lists, as in log records.
const (
	codecVersion = 'L'
	setVersion   = 'S'
)

// Stored reports whether a journal entry is a ledger entry, judging by its first byte.
func Stored(b []byte) bool { return len(b) > 0 && (b[0] == codecVersion || b[0] == setVersion) }

type (
	numbers [5]uint64
	texts   [11]*string
)

// numbers lists the numeric fields in their stored order. New ones go last.
func (l *Entry) numbers() numbers {
	var flags uint64
	if l.Unpriced {
		flags = 1
	}
	return numbers{uint64(l.State), varint.Nanos(l.RecordedAt), uint64(l.Amount), flags, l.CopyOf}
}

func (l *Entry) setNumbers(n *numbers) {
	l.State, l.RecordedAt, l.Amount, l.Unpriced = State(n[0]), varint.Time(n[1]), int64(n[2]), n[3]&1 != 0
	l.CopyOf = n[4]
}

// texts lists the string fields in their stored order. New ones go last.
func (l *Entry) texts() texts {
	return texts{&l.ID, &l.RequestID, &l.OrgID, &l.WorkspaceID, &l.KeyID, &l.Provider, &l.ProviderID, &l.Model, (*string)(&l.Endpoint), &l.ReplayOf, &l.TraceID}
}

func (c *Charge) texts() [3]*string { return [3]*string{&c.Subject, &c.Entry, &c.ValueKey} }

// EncodedSize returns the number of bytes that AppendTo writes.
func (l *Entry) EncodedSize() int {
	n, s := l.numbers(), l.texts()
	size := 1 + varint.ListsSize(n[:], s[:])
	if l.Set != nil {
		size += varint.TextSize(l.Set.stored)
		for _, units := range l.Amounts {
			size += varint.Size(uint64(units))
		}
		return size
	}
	size += varint.Size(uint64(len(l.Charges)))
	for i := range l.Charges {
		c := &l.Charges[i]
		size += varint.TextSize(c.Subject) + varint.TextSize(c.Entry) + varint.TextSize(c.ValueKey) + varint.Size(uint64(c.Units))
	}
	return size + costBytes(len(l.Charges))
}

// costBytes returns the number of bytes of the cost bits of that many charges.
func costBytes(charges int) int { return (charges + 7) / 8 }

// AppendTo appends the stored form of l to dst. It does not allocate if dst has capacity for
// EncodedSize bytes. Times have nanosecond precision and are decoded in UTC.
func (l *Entry) AppendTo(dst []byte) []byte {
	n, s := l.numbers(), l.texts()
	if l.Set != nil {
		dst = varint.AppendTexts(varint.AppendLists(append(dst, setVersion), n[:], s[:]), s[:])
		dst = append(varint.Append(dst, uint64(len(l.Set.stored))), l.Set.stored...)
		for _, units := range l.Amounts {
			dst = varint.Append(dst, uint64(units))
		}
		return dst
	}
	dst = varint.AppendLists(append(dst, codecVersion), n[:], s[:])
	dst = varint.AppendTexts(dst, s[:])
	dst = varint.Append(dst, uint64(len(l.Charges)))
	for i := range l.Charges {
		dst = l.Charges[i].appendTo(dst)
	}
	return appendCosts(dst, l.Charges)
}

func appendCosts(dst []byte, charges []Charge) []byte {
	var bits byte
	for i := range charges {
		if charges[i].Cost {
			bits |= 1 << (i % 8)
		}
		if i%8 == 7 || i == len(charges)-1 {
			dst, bits = append(dst, bits), 0
		}
	}
	return dst
}

func (c *Charge) appendTo(dst []byte) []byte {
	for _, n := range [...]int{len(c.Subject), len(c.Entry), len(c.ValueKey)} {
		dst = varint.Append(dst, uint64(n))
	}
	dst = varint.Append(dst, uint64(c.Units))
	dst = append(dst, c.Subject...)
	dst = append(dst, c.Entry...)
	return append(dst, c.ValueKey...)
}

// Decode reads the stored form into l and overwrites it. Strings are copied from src, but
// strings equal to the previous ones in l are shared with them, and the capacity of Charges is
// reused. Decoding one entry after another into the same Entry is therefore efficient; each is
// valid until the next Decode. The error wraps ErrMalformed; l is then partly filled.
func (l *Entry) Decode(src []byte) error { return l.decode(src, true) }

// Skim decodes only what totals need: ID, State, RecordedAt, Amount, Unpriced, CopyOf and,
// unless the entry is reserved, the Charges or the Set and Amounts. The other fields are
// empty.
func (l *Entry) Skim(src []byte) error { return l.decode(src, false) }

func (l *Entry) decode(src []byte, complete bool) error {
	before, charges := *l, l.Charges
	*l = Entry{Known: before.Known}
	d := newDecoder(src)
	v := d.Byte()
	if d.Err == nil && v != codecVersion && v != setVersion {
		return fmt.Errorf("version %d: %w", v, ErrMalformed)
	}
	var n numbers
	d.Numbers(n[:])
	l.setNumbers(&n)
	var lens [len(texts{})]uint64
	extra := d.Lengths(lens[:])
	was := before.texts()
	for i, t := range l.texts() {
		if complete || t == &l.ID {
			*t = d.text(lens[i], *was[i])
		} else {
			d.Skip(lens[i])
		}
	}
	d.Skip(extra)
	l.Charges = charges[:0:cap(charges)]
	switch {
	case !complete && l.State == Reserved:
	case v == setVersion:
		d.set(l, before.Set)
	default:
		l.Charges = d.charges(charges)
		d.costs(l.Charges)
	}
	return d.Err
}
