package export

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"sluice/internal/kernel/ident"
	"sluice/internal/storage/requestlog/bodies"
)

const (
	exportFolder = "exports/"
	// chunkBytes is the size of all objects of a file except the last. One is transferred well
	// within the time limit of a call to the store.
	chunkBytes = 4 << 20
	// readBytes is how much of a chunk is fetched at once.
	readBytes = 1 << 20
)

// ObjectStore stores finished export files in the bucket of the log: exports/<id of the
// export>/<id of the run>/00000 and on, chunks of 4 MiB. Each run has separate objects, so that a
// run that was wrongly taken for dead damages no other run. Every node reads all files. It is
// safe for concurrent use.
type ObjectStore struct{ bucket bodies.Bucket }

// NewObjectStore returns an ObjectStore in a bucket. It sends nothing before it is used.
func NewObjectStore(b bodies.Bucket) *ObjectStore { return &ObjectStore{b} }

func runFolder(id, run string) string { return exportFolder + id + "/" + run + "/" }

func chunkKey(id, run string, n int64) string { return fmt.Sprintf("%s%05d", runFolder(id, run), n) }

// put uploads a file of the given size. It replaces what an interrupted run left there.
func (s *ObjectStore) put(ctx context.Context, id, run string, file io.ReaderAt, size int64) error {
	chunk := make([]byte, min(size, chunkBytes))
	for at := int64(0); at < size; at += chunkBytes {
		part := chunk[:min(size-at, chunkBytes)]
		if _, err := file.ReadAt(part, at); err != nil {
			return fmt.Errorf("read file of export %s: %w", id, err)
		}
		if err := s.bucket.Put(ctx, chunkKey(id, run, at/chunkBytes), part); err != nil {
			return fmt.Errorf("store file of export %s: %w", id, err)
		}
	}
	return nil
}

// Open opens the file of a run, with its size. It returns ErrGone if the file is missing, and
// bodies.ErrUnavailable while the bucket is unavailable. Reads use ctx.
func (s *ObjectStore) Open(ctx context.Context, id, run string, size int64) (io.ReadSeekCloser, error) {
	if !ident.ValidID(id) || !ident.ValidID(run) {
		return nil, ErrGone
	}
	get := func(n, offset, limit int64) ([]byte, error) {
		b, err := s.bucket.Get(ctx, chunkKey(id, run, n), offset, limit)
		if errors.Is(err, bodies.ErrGone) {
			return nil, ErrGone
		}
		return b, err
	}
	f := &exportReader{get: get, size: size}
	if size > 0 {
		if _, err := get(0, 0, 1); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// exportReader is a file in the object store. It belongs to one goroutine.
type exportReader struct {
	get          func(chunk, offset, limit int64) ([]byte, error)
	size, offset int64
	begins       int64 // offset of the held bytes
	held         []byte
}

// Read implements io.Reader.
func (f *exportReader) Read(p []byte) (int, error) {
	if f.offset >= f.size {
		return 0, io.EOF
	}
	if f.offset < f.begins || f.offset >= f.begins+int64(len(f.held)) {
		offset := f.offset % chunkBytes
		b, err := f.get(f.offset/chunkBytes, offset, min(readBytes, chunkBytes-offset, f.size-f.offset))
		if err != nil {
			return 0, err
		}
		if len(b) == 0 {
			return 0, io.ErrUnexpectedEOF
		}
		f.begins, f.held = f.offset, b
	}
	n := copy(p, f.held[f.offset-f.begins:])
	f.offset += int64(n)
	return n, nil
}

// Seek implements io.Seeker.
func (f *exportReader) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += f.offset
	case io.SeekEnd:
		offset += f.size
	}
	if offset < 0 {
		return f.offset, errors.New("seek before the start of an export")
	}
	f.offset = offset
	return f.offset, nil
}

// Close implements io.Closer.
func (f *exportReader) Close() error { return nil }

// remove deletes the objects of a run; it is not an error if there are none.
func (s *ObjectStore) remove(ctx context.Context, id, run string) error {
	var keys []string
	if err := s.bucket.List(ctx, runFolder(id, run), func(o bodies.Object) bool {
		keys = append(keys, o.Key)
		return true
	}); err != nil {
		return fmt.Errorf("list file of export %s: %w", id, err)
	}
	for _, key := range keys {
		if err := s.bucket.Delete(ctx, key); err != nil {
			return fmt.Errorf("delete file of export %s: %w", id, err)
		}
	}
	return nil
}

// sweep deletes the files of all runs for which isNeeded returns false.
func (s *ObjectStore) sweep(ctx context.Context, isNeeded func(id, run string) (bool, error)) error {
	ids, err := s.bucket.Folders(ctx, exportFolder)
	if err != nil {
		return fmt.Errorf("list export files: %w", err)
	}
	var errs []error
	for _, id := range ids {
		runs, err := s.bucket.Folders(ctx, exportFolder+strings.TrimSuffix(id, "/")+"/")
		errs = append(errs, err)
		for _, run := range runs {
			needed, err := isNeeded(id, run)
			if err == nil && !needed {
				err = s.remove(ctx, id, run)
			}
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
