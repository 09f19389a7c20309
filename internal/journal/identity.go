package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"sluice/internal/ident"
)

// identity reads the name of a journal from its directory, and gives it one at first.
func identity(dir string) (string, error) {
	path := filepath.Join(dir, "node")
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return christen(dir, path)
	}
	if err != nil {
		return "", err
	}
	id := strings.TrimSpace(string(b))
	if !ident.ValidID(id) {
		return "", fmt.Errorf("%s holds no id; if it was damaged, write the one back that it had", path)
	}
	return id, nil
}

// christen writes a new name beside its place and moves it there, so that a crash leaves
// a whole one or none.
func christen(dir, path string) (string, error) {
	id := ident.NewID()
	f, err := os.CreateTemp(dir, "node-*")
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(id + "\n")
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return id, syncDir(dir)
}
