package bodies

import "io"

// window reads an object in chunks. It serves one call.
type window struct {
	get   func(offset, size int64) ([]byte, error)
	start int64 // of data in the object
	data  []byte
}

var _ io.ReaderAt = (*window)(nil)

// fill reads a chunk in advance.
func (w *window) fill(offset, size int64) (err error) {
	w.start = offset
	w.data, err = w.get(offset, size)
	return err
}

// ReadAt reads from the chunk, and fetches what is outside it.
func (w *window) ReadAt(p []byte, offset int64) (int, error) {
	if have := w.start + int64(len(w.data)); offset < w.start || offset+int64(len(p)) > have {
		if err := w.fill(offset, int64(len(p))); err != nil {
			return 0, err
		}
	}
	n := copy(p, w.data[offset-w.start:])
	if n < len(p) {
		return n, io.ErrUnexpectedEOF
	}
	return n, nil
}
