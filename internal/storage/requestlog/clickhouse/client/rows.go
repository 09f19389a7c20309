package client

import (
	"encoding/binary"
	"math"
	"time"
)

// Rows writes rows in the format RowBinary, value by value in the order of the columns. Its zero
// value is ready to use; it grows as needed.
type Rows struct {
	b []byte
	n int
}

// Bytes returns the rows written so far; the slice is valid until the next call.
func (r *Rows) Bytes() []byte { return r.b }

// Reset removes all rows and retains the buffer, unless that is large.
func (r *Rows) Reset() {
	if cap(r.b) > maxCachedBytes {
		r.b = nil
	}
	r.b, r.n = r.b[:0], 0
}

// maxCachedBytes is the maximum size of a retained buffer.
const maxCachedBytes = 16 << 20

// Len returns the number of rows.
func (r *Rows) Len() int { return r.n }

// End ends a row.
func (r *Rows) End() { r.n++ }

// Text writes a String, or a LowCardinality one.
func (r *Rows) Text(v string) {
	v = Valid(v)
	r.b = binary.AppendUvarint(r.b, uint64(len(v)))
	r.b = append(r.b, v...)
}

// Int64 writes an Int64.
func (r *Rows) Int64(v int64) { r.b = binary.LittleEndian.AppendUint64(r.b, uint64(v)) }

// Uint64 writes a UInt64.
func (r *Rows) Uint64(v uint64) { r.b = binary.LittleEndian.AppendUint64(r.b, v) }

// Int32 writes an Int32.
func (r *Rows) Int32(v int32) { r.b = binary.LittleEndian.AppendUint32(r.b, uint32(v)) }

// Uint32 writes a UInt32.
func (r *Rows) Uint32(v uint32) { r.b = binary.LittleEndian.AppendUint32(r.b, v) }

// Float64 writes a Float64.
func (r *Rows) Float64(v float64) { r.Uint64(math.Float64bits(v)) }

// Bool writes a Bool.
func (r *Rows) Bool(v bool) {
	if v {
		r.b = append(r.b, 1)
	} else {
		r.b = append(r.b, 0)
	}
}

// Time writes a DateTime64(6).
func (r *Rows) Time(v time.Time) { r.Int64(Micros(v)) }

// Null begins a value of a Nullable column: the value follows, unless none is true.
func (r *Rows) Null(none bool) { r.Bool(none) }

// Texts writes a Map(String, String).
func (r *Rows) Texts(m map[string]string) {
	r.b = binary.AppendUvarint(r.b, uint64(len(m)))
	for k, v := range m {
		r.Text(k)
		r.Text(v)
	}
}

// The first and last microsecond that a row can contain.
var (
	first = time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()
	last  = time.Date(2299, 12, 31, 23, 59, 59, 999999000, time.UTC).UnixMicro()
)

// Micros returns a time in microseconds since 1970 as a row stores it. A time outside the range
// of a DateTime64 is clamped.
func Micros(v time.Time) int64 {
	switch {
	case v.Year() < 1900:
		return first
	case v.Year() > 2299:
		return last
	}
	return v.UnixMicro()
}
