package diskstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"sluice/internal/gateway/cache/cachekey"
	"sluice/internal/gateway/cache/entry"
	"sluice/internal/gateway/cache/lru"
	"sluice/internal/gateway/cache/timebox"
	"sluice/internal/kernel/atomicfile"
)

// maxFileBytes is the largest file that is read.
const maxFileBytes = entry.MaxBytes + 1<<20

// content returns the content of a file within the time limit.
func (s *Store) content(ctx context.Context, f *file) ([]byte, bool) {
	if data := f.data.Load(); data != nil {
		return *data, true
	}
	data, err := timebox.Run(ctx, s.reads, s.o.ReadTimeout, func() ([]byte, error) { return read(s.path(f.key)) })
	return data, s.isRead(ctx, f, err)
}

// isRead handles the result of a read. A file that is not there any more leaves the index.
func (s *Store) isRead(ctx context.Context, f *file, err error) bool {
	switch {
	case err == nil:
		s.outage.Recovered()
		return true
	case errors.Is(err, fs.ErrNotExist):
		s.drop(f)
	case ctx.Err() != nil: // the caller left
	default:
		s.failed(err)
	}
	return false
}

func read(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it was only read
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > maxFileBytes {
		return nil, fmt.Errorf("%s has %d bytes; entries have at most %d", path, info.Size(), maxFileBytes)
	}
	data := make([]byte, info.Size())
	_, err = io.ReadFull(file, data)
	return data, err
}

// write writes the files until the store is closed, and then those that wait.
func (s *Store) write() {
	defer close(s.stopped)
	for {
		select {
		case f := <-s.writes:
			s.writeFile(f)
		case <-s.stop:
			for len(s.writes) > 0 {
				s.writeFile(<-s.writes)
			}
			return
		}
	}
}

// writeFile writes one file. If the entry is removed meanwhile, the file is removed too.
func (s *Store) writeFile(f *file) {
	data := *f.data.Load()
	defer s.pending.Add(-int64(len(data)))
	if f.removed.Load() {
		return
	}
	if err := replace(s.path(f.key), data); err != nil {
		s.failed(err)
		s.drop(f)
		return
	}
	s.outage.Recovered()
	f.data.Store(nil)
	if f.removed.Load() {
		s.unlink(f.key)
	}
}

// replace writes a file, and its directory if it is missing.
func replace(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return atomicfile.Replace(path, data, false)
}

// removed removes the file of an entry that left the index. A newer entry replaces the file itself.
func (s *Store) removed(it lru.Item[*file], cause lru.Cause) {
	it.Value.removed.Store(true)
	s.counts.Removed(cause)
	if cause != lru.Replaced {
		s.unlink(it.Key)
	}
}

func (s *Store) unlink(key cachekey.Key) { s.unlinkPath(s.path(key)) }

func (s *Store) unlinkPath(path string) {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.failed(err)
	}
}

// load adds all files to the index.
func (s *Store) load() error {
	list, err := os.ReadDir(s.o.Dir)
	if err != nil {
		return err
	}
	for _, e := range list {
		if !e.IsDir() || len(e.Name()) != 2 {
			continue // not a directory of the cache
		}
		if err := s.loadDirectory(filepath.Join(s.o.Dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// loadDirectory adds the files of one directory to the index.
func (s *Store) loadDirectory(dir string) error {
	list, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range list {
		name, _, temporary := strings.Cut(e.Name(), "-")
		key, ok := cachekey.Parse(filepath.Base(dir) + name)
		path := filepath.Join(dir, e.Name())
		switch {
		case !ok: // not a file of the cache
		case temporary:
			s.unlinkPath(path)
		case !s.loadFile(key, path):
			s.unlinkPath(path)
		}
	}
	return nil
}

// loadFile adds a file to the index. It returns false if the file must be removed.
func (s *Store) loadFile(key cachekey.Key, path string) bool {
	head, size, err := readHead(path)
	if err != nil {
		s.counts.Corrupt.Add(1)
		return false
	}
	f := &file{key: key, head: head}
	return s.index.Put(lru.Item[*file]{Key: key, Value: f, Size: blocks(size), Expires: head.Expires})
}

func readHead(path string) (head entry.Head, size int64, err error) {
	file, err := os.Open(path)
	if err != nil {
		return head, 0, err
	}
	defer func() { _ = file.Close() }() // it was only read
	info, err := file.Stat()
	if err != nil {
		return head, 0, err
	}
	var b [entry.HeadBytes]byte
	if _, err := io.ReadFull(file, b[:]); err != nil {
		return head, 0, err
	}
	head, err = entry.ReadHead(b[:])
	return head, info.Size(), err
}
