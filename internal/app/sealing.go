package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"sluice/internal/config"
	"sluice/internal/fault"
	"sluice/internal/ident"
	"sluice/internal/resource"
	"sluice/internal/sealed"
)

// KeyFile is the name, below the data directory, of the file with the sealing keys of a
// deployment without ENCRYPTION_KEY: one key a line, the current one first.
const KeyFile = "encryption.key"

// sealingKeys returns the keys to seal and open with, the current one first: those of
// ENCRYPTION_KEY, which may list older ones after commas, or those of the key file. It creates a
// missing key file with mode 0600, unless mayMake returns an error.
func sealingKeys(setting [][]byte, dir string, mayMake func() error) ([][]byte, error) {
	if len(setting) > 0 {
		return setting, nil
	}
	path := filepath.Join(dir, KeyFile)
	list, err := readKeyFile(path)
	if !errors.Is(err, os.ErrNotExist) {
		return list, err
	}
	if err := mayMake(); err != nil {
		return nil, err
	}
	if err := writeKeyFile(path, ident.NewSecret(32)); err != nil {
		return nil, err
	}
	return readKeyFile(path) // another instance may have created it first
}

// nothingSealed fails if the database contains data sealed under a key that is missing here. A
// new key could not open that data, and would be mistaken for the lost key.
func (a *App) nothingSealed(ctx context.Context) error {
	err := readFromWriter(ctx, a.store, func(from resource.Reader) error {
		_, err := pepperSecret.stored(ctx, from)
		return err
	})
	switch {
	case fault.Has(err, fault.NotFound):
		return nil
	case err != nil:
		return fmt.Errorf("check for sealed data: %w", err)
	}
	return missingKeyFileError(a.set.Data.Dir)
}

func missingKeyFileError(dir string) error {
	return fmt.Errorf("the database is sealed with a missing key: the key file %s does not exist and ENCRYPTION_KEY is not set; "+
		"restore the file from a backup, or set ENCRYPTION_KEY to the key used at the first start", filepath.Join(dir, KeyFile))
}

func readKeyFile(path string) ([][]byte, error) {
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

// writeKeyFile creates the key file unless it exists. It never leaves a partial file.
func writeKeyFile(path string, keys ...string) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), KeyFile+"-")
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

// addKey inserts a new key before those of the key file.
func addKey(path string) error {
	old, err := readKeyFile(path)
	if err != nil {
		return err
	}
	return replaceKeyFile(path, append([][]byte{[]byte(ident.NewSecret(32))}, old...))
}

// dropOldKeys removes all but the current key from the key file.
func dropOldKeys(path string) error {
	list, err := readKeyFile(path)
	if err != nil {
		return err
	}
	return replaceKeyFile(path, list[:1])
}

// replaceKeyFile replaces the key file durably.
func replaceKeyFile(path string, list [][]byte) error {
	if err := replaceFile(path, append(bytes.Join(list, []byte("\n")), '\n'), true); err != nil {
		return fmt.Errorf("replace key file: %w", err)
	}
	return syncDir(filepath.Dir(path))
}

// replaceFile writes a temporary file and renames it over path, so that at every moment one
// complete version exists. If durable is set, the content is on disk before the rename, and a
// power failure can undo only the rename.
func replaceFile(path string, content []byte, durable bool) error {
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

// syncDir makes renames and links in a directory survive a power failure.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync data directory: %w", err)
	}
	return errors.Join(d.Sync(), d.Close())
}
