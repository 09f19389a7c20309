package journal

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// segment is one mapped file. Only holders of a reference may use data; the list of
// the journal holds one reference.
type segment struct {
	number uint64
	path   string
	data   []byte // the complete mapped file
	live   bool   // created by this process: its incomplete frames will be completed
	refs   atomic.Int32
	salt   uint32         // salt of the frame checksums; set before the first frame
	begin  int64          // offset of the first record
	holes  []corruptRange // ranges that recovery skipped, in order

	// Guarded by segmentSet.mu.
	first   uint64 // sequence number of the first record
	next    uint64 // sequence number after the last record
	used    int64  // bytes, including the file header
	from    int64  // offset before which everything is consumed
	fromSeq uint64 // sequence number of the entry at from, 0 for the first record
	sealed  bool   // no record will be added
	durable bool   // completely on the disk
}

// corruptRange is a part of a file in which no entry can be read although a later entry can.
type corruptRange struct {
	from, to int64
	missing  uint64 // entries, as far as the sequence numbers show
}

const extension = ".seg"

func segmentPath(dir string, number uint64) string {
	return filepath.Join(dir, fmt.Sprintf("%016d%s", number, extension))
}

// createSegment creates and maps a file and reserves all its blocks. On a full disk,
// a write to a mapped page without a block would end the process.
func createSegment(dir string, number uint64, size int64, fill bool) (*segment, error) {
	path := segmentPath(dir, number)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("create segment: %w", err)
	}
	s := &segment{number: number, path: path, live: true, begin: fileHeader, from: fileHeader, used: fileHeader}
	if err = allocate(f, size, fill); err == nil {
		s.data, err = mapFile(f, size, unix.PROT_READ|unix.PROT_WRITE)
	}
	if err == nil {
		err = readSingly(s.data)
	}
	if err == nil {
		s.refs.Store(1)
		s.atomicUint64(0).Store(fileMagic)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, errors.Join(err, os.Remove(path))
	}
	return s, nil
}

// openSegment maps a file of an earlier run and finds its last record. If the segment
// never had records, next is 0. The same holds for a file that contains only zeros: the
// process ended before it wrote the header. If all records are consumed, first is equal
// to next. For other contents that are not a segment the error is errNoSegment.
func openSegment(path string, number uint64) (*segment, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open segment: %w", err)
	}
	defer func() { _ = f.Close() }() // read only: an error loses no data
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("open segment: %w", err)
	}
	s := &segment{number: number, path: path, sealed: true, begin: fileHeader, from: fileHeader, used: fileHeader}
	if info.Size() < fileHeader {
		return s, nil
	}
	if s.data, err = mapFile(f, info.Size(), unix.PROT_READ); err != nil {
		return nil, err
	}
	s.refs.Store(1)
	var magic uint64
	var blank bool
	s.withFaultRecovery(func() {
		if magic = s.atomicUint64(0).Load(); magic == fileMagic {
			s.recover()
		} else {
			blank = len(bytes.TrimLeft(s.data, "\x00")) == 0
		}
	})
	if magic == fileMagic || blank {
		return s, nil
	}
	s.release()
	return nil, fmt.Errorf("%w: magic %x", errNoSegment, magic)
}

var errNoSegment = errors.New("not a journal segment")

// since returns the header field with the sequence number of the first record.
func (s *segment) since() *atomic.Uint64 { return s.atomicUint64(8) }

// consumed returns the header field with the offset before which everything is consumed.
func (s *segment) consumed() *atomic.Uint64 { return s.atomicUint64(16) }

// consumedSequence returns the header field with the sequence number of the entry at consumed.
func (s *segment) consumedSequence() *atomic.Uint64 { return s.atomicUint64(32) }

// run returns the header field with the first sequence number of the run that wrote the
// file.
func (s *segment) run() *atomic.Uint64 { return s.atomicUint64(24) }

// start prepares an empty segment for records of a run, beginning with seq. Callers hold
// segmentSet.mu.
func (s *segment) start(seq, run uint64) {
	s.since().Store(seq)
	s.run().Store(run)
	s.salt, s.first, s.next = uint32(seq), seq, seq
}

