// Package keyfile stores the keys that seal the secrets of a deployment without ENCRYPTION_KEY,
// in a file of the data directory. Load reads it, Add and DropOld are the first and the last step
// of a rotation.
package keyfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"sluice/internal/kernel/atomicfile"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/sealed"
	"sluice/internal/ops/config"
)

// Name is the name of the file below the data directory. It contains one key a line, the current
// one first.
const Name = "encryption.key"

// Load returns the keys to seal and open with, the current one first: those of setting
// (ENCRYPTION_KEY, which may list older ones after commas), or else those of the key file in the
// data directory dir. It creates a missing key file with mode 0600, unless mayMake returns an
// error, which Load then returns.
func Load(setting [][]byte, dir string, mayMake func() error) ([][]byte, error) {
	if len(setting) > 0 {
		return setting, nil
	}
	path := filepath.Join(dir, Name)
	list, err := readKeys(path)
	if !errors.Is(err, os.ErrNotExist) {
		return list, err
	}
	if err := mayMake(); err != nil {
		return nil, err
	}
	if err := writeKeys(path, ident.NewSecret(32)); err != nil {
		return nil, err
	}
	return readKeys(path) // another instance may have created it first
}

// MissingError returns the error for a database that was sealed with a key file which the data
// directory dir does not contain.
func MissingError(dir string) error {
	return fmt.Errorf("the database is sealed with a missing key: the key file %s does not exist and ENCRYPTION_KEY is not set; "+
		"restore the file from a backup, or set ENCRYPTION_KEY to the key used at the first start", filepath.Join(dir, Name))
}

func readKeys(path string) ([][]byte, error) {
	f, err := config.OpenFile(path)
	if err != nil {
		if errors.Is(err, config.ErrNotAFile) {
			return nil, fmt.Errorf("the key file %s is not a regular file; restore it from a backup, or set ENCRYPTION_KEY to its content", path)
		}
		if errors.Is(err, os.ErrPermission) {
			err = fmt.Errorf("%w; run chown on it: the gateway's user must own it", err)
		}
		return nil, fmt.Errorf("read key file: %w", err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("read key file: %w", err)
	}
	if st.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("other users can read the key file %s (mode %o); run chmod 600 on it", path, st.Mode().Perm())
	}
	text, err := io.ReadAll(io.LimitReader(f, maxKeyFileBytes))
	if err != nil {
		return nil, fmt.Errorf("read key file: %w", err)
	}
	var list [][]byte
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(line) > 0 {
			list = append(list, line)
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("the key file %s is empty; restore it from a backup", path)
	}
	if _, err := sealed.NewBox(list...); err != nil {
		return nil, fmt.Errorf("the key file %s is damaged (%w); restore it from a backup", path, err)
	}
	return list, nil
}

// maxKeyFileBytes is how much of a key file is read. A key is a line of 43 bytes, and each
// interrupted rotation leaves one more.
const maxKeyFileBytes = 1 << 20

// writeKeys creates the key file unless it exists. It never leaves a partial file.
func writeKeys(path string, keys ...string) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), Name+"-")
	if err != nil {
		return fmt.Errorf("create key file: %w", err)
	}
	defer os.Remove(tmp.Name())
	_, werr := tmp.WriteString(strings.Join(keys, "\n") + "\n")
	if err := errors.Join(werr, tmp.Sync(), tmp.Close()); err != nil {
		return fmt.Errorf("write key file: %w", err)
	}
	if err := os.Link(tmp.Name(), path); err != nil && !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("rename key file: %w", err)
	}
	return syncDir(filepath.Dir(path))
}

// Add inserts a new key before those of the key file in dir: from now on it seals, and the older
// ones still open.
func Add(dir string) error {
	path := filepath.Join(dir, Name)
	old, err := readKeys(path)
	if err != nil {
		return err
	}
	return replaceKeys(path, append([][]byte{[]byte(ident.NewSecret(32))}, old...))
}

// DropOld removes all but the current key from the key file in dir. The removed keys are lost.
func DropOld(dir string) error {
	path := filepath.Join(dir, Name)
	list, err := readKeys(path)
	if err != nil {
		return err
	}
	return replaceKeys(path, list[:1])
}

// replaceKeys replaces the key file durably.
func replaceKeys(path string, list [][]byte) error {
	if err := atomicfile.Replace(path, append(bytes.Join(list, []byte("\n")), '\n'), true); err != nil {
		return fmt.Errorf("replace key file: %w", err)
	}
	return syncDir(filepath.Dir(path))
}

// syncDir makes renames and links in a directory survive a power failure.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync data directory: %w", err)
	}
	return errors.Join(d.Sync(), d.Close())
}
