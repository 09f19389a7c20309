package wire

import (
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
)

// MemoryMax is the size up to which a Spool stays in memory: 2 MiB, so that a usual
// recording of speech does. Beyond it, and where too many Spools are large already,
// the bytes go to an unnamed file, so that memory does not grow with the bodies.
const MemoryMax = 2 << 20

const chunk = 64 << 10

// ErrTooLarge is returned by ReadFrom when the limit is passed.
var ErrTooLarge = errors.New("wire: body exceeds the limit")

// Spool collects a body: in memory while it is small, in an unnamed file of dir
// when it is not. It belongs to one goroutine until it is complete; then what Bytes and
// Payload gave may be read by several, though Payload.WriteTo only by one at a time.
// Close gives everything back.
type Spool struct {
	dir    string
	buf    []byte
	pooled *[]byte // the small buffer that buf lies in
	large  *[]byte // the large one that it moved to
	file   *os.File
	mapped []byte
	size   int64
}

// unannounced is the room that a body without a length begins with, so that a usual one need
// not move.
const unannounced = 4 << 10

// NewSpool makes an empty spool whose file, if it comes to that, lies in dir.
func NewSpool(dir string) *Spool {
	s := new(Spool)
	s.Open(dir)
	return s
}

// Open makes a Spool that is zero, or was closed, an empty one whose file, if it comes
// to that, lies in dir.
func (s *Spool) Open(dir string) { *s = Spool{dir: dir} }

// Len is the number of bytes so far.
func (s *Spool) Len() int64 { return s.size }

// Write appends p. It fails only when the file cannot be written.
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

// reserve makes room for n bytes: beyond a chunk at once all of MemoryMax,
// because growing step by step costs more than it saves. It reports false when so
// much must go to a file.
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

// largeMax is how many Spools may be large in memory at a time: 64 MiB in all.
const largeMax = 32

// larges are buffers for bodies that are not small but stay in memory.
var larges = bufferPool{free: sync.Pool{New: func() any { b := make([]byte, 0, MemoryMax+1); return &b }}}

// bufferPool is a pool that gives out largeMax buffers at most.
type bufferPool struct {
	free sync.Pool
	out  atomic.Int32
}

// take returns a buffer, nil when too many are out.
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

// Fill reads r to its end, at most limit bytes; more is ErrTooLarge. Hint is the
// announced length, -1 when there is none.
func (s *Spool) Fill(r io.Reader, hint, limit int64) error {
	if hint > limit {
		return ErrTooLarge
	}
	switch {
	case hint < 0:
		s.reserve(unannounced)
	case hint < MemoryMax:
		s.reserve(int(hint) + 1) // one more than announced, so that the end shows
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

// grow makes room: a larger buffer while in memory, a chunk into the file after.
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

// unnamed makes a file that no name leads to, so that a crash leaves nothing. Where
// the file system cannot make one without a name, the name is taken away at once.
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

// Bytes returns everything as one slice, valid until Close. A spooled file is
// mapped, so that the bytes need not fit the heap.
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

// Payload is the whole spool as a body to send, valid until Close.
func (s *Spool) Payload() Payload { return s.Slice(0, s.size) }

// Slice is n bytes from off as a body to send, valid until Close.
func (s *Spool) Slice(off, n int64) Payload {
	if n == 0 {
		return Payload{}
	}
	if s.file == nil {
		return Bytes(s.buf[off : off+n])
	}
	return Payload{segs: []segment{{file: s.file, off: off, n: n}}, size: n}
}

// Close frees the buffer or the file. The slices and payloads given out are dead
// after it.
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
