// Package export runs log exports: it reads the rows of the log that an order selects, page by
// page with a cursor, and writes them to a file of the node. Start reading at Runner.
//
// A file grows by parts. A part is appended and synced to disk. Then the mark of the run (bytes,
// rows, and the cursor) is stored in the control plane. A run that continues after a crash
// truncates the file to the mark and reads on from the cursor, so that every row is in the file
// once. At most one part is in memory.
//
// A run belongs to the node on which it was started, because that node has the file, and with an
// embedded log the rows: DATA_DIR belongs to one process. If bodies are in a bucket, a finished
// file goes there (ObjectStore), and every node serves it. If all nodes also share the rows, a
// node holds a lease in the database while it runs an export. When the node stops responding,
// another one takes over the run under that lease and starts from the beginning.
// Source: contract/content-and-observability.md section 8.
package export

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"sluice/internal/kernel/ident"
)

// Errors of a run, in addition to errors of the disk.
var (
	// ErrGone reports that the file does not exist, or was deleted.
	ErrGone = errors.New("the file no longer exists")
	// ErrDiskSpace reports that the files of this node together would exceed their maximum size.
	ErrDiskSpace = errors.New("no space for export files")
)

// Files are the export files of this node, each named by the id of its export. They are safe for
// concurrent use, but a file has one writer at a time.
type Files struct {
	dir      string
	maxBytes int64

	mu   sync.Mutex       // guards used
	used map[string]int64 // bytes, by id
}

// Open creates the directory if it is missing. maxBytes limits the size of all files together.
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

// Read opens a file; it returns ErrGone if there is none. The caller closes it.
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

// Remove deletes a file; a missing file is not an error. Readers that opened it can continue.
func (f *Files) Remove(id string) error {
	if err := os.Remove(f.path(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("delete file of export %s: %w", id, err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.used, id)
	return nil
}

// List returns the ids of all files.
func (f *Files) List() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	ids := make([]string, 0, len(f.used))
	for id := range f.used {
		ids = append(ids, id)
	}
	return ids
}

// Bytes returns the size of all files together.
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

// grow records the new size of a file; it returns ErrDiskSpace if that is too much.
func (f *Files) grow(id string, size int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.bytes()-f.used[id]+size > f.maxBytes {
		return ErrDiskSpace
	}
	f.used[id] = size
	return nil
}

// shrank records the size of a file that was truncated.
func (f *Files) shrank(id string, size int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.used[id] = size
}

func (f *Files) path(id string) string { return filepath.Join(f.dir, id) }
