package wire

import (
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
)

// MemoryMax is the size up to which a Spool stays in memory: 2 MiB, enough for a typical
// speech recording. Larger bodies go to an unnamed file, so that memory does not grow with
// them. So do bodies over 64 KiB while largeMax Spools are already large.
const MemoryMax = 2 << 20

const chunk = 64 << 10

// ErrTooLarge is returned by Fill when a body exceeds the limit.
var ErrTooLarge = errors.New("wire: body exceeds the limit")

// Spool collects a body: in memory while it is small, otherwise in an unnamed file in dir.
// It belongs to one goroutine until it is complete. Then several goroutines may read what
// Bytes and Payload returned, but only one at a time may call Payload.WriteTo. Close
// releases the buffers and the file.
type Spool struct {
	dir    string
	buf    []byte
	pooled *[]byte // the small buffer that buf points into
	large  *[]byte // the large buffer that buf moved to
	file   *os.File
	mapped []byte
	size   int64
}

// unannounced is the initial buffer size for a body without a length, so that a typical body
// does not have to be copied.
const unannounced = 4 << 10

// NewSpool returns an empty Spool. If it needs a file, it creates the file in dir.
func NewSpool(dir string) *Spool {
	s := new(Spool)
	s.Open(dir)
	return s
}

// Open makes a zero or closed Spool ready for use, as NewSpool does for a new one.
func (s *Spool) Open(dir string) { *s = Spool{dir: dir} }

// Len returns the number of bytes written so far.
func (s *Spool) Len() int64 { return s.size }

// Write appends p. It fails only when the file cannot be created or written.
func (s *Spool) Write(p []byte) (int, error) {
	if s.file == nil && !s.reserve(len(s.buf)+len(p)) {
		if err := s.spill(); err != nil {
			return 0, err
		}
	}
	if s.file != nil {
		n, err := s.file.Write(p)
		s.size += int64(n)
		return n, err
	}
	s.buf = append(s.buf, p...)
	s.size += int64(len(p))
	return len(p), nil
}

// reserve gives buf a capacity of at least n bytes. Beyond a chunk it takes a buffer of
// MemoryMax at once, because growing in steps costs more than it saves. It returns false
// when the body must go to a file.
func (s *Spool) reserve(n int) bool {
	switch {
	case n <= cap(s.buf):
		return true
	case n <= chunk:
		p := GetBuffer(n)
		s.buf = append((*p)[:0], s.buf...)
		if s.pooled != nil {
			PutBuffer(s.pooled)
		}
		s.pooled = p
		return true
	case n > MemoryMax || s.large != nil:
		return false
	}
	if s.large = larges.take(); s.large == nil {
		return false
	}
	s.buf = append((*s.large)[:0], s.buf...)
	return true
}

// largeMax is the maximum number of Spools with a large buffer at a time: 64 MiB in total.
const largeMax = 32

// larges pools the buffers of bodies over a chunk that stay in memory.
var larges = bufferPool{free: sync.Pool{New: func() any { b := make([]byte, 0, MemoryMax+1); return &b }}}

// bufferPool is a pool with at most largeMax buffers in use at a time.
type bufferPool struct {
	free sync.Pool
	out  atomic.Int32
}

// take returns a buffer, or nil when largeMax buffers are in use.
func (l *bufferPool) take() *[]byte {
	if l.out.Add(1) > largeMax {
		l.out.Add(-1)
		return nil
	}
	return l.free.Get().(*[]byte)
}

func (l *bufferPool) put(b *[]byte) {
	l.out.Add(-1)
	l.free.Put(b)
}

