// Package export runs log exports: it reads the rows of the log that an order asks for,
// page by page behind a cursor, and writes them to a file of the node.
//
// A file grows by parts. A part is written behind the others and forced to the disk, then
// the mark of the run (how many bytes, rows, and the cursor) is stored in the control plane.
// Whoever goes on after a crash cuts the file back to the mark and reads on from the cursor,
// so that every row is in the file once. No more than a part is ever in memory.
//
// A run belongs to the node on which it was started, because that node has the file, and
// with an embedded log the rows: DATA_DIR is one process's. Where bodies are in a bucket the
// file goes there when it is done (Shelf), and every node serves it. Where all nodes have the
// same rows besides, a node holds a lease in the database while it runs an export; when it is
// silent, another one takes the run over under that lease and begins anew.
// Source: contract/content-and-observability.md section 8.
package export

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"sluice/internal/ident"
)

// What a run may fail with, besides errors of the disk.
var (
	// ErrGone is that there is no such file, or no longer.
	ErrGone = errors.New("the file no longer exists")
	// ErrDiskSpace is that the files of this node would be larger together than they may be.
	ErrDiskSpace = errors.New("no space for export files")
)

// Files are the files of exports of this node, each named by the id of its export. Safe for
// concurrent use, but of one file there is one Writer at a time.
type Files struct {
	dir      string
	maxBytes int64

	mu   sync.Mutex       // guards used
	used map[string]int64 // bytes, by id
}

// Open makes the directory when it is missing. maxBytes bounds all files together.
func Open(dir string, maxBytes int64) (*Files, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open export files: %w", err)
	}
	f := &Files{dir: dir, maxBytes: maxBytes, used: make(map[string]int64)}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("open export files: %w", err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			return nil, fmt.Errorf("open export files: %w", err)
		}
		if ident.ValidID(e.Name()) {
			f.used[e.Name()] = info.Size()
		}
	}
	return f, nil
}

// Read opens a file: ErrGone when there is none. The caller closes it.
func (f *Files) Read(id string) (*os.File, error) {
	if !ident.ValidID(id) {
		return nil, ErrGone
	}
	file, err := os.Open(f.path(id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrGone
	}
	return file, err
}

// Remove deletes a file; it is no error that there is none. Who reads it reads on.
func (f *Files) Remove(id string) error {
	if err := os.Remove(f.path(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("delete file of export %s: %w", id, err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.used, id)
	return nil
}

// List are the ids of all files.
func (f *Files) List() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	ids := make([]string, 0, len(f.used))
	for id := range f.used {
		ids = append(ids, id)
	}
	return ids
}

// Bytes is the size of all files together.
func (f *Files) Bytes() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.bytes()
}

func (f *Files) bytes() (all int64) {
	for _, n := range f.used {
		all += n
	}
	return all
}

// grow takes note that a file shall have so many bytes: ErrDiskSpace when that is too much.
func (f *Files) grow(id string, size int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.bytes()-f.used[id]+size > f.maxBytes {
		return ErrDiskSpace
	}
	f.used[id] = size
	return nil
}

// shrank takes note of the size of a file that was cut.
func (f *Files) shrank(id string, size int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.used[id] = size
}

func (f *Files) path(id string) string { return filepath.Join(f.dir, id) }
