package journal

// Padding fills the rest of a page, so that the next frame begins in a page of its own:
//
//	word 0        size of the padding, the header included, and the check of the
//	              complement of the next frame's number in the upper half
//	word 1        the next frame's number
//	              whatever was there
//
// It is made before a file is written to the disk. The kernel locks the pages that it is
// about to write, for as long as the disk takes to accept them, and an entry that went to
// one of them would wait, with all that come behind it.
const padHeader = 16

// pad makes the writer go on in another page than those that were written to. Callers
// hold Journal.mu.
func (s *segment) pad() {
	gap := -s.used & (pageBytes - 1)
	if gap == 0 || s.first == s.next {
		return
	}
	if gap < padHeader {
		gap += pageBytes
	}
	if s.used+gap > int64(len(s.data)) {
		return
	}
	s.word(s.used + 8).Store(s.next)
	s.word(s.used).Store(check(^s.next, int(gap)) | uint64(gap))
	s.used += gap
}

// past is the offset behind the padding that stands at an offset before the frame with
// number seq, 0 for any; the offset itself when none does.
func (s *segment) past(offset int64, seq uint64) int64 {
	if offset < fileHeader || offset+padHeader > int64(len(s.data)) {
		return offset
	}
	w, next := s.word(offset).Load(), s.word(offset+8).Load()
	size := int64(uint32(w))
	if size < padHeader || size%8 != 0 || offset+size > int64(len(s.data)) || w>>32<<32 != check(^next, int(size)) || seq != 0 && next != seq {
		return offset
	}
	return offset + size
}