// Fill reads r to its end. It returns ErrTooLarge when r has more than limit bytes or hint
// exceeds limit. hint is the announced length, or -1 when there is none.
func (s *Spool) Fill(r io.Reader, hint, limit int64) error {
	if hint > limit {
		return ErrTooLarge
	}
	switch {
	case hint < 0:
		s.reserve(unannounced)
	case hint < MemoryMax:
		s.reserve(int(hint) + 1) // one more than announced, so that a read can reach the end
	}
	for {
		if s.file == nil && cap(s.buf)-len(s.buf) > 0 {
			n, err := r.Read(s.buf[len(s.buf):cap(s.buf)])
			s.buf, s.size = s.buf[:len(s.buf)+n], s.size+int64(n)
			if done, err := s.after(err, limit); done {
				return err
			}
			continue
		}
		if err := s.grow(r, limit); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
	}
}

// grow gets a larger buffer while the body is in memory. Otherwise it moves the body to the
// file, reads the rest of r into it in chunks and returns io.EOF at the end.
func (s *Spool) grow(r io.Reader, limit int64) error {
	if s.file == nil {
		if s.reserve(len(s.buf) + 1) {
			return nil
		}
		if err := s.spill(); err != nil {
			return err
		}
	}
	b := GetBuffer(chunk)
	defer PutBuffer(b)
	for {
		n, err := r.Read(*b)
		if n > 0 {
			if _, werr := s.file.Write((*b)[:n]); werr != nil {
				return werr
			}
			s.size += int64(n)
		}
		if done, err := s.after(err, limit); done {
			if err == nil {
				return io.EOF
			}
			return err
		}
	}
}

func (s *Spool) after(err error, limit int64) (bool, error) {
	switch {
	case s.size > limit:
		return true, ErrTooLarge
	case errors.Is(err, io.EOF):
		return true, nil
	case err != nil:
		return true, err
	}
	return false, nil
}

func (s *Spool) spill() error {
	f, err := unnamed(s.dir)
	if err != nil {
		return err
	}
	if _, err := f.Write(s.buf); err != nil {
		return errors.Join(err, f.Close())
	}
	s.file = f
	s.release()
	return nil
}

// unnamed creates a file without a name, so that a crash does not leave it on disk. Where
// the file system does not support that, it creates a named file and removes the name at
// once.
func unnamed(dir string) (*os.File, error) {
	if f, err := openTmpfile(dir); err == nil {
		return f, nil
	}
	f, err := os.CreateTemp(dir, "spool-")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Bytes returns the body as one slice, valid until Close. A file is mapped into memory, so
// that the bytes do not use the heap.
func (s *Spool) Bytes() ([]byte, error) {
	if s.file == nil {
		return s.buf, nil
	}
	if s.mapped == nil && s.size > 0 {
		m, err := syscall.Mmap(int(s.file.Fd()), 0, int(s.size), syscall.PROT_READ, syscall.MAP_PRIVATE)
		if err != nil {
			return nil, os.NewSyscallError("mmap", err)
		}
		s.mapped = m
	}
	return s.mapped, nil
}

// Payload returns the body as a Payload, valid until Close.
func (s *Spool) Payload() Payload { return s.Slice(0, s.size) }

// Slice returns n bytes from off as a Payload, valid until Close.
func (s *Spool) Slice(off, n int64) Payload {
	if n == 0 {
		return Payload{}
	}
	if s.file == nil {
		return Bytes(s.buf[off : off+n])
	}
	return Payload{segs: []segment{{file: s.file, off: off, n: n}}, size: n}
}

// Close releases the buffer or the file. Slices and payloads of the Spool must not be used
// afterwards.
func (s *Spool) Close() error {
	s.release()
	var err error
	if s.mapped != nil {
		err = syscall.Munmap(s.mapped)
		s.mapped = nil
	}
	if s.file != nil {
		err = errors.Join(err, s.file.Close())
		s.file = nil
	}
	return err
}

func (s *Spool) release() {
	if s.pooled != nil {
		PutBuffer(s.pooled)
		s.pooled = nil
	}
	if s.large != nil {
		larges.put(s.large)
		s.large = nil
	}
	s.buf = nil
}
