// Package bodies keeps request and response bodies apart from the rows of the log: in
// files of this node (Files) or in an object store that many nodes share (Objects).
// Bodies are put end to end into blocks of about half a megabyte and each block is
// compressed as a whole, so that small bodies that resemble each other cost little. A
// Ref, kept with the row of the record, finds them again, byte for byte.
//
// What was added counts only once its Mark has been stored by the caller: Resume goes
// back to a mark, and what is added then takes the place of what lay behind it. So rows
// and bodies agree after a crash at any instant.
//
// Files and objects of a node are numbered in one sequence. What a node has added to one
// of the two is found by the other, and the deployment may change between them.
package bodies

import (
	"errors"
	"math"

	"sluice/internal/record"
)

// The bodies of a record and the header lines that came with them, by their place in a Set.
// A further one goes to the end, and into places.
const (
	Request  = iota // as sent upstream
	Response        // as the upstream answered
	ClientRequest
	ClientResponse
	RequestHead
	ResponseHead
	ClientRequestHead
	ClientResponseHead
	Reshaped // the client's, as the config changed it
	ReshapedHead
	Parts
)

// Set is what is kept of a record; nil where there is nothing.
type Set [Parts][]byte

// FromAttempt are the bodies of an attempt. They are not copied.
func FromAttempt(a *record.Attempt) (s Set) {
	for i, b := range bodyFields(a) {
		s[i] = *b
	}
	return s
}

// CopyTo puts bodies into the attempt that they are of.
func (s *Set) CopyTo(a *record.Attempt) {
	for i, b := range bodyFields(a) {
		*b = s[i]
	}
}

// bodyFields are where an attempt has what is kept.
func bodyFields(a *record.Attempt) [Parts]*[]byte {
	return [...]*[]byte{
		&a.Request.Bytes, &a.Response.Bytes, &a.ClientRequest.Bytes, &a.ClientResponse.Bytes,
		&a.Request.Head, &a.Response.Head, &a.ClientRequest.Head, &a.ClientResponse.Head,
		&a.Reshaped.Bytes, &a.Reshaped.Head,
	}
}

// size is the number of bytes of all.
func (s *Set) size() (n int) {
	for _, b := range s {
		n += len(b)
	}
	return n
}

// Ref says where the bodies of a record are. The zero Ref stands for none. It is
// comparable.
type Ref struct {
	Node     string // the node that wrote them, "0191f3a0-…"; empty: the one that asks
	Key      string // of an object of their own, whose File is Single
	File     uint32 // number of the file or object, from 1; or Single
	Block    int64  // offset of the block in it
	Offset   uint32 // offset of the request in the block; the response follows it, then the rest
	Request  uint32 // length
	Response uint32 // length
}

// Single is the File of a reference to an object for one record.
const Single = math.MaxUint32

// None reports whether a reference is to nothing.
func (r *Ref) None() bool { return r.File == 0 }

// Mark is an end of the appended data. The zero Mark is the beginning.
type Mark struct {
	File uint32
	Size int64
}

// ErrGone is returned by Read for bodies that are no longer kept.
var ErrGone = errors.New("bodies have expired or were deleted")

// ErrElsewhere is returned by Read for bodies that another node keeps in files of its own.
var ErrElsewhere = errors.New("bodies are stored on another node")

// ErrUnavailable is returned by Read while the object store that has the bodies does not serve.
var ErrUnavailable = errors.New("the object store is unavailable")

// ErrDamaged is returned by Read for bodies that are no longer what was written.
var ErrDamaged = errors.New("the block is damaged")

// ErrPartial is returned by Scrub when it did what it could, but left something as it was:
// what is damaged, or a block that would become larger. Its bytes go with the file.
var ErrPartial = errors.New("cannot rewrite a part without the expired bodies")

// maxBodies is the most that one record may hold.
const maxBodies = 1 << 30

// Size is how many bytes an attempt brings.
func Size(a *record.Attempt) int {
	s := FromAttempt(a)
	return s.size()
}
