// Package atomicfile replaces files so that every reader, and a process that starts after a
// crash, finds either the old or the new content, and never a part of it.
package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
)

// Replace writes content to a temporary file, with mode 0600, and renames it over path, which
// may not exist yet. With durable set, the content is on disk before the rename, so a power
// failure can undo only the rename. On an error the old file is unchanged.
func Replace(path string, content []byte, durable bool) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+"-")
	if err != nil {
		return err
	}
	_, err = tmp.Write(content)
	if err == nil && durable {
		err = tmp.Sync()
	}
	if err = errors.Join(err, tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(tmp.Name()))
	}
	return nil
}