// recover reads the frames until no further frame follows: at the end of the records, or
// at an incomplete frame. If everything is consumed, the header still contains the next
// unused sequence number. withFaultRecovery may call recover again from the start.
func (s *segment) recover() {
	since := s.since().Load()
	s.salt = uint32(since)
	s.begin, s.from, s.used, s.first, s.next, s.holes = fileHeader, fileHeader, fileHeader, 0, 0, nil
	if from := s.consumed().Load(); from > fileHeader && from <= uint64(len(s.data)) && from%8 == 0 {
		s.begin, s.from, s.used = int64(from), int64(from), int64(from)
		defer s.setNextSequence(s.consumedSequence().Load())
	}
	for {
		s.used = s.past(s.used, s.next)
		f, ok := frameAt(s, s.used)
		if !ok || s.next != 0 && f.seq != s.next || s.next == 0 && !s.opens(f.seq, since) {
			if f, ok = s.seek(s.used, int64(len(s.data)), max(s.next, since)); !ok {
				return
			}
			s.pass(f, since)
		}
		if s.next == 0 {
			s.first = f.seq
		}
		s.next = f.seq + 1
		s.used += frameBytes(f.size)
	}
}

// pass records the corrupt range at s.used and continues at f, the frame after it.
func (s *segment) pass(f frame, since uint64) {
	h := corruptRange{from: s.used, to: f.offset}
	switch {
	case s.next != 0:
		h.missing = f.seq - s.next
	case s.begin == fileHeader && since != 0:
		h.missing, s.first = f.seq-since, since
	}
	if s.first == 0 {
		s.first = f.seq
	}
	s.holes, s.used, s.next = append(s.holes, h), f.offset, f.seq
}

// seek finds the first complete entry in [from, to) whose sequence number is at least seq.
// Entries of an earlier use of the file have lower numbers and another salt.
func (s *segment) seek(from, to int64, seq uint64) (frame, bool) {
	for ; from < to; from += 8 {
		if f, ok := frameAt(s, from); ok && f.seq >= seq && f.atomicUint64(2).Load() == f.completeMark() {
			return f, true
		}
	}
	return frame{}, false
}

// setNextSequence sets the sequence number of the next record if the file has no records.
func (s *segment) setNextSequence(next uint64) {
	if s.next == 0 {
		s.first, s.next = next, next
	}
}

// opens reports whether a record may be the first in a segment whose header contains since.
func (s *segment) opens(seq, since uint64) bool {
	return since == 0 || seq == since || s.begin > fileHeader && seq > since
}

func mapFile(f *os.File, size int64, prot int) ([]byte, error) {
	data, err := unix.Mmap(int(f.Fd()), 0, int(size), prot, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map segment: %w", err)
	}
	return data, nil
}

// release drops one reference; the last release unmaps the file. An error of munmap
// could only mean a wrong address and cannot be handled.
func (s *segment) release() {
	if s.refs.Add(-1) == 0 && s.data != nil {
		_ = unix.Munmap(s.data)
		s.data = nil
	}
}

// flush writes the unconsumed records of a view to the disk, and the offset at which they
// begin to the header. Consumed records need no disk write. Before the write, flush unmaps
// the full pages. The kernel keeps them cached, but they no longer count as memory of this
// process. Writing an unmapped page also avoids an interrupt of all cores.
func (s *segment) flush(v view) error {
	from, used := v.from, v.used
	if err := s.forget(used &^ (pageBytes - 1)); err != nil {
		return err
	}
	if from >= used {
		return nil
	}
	s.consumedSequence().Store(v.fromSeq)
	s.consumed().Store(uint64(from))
	first := from &^ (pageBytes - 1)
	if first > 0 {
		if err := s.msync(0, pageBytes); err != nil {
			return err
		}
	}
	return s.msync(first, used)
}

func (s *segment) msync(from, to int64) error {
	if err := unix.Msync(s.data[from:pageUp(to, len(s.data))], unix.MS_SYNC); err != nil {
		return fmt.Errorf("sync segment: %w", err)
	}
	return nil
}

// forget releases the memory of the first n bytes. n is a multiple of the page size.
func (s *segment) forget(n int64) error {
	if n == 0 {
		return nil
	}
	if err := unix.Madvise(s.data[:n], unix.MADV_DONTNEED); err != nil {
		return fmt.Errorf("release pages of segment: %w", err)
	}
	return nil
}

var pageBytes = int64(os.Getpagesize())

// pageUp returns the end of the page that contains byte n-1, at most limit.
func pageUp(n int64, limit int) int64 {
	return min((n+pageBytes-1)&^(pageBytes-1), int64(limit))
}
