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

// segment is one mapped file. Who holds a reference may use data; the list of the
// journal holds one.
type segment struct {
	number uint64
	path   string
	data   []byte // the whole file
	live   bool   // made by this process: frames that were begun will be finished
	refs   atomic.Int32
	salt   uint32         // of the checks of frames; set before the first one
	begin  int64          // offset of the first record
	holes  []corruptRange // what recovery passed over, in order

	// Guarded by Journal.mu.
	first         uint64 // sequence number of the first record
	next          uint64 // of the record behind the last
	used          int64  // bytes, the file header included
	from          int64  // offset before which all is consumed
	fromSeq       uint64 // number of the entry there, 0 for the first record
	prefaulted    int64  // bytes from the start whose pages were brought in for writing
	needsPrefault bool   // more were asked for
	sealed        bool   // no record will be added
	durable       bool   // wholly on the disk
}

// corruptRange is a part of a file in which no entry can be read, though one stands behind it.
type corruptRange struct {
	from, to int64
	missing  uint64 // entries, as far as numbers tell
}

const extension = ".seg"

func segmentPath(dir string, number uint64) string {
	return filepath.Join(dir, fmt.Sprintf("%016d%s", number, extension))
}

// createSegment makes a file whose blocks are all reserved: a mapped page without
// a block behind it would end the process when the disk is full.
func createSegment(dir string, number uint64, size int64, prefault bool) (*segment, error) {
	path := segmentPath(dir, number)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("create segment: %w", err)
	}
	s := &segment{number: number, path: path, live: true, begin: fileHeader, from: fileHeader, used: fileHeader}
	if err = allocate(f, size, prefault); err == nil {
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

// openSegment maps a file of an earlier run and finds its last record. A segment
// that never had records has next 0, and so has a file of zeros alone, which the
// process ended over before it was one; where all of them are consumed first is equal to
// next. The error is errNoSegment for a file that was never one and holds something.
func openSegment(path string, number uint64) (*segment, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open segment: %w", err)
	}
	defer func() { _ = f.Close() }() // read only: nothing to lose
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

// since is the word of the file header that says which record is the first.
func (s *segment) since() *atomic.Uint64 { return s.atomicUint64(8) }

// consumed is the word of the file header that says before which offset all is.
func (s *segment) consumed() *atomic.Uint64 { return s.atomicUint64(16) }

// consumedSequence is the word of the file header that says which number stands at consumed.
func (s *segment) consumedSequence() *atomic.Uint64 { return s.atomicUint64(32) }

// run is the word of the file header that says with which number the run began that wrote
// the file.
func (s *segment) run() *atomic.Uint64 { return s.atomicUint64(24) }

// start makes an empty segment ready for records of a run from seq on. Callers hold
// Journal.mu.
func (s *segment) start(seq, run uint64) {
	s.since().Store(seq)
	s.run().Store(run)
	s.salt, s.first, s.next = uint32(seq), seq, seq
}

// recover walks the frames up to the first place behind which none is: the end, or a torn
// one. Where all is consumed the file still tells up to where numbers are used. It may be
// begun anew.
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

// pass goes on at a frame behind a fault.
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

// seek finds the first whole entry in [from, to) that is numbered seq or higher. What an
// earlier use of the file left has lower numbers, and checks with another salt.
func (s *segment) seek(from, to int64, seq uint64) (frame, bool) {
	for ; from < to; from += 8 {
		if f, ok := frameAt(s, from); ok && f.seq >= seq && f.atomicUint64(2).Load() == f.completeMark() {
			return f, true
		}
	}
	return frame{}, false
}

// setNextSequence has the next record of a file in which none is left have a number.
func (s *segment) setNextSequence(next uint64) {
	if s.next == 0 {
		s.first, s.next = next, next
	}
}

// opens reports whether a record may be the first of a segment whose header says since.
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

// release gives up one reference; the last one unmaps. An error of munmap could
// only mean a wrong address, and there is nothing to do about it.
func (s *segment) release() {
	if s.refs.Add(-1) == 0 && s.data != nil {
		_ = unix.Munmap(s.data)
		s.data = nil
	}
}

// flush writes the pages with the records that a view has behind what is consumed to the
// disk, and that the file begins there. Before, it lets go of the memory: the kernel keeps
// the pages cached, they no longer count as ours, and writing those that nobody has mapped
// spares an interrupt of all cores for each of them. What is consumed needs no disk.
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

// forget lets go of the memory of the first n bytes, whole pages.
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

// pageUp is the end of the page that byte n-1 is in, limit at most.
func pageUp(n int64, limit int) int64 {
	return min((n+pageBytes-1)&^(pageBytes-1), int64(limit))
}
