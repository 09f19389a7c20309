package bodies

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Scrub rewrites a file without the bodies that are not retained. If none is retained it deletes
// the file, unless the file is open for appending. It writes the new version next to the file and
// renames it, so that readers see the old one or the new one. Removed bodies take no disk space
// if the file system supports holes. Other methods may run concurrently if the file is not open.
func (f *Files) Scrub(_ context.Context, number uint32, open bool, retained []Span) error {
	if open {
		if err := f.closeFile(); err != nil { // the next write opens it again
			return err
		}
	}
	path := f.path(number)
	if len(retained) == 0 && !open {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("delete bodies: %w", err)
		}
		return nil
	}
	if err := scrubFile(path, retained); err != nil && !errors.Is(err, os.ErrNotExist) {
		return errors.Join(fmt.Errorf("clean bodies of file %d: %w", number, err), f.syncDir())
	}
	return f.syncDir()
}

// begun is the suffix of a file that is being rewritten.
const begun = ".new"

// removePartial deletes the files that interrupted scrubs left. They contain bodies, and a later
// scrub may never reach their file.
func (f *Files) removePartial() error {
	entries, err := os.ReadDir(f.o.Dir)
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), extension+begun) {
			err = errors.Join(err, os.Remove(filepath.Join(f.o.Dir, e.Name())))
		}
	}
	return err
}

// scrubFile rewrites the file and preserves its size and time.
func scrubFile(path string, retained []Span) (err error) {
	from, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }() // read only
	info, err := from.Stat()
	if err != nil {
		return err
	}
	fresh := path + begun
	to, err := os.OpenFile(fresh, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	err = scrubbed(from, info.Size(), retained, func(block []byte, offset int64) error {
		_, err := to.WriteAt(block, offset)
		return err
	})
	var partial error
	if errors.Is(err, ErrPartial) {
		partial, err = err, nil
	}
	if err == nil {
		err = to.Truncate(info.Size())
	}
	err = errors.Join(err, to.Sync(), to.Close())
	if err == nil {
		err = errors.Join(os.Chtimes(fresh, info.ModTime(), info.ModTime()), os.Rename(fresh, path))
	}
	if err != nil {
		return errors.Join(err, os.Remove(fresh))
	}
	return partial
}

// Delete does nothing: no record has a separate file.
func (f *Files) Delete(context.Context, []string) error { return nil }
