// Package varint encodes the entries of the journal: lists of numbers and
// texts, each with its length before it, that only ever grow at their end. So an older
// program passes over what a newer one added, and a newer one finds zeros where an older
// one wrote nothing.
package varint

import (
	"encoding/binary"
	"math/bits"
	"time"
)

// Append appends a number as an unsigned varint: 300 is the bytes AC 02.
func Append(dst []byte, v uint64) []byte {
	if v < 1<<7 { // most are, and need no call
		return append(dst, byte(v))
	}
	return binary.AppendUvarint(dst, v)
}

// Size is the number of bytes that Append adds.
func Size(v uint64) int { return (bits.Len64(v|1) + 6) / 7 }

// TextSize is the number of bytes of a text with its length before it.
func TextSize(s string) int { return Size(uint64(len(s))) + len(s) }

// AppendLists appends a count byte and the numbers, then a count byte and the lengths of
// the texts: what Decoder.Numbers and Decoder.Lengths take. There are 255 of each at the
// most. Nothing is kept of either.
func AppendLists(dst []byte, numbers []uint64, texts []*string) []byte {
	dst = append(dst, byte(len(numbers)))
	for _, v := range numbers {
		dst = Append(dst, v)
	}
	dst = append(dst, byte(len(texts)))
	for _, t := range texts {
		dst = Append(dst, uint64(len(*t)))
	}
	return dst
}

// AppendTexts appends the texts, end to end.
func AppendTexts(dst []byte, texts []*string) []byte {
	for _, t := range texts {
		if len(*t) > 0 { // many are not
			dst = append(dst, *t...)
		}
	}
	return dst
}

// ListsSize is the number of bytes that AppendLists and AppendTexts add.
func ListsSize(numbers []uint64, texts []*string) int {
	size := 2
	for _, v := range numbers {
		size += Size(v)
	}
	for _, t := range texts {
		size += TextSize(*t)
	}
	return size
}

// Nanos is a time as nanoseconds since 1970. The zero time is 0, which keeps it apart
// from the beginning of that year, at which nothing is written.
func Nanos(t time.Time) uint64 {
	if t.IsZero() {
		return 0
	}
	return uint64(t.UnixNano())
}

// Time is the inverse of Nanos, in UTC.
func Time(nanos uint64) time.Time {
	if nanos == 0 {
		return time.Time{}
	}
	return time.Unix(0, int64(nanos)).UTC()
}
