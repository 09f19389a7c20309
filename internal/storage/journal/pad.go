package journal

// Padding fills the rest of a unit, so that the next frame begins in a unit of its own:
//
//	word 0        size of the padding, the header included, and the check of the
//	              complement of the next frame's number in the upper half
//	word 1        the next frame's number
//	              whatever was there
//
// It is added before a file is written to disk. The kernel locks the pages that it is about
// to write until the disk accepts them. An entry in one of them would wait, and all later
// entries too.
const padHeader = 16

// unitBytes is the size that the kernel caches, maps and writes as one unit: files are filled
// in writes of this size (allocate.go). Larger units cost less (of one page each, ready to be
// written and written to the disk, 64 MB took some 110 ms of processor time, of this size 60,
// reused 50 and 25; ext4, Linux 6.18, 2026-11-23), but waste more at each write to the disk.
const unitBytes = 16 << 10

// pad makes the writer continue in a unit that was not written to yet. Callers hold
// segmentSet.mu.
func (s *segment) pad() {
	gap := -s.used & (unitBytes - 1)
	if gap == 0 || s.first == s.next {
		return
	}
	if gap < padHeader {
		gap += unitBytes
	}
	if s.used+gap > int64(len(s.data)) {
		return
	}
	s.atomicUint64(s.used + 8).Store(s.next)
	s.atomicUint64(s.used).Store(check(^s.next, int(gap)) | uint64(gap))
	s.used += gap
}

// past returns the offset after the padding at an offset before the frame with number seq, 0
// for any, or after the corrupt range there. It returns the offset itself if there is neither.
func (s *segment) past(offset int64, seq uint64) int64 {
	for _, h := range s.holes {
		if h.from == offset {
			return h.to
		}
	}
	if offset < fileHeader || offset+padHeader > int64(len(s.data)) {
		return offset
	}
	w, next := s.atomicUint64(offset).Load(), s.atomicUint64(offset+8).Load()
	size := int64(uint32(w))
	if size < padHeader || size%8 != 0 || offset+size > int64(len(s.data)) || w>>32<<32 != check(^next, int(size)) || seq != 0 && next != seq {
		return offset
	}
	return offset + size
}
