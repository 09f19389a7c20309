package journal

import (
	"hash/crc32"
	"sync/atomic"
	"unsafe"

	"sluice/internal/domain/record"
)

// A segment file is a header and frames, each at a multiple of eight bytes:
//
//	file header   8 bytes of magic; 8 of the number of the first entry, all ones if
//	              there is none, zero if it may be any (as in files from before reuse
//	              existed); 8 of the offset before which everything is consumed and
//	              may not be on disk, zero for none; 8 of the first number of the run
//	              that wrote it, and 8 of the number of the entry at the offset, zero
//	              if not recorded; 16 of the name of the journal, zeros if not
//	              recorded; zeros up to fileHeader
//	frame         word 0: size of the payload, and its check (with the sequence
//	              number) in the upper half; written when the space is reserved
//	              word 1: sequence number
//	              word 2: state in the upper half, crc32c of the payload, salted with
//	              the number in the file header, in the lower; written last
//	              payload, padded
//	padding       see pad.go
//
// After a crash a reader of a segment can therefore skip a frame that was begun and not
// finished. A zero word 0 is the end. So is a frame whose number does not follow: it was
// there before the file was reused. The salt prevents its last word and payload from
// completing a newer frame of which a power failure left only the first words.
const (
	fileMagic   = 0x31304c4e524a4c53 // "SLJRNL01"
	fileHeader  = 64
	nameAt      = 40
	frameHeader = 24

	stateComplete  = 0x57484f4c << 32 // the payload is there
	stateCancelled = 0x564f4944 << 32 // no payload: skip

	noEntry = 1<<64 - 1 // in the file header: the file contains no entry
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// frameBytes returns the space that a frame with a payload of a size takes.
func frameBytes(size int) int64 { return int64(frameHeader+size+7) &^ 7 }

// frame is the space for one entry. The writer that reserved it fills it once.
type frame struct {
	seg    *segment
	offset int64
	seq    uint64
	size   int
	last   uint64 // word 2, as read by load
	copied []byte // copy of an intact payload that an earlier run wrote
}

func (f frame) atomicUint64(i int64) *atomic.Uint64 { return f.seg.atomicUint64(f.offset + 8*i) }

// payload returns the entry. For a frame of an earlier run it is the copy, nil if it is not
// intact.
func (f frame) payload() []byte {
	if !f.seg.live {
		return f.copied
	}
	return f.remaining()
}

// remaining returns the bytes of the payload in the file.
func (f frame) remaining() []byte {
	start := f.offset + frameHeader
	return f.seg.data[start : start+int64(f.size) : start+int64(f.size)]
}

// position returns the position of the frame.
func (f frame) position() record.Position { return record.Position{Seq: f.seq, Offset: f.offset} }

// next returns the position of the next frame if it is in the same file.
func (f frame) next() record.Position {
	return record.Position{Seq: f.seq + 1, Offset: f.offset + frameBytes(f.size)}
}

// check combines a size and a sequence number in the upper half, so that stray bytes are not
// taken for a frame. It multiplies by two odd constants, because crc32 would allocate.
func check(seq uint64, size int) uint64 {
	mixed := (seq ^ uint64(size)*0xc2b2ae3d27d4eb4f) * 0x9e3779b97f4a7c15
	return mixed >> 32 << 32
}

// begin writes the header without the last word. It clears that word, which may be left from
// an earlier use of the file.
func (f frame) begin() {
	f.atomicUint64(2).Store(0)
	f.atomicUint64(1).Store(f.seq)
	f.atomicUint64(0).Store(check(f.seq, f.size) | uint64(uint32(f.size)))
}

// fill writes the payload and then the word that completes the frame. Even after an error or
// panic the frame gets a final state, because readers wait at a frame without one.
func (f frame) fill(e entry) (ok bool) {
	state := uint64(stateCancelled)
	defer func() {
		f.atomicUint64(2).Store(state)
		f.seg.release()
	}()
	buf := f.remaining()
	if len(e.AppendTo(buf[:0])) != f.size {
		return false
	}
	state = f.completeMark()
	return true
}

// frameAt reads the header at offset. It returns false if there is no frame. The offset must
// be a multiple of eight.
func frameAt(s *segment, offset int64) (frame, bool) {
	if offset < fileHeader || offset+frameHeader > int64(len(s.data)) {
		return frame{}, false
	}
	w := s.atomicUint64(offset).Load()
	f := frame{seg: s, offset: offset, seq: s.atomicUint64(offset + 8).Load(), size: int(uint32(w))}
	ok := w != 0 && w>>32<<32 == check(f.seq, f.size) && offset+frameBytes(f.size) <= int64(len(s.data))
	return f, ok
}

// isLast reports whether a loaded frame has its last word.
func (f frame) isLast() bool { return f.last>>32<<32 == stateComplete || f.isCancelled() }

// isCancelled reports whether a loaded frame was cancelled by its writer.
func (f frame) isCancelled() bool { return f.last>>32<<32 == stateCancelled }

// completeMark returns the last word that matches the payload.
func (f frame) completeMark() uint64 { return f.completeMarkFor(f.remaining()) }

func (f frame) completeMarkFor(payload []byte) uint64 {
	return stateComplete | uint64(crc32.Checksum(payload, castagnoli)^f.seg.salt)
}

// intact reports whether the payload is what was written. For a frame of this process that is
// certain, since no crash came between.
func (f frame) intact() bool { return f.seg.live || f.copied != nil }

// load reads the last word. For a frame of an earlier run it also copies the payload from its
// file, if it is intact.
func (f *frame) load() {
	f.last = f.atomicUint64(2).Load()
	if f.seg.live || f.last>>32<<32 != stateComplete {
		return
	}
	b := append([]byte{}, f.remaining()...)
	if f.last == f.completeMarkFor(b) {
		f.copied = b
	}
}

// atomicUint64 returns the mapped word at a multiple of eight. The mapping is page-aligned, so
// the word is aligned too; sharing it between writers and readers needs atomics.
func (s *segment) atomicUint64(offset int64) *atomic.Uint64 {
	return (*atomic.Uint64)(unsafe.Pointer(&s.data[offset : offset+8][0]))
}
