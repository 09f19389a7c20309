// Package bodies stores request and response bodies separately from the rows of the log: in files
// of this node (Files) or in an object store that many nodes share (Objects). Bodies are put one
// after another into blocks of about half a megabyte, and each block is compressed as one, so
// that small similar bodies cost little. A Ref, stored with the row of the record, finds them
// again, byte for byte.
//
// Added bodies count only when the caller has stored their Mark. Resume returns to a mark, and
// bodies added then overwrite what followed the mark. So rows and bodies agree after a crash at
// any instant.
//
// Files and objects of a node are numbered in one sequence. Each of the two finds what a node has
// added to the other, and a deployment may change between them.
package bodies

import (
	"errors"
	"math"

	"sluice/internal/domain/record"
)

// The bodies of a record and their header lines, by their index in a Set. A new one goes at the
// end, and into bodyFields.
const (
	Request  = iota // as sent upstream
	Response        // as the upstream returned it
	ClientRequest
	ClientResponse
	RequestHead
	ResponseHead
	ClientRequestHead
	ClientResponseHead
	Reshaped // the client's, as changed by the config
	ReshapedHead
	Parts
)

// Set contains the stored bodies of a record; nil for an absent one.
type Set [Parts][]byte

// FromAttempt returns the bodies of an attempt. It does not copy them.
func FromAttempt(a *record.Attempt) (s Set) {
	for i, b := range bodyFields(a) {
		s[i] = *b
	}
	return s
}

// CopyTo sets the bodies in their attempt.
func (s *Set) CopyTo(a *record.Attempt) {
	for i, b := range bodyFields(a) {
		*b = s[i]
	}
}

// bodyFields returns the fields of an attempt that are stored.
func bodyFields(a *record.Attempt) [Parts]*[]byte {
	return [...]*[]byte{
		&a.Request.Bytes, &a.Response.Bytes, &a.ClientRequest.Bytes, &a.ClientResponse.Bytes,
		&a.Request.Head, &a.Response.Head, &a.ClientRequest.Head, &a.ClientResponse.Head,
		&a.Reshaped.Bytes, &a.Reshaped.Head,
	}
}

// size returns the number of bytes of all bodies.
func (s *Set) size() (n int) {
	for _, b := range s {
		n += len(b)
	}
	return n
}

// Ref refers to the bodies of a record. The zero Ref refers to none. It is comparable.
type Ref struct {
	Node     string // the node that wrote them, "0191f3a0-…"; empty: the node that reads
	Key      string // of an object for one record, whose File is Single
	File     uint32 // number of the file or object, from 1; or Single
	Block    int64  // offset of the block in it
	Offset   uint32 // offset of the request in the block; the response follows it, then the rest
	Request  uint32 // length
	Response uint32 // length
}

// Single is the File of a reference to an object with one record.
const Single = math.MaxUint32

// None reports whether a reference is empty.
func (r *Ref) None() bool { return r.File == 0 }

// Mark is an end position of the appended data. The zero Mark is the beginning.
type Mark struct {
	File uint32
	Size int64
}

// ErrGone is returned by Read for bodies that were deleted.
var ErrGone = errors.New("bodies have expired or were deleted")

// ErrElsewhere is returned by Read for bodies in the files of another node.
var ErrElsewhere = errors.New("bodies are stored on another node")

// ErrUnavailable is returned by Read while the object store with the bodies is unavailable.
var ErrUnavailable = errors.New("the object store is unavailable")

// ErrDamaged is returned by Read for bodies that are damaged.
var ErrDamaged = errors.New("the block is damaged")

// ErrPartial is returned by Scrub if it had to leave a part unchanged: a damaged part, or a block
// that would become larger. Its bytes are deleted with the file.
var ErrPartial = errors.New("cannot rewrite a part without the expired bodies")

// maxBodies is the maximum number of bytes of one record.
const maxBodies = 1 << 30

// Size returns the number of bytes of an attempt's bodies.
func Size(a *record.Attempt) int {
	s := FromAttempt(a)
	return s.size()
}
