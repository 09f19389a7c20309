package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/uuid"

	"sluice/internal/kernel/ident"
)

// nameFile is the file in the journal directory that contains the name of the journal.
const nameFile = "node"

// identity reads the name of a journal from its directory, and creates one at first. The
// segments contain it too: under another name, their entries would be counted again.
func identity(dir string, log *slog.Logger) (string, error) {
	path := filepath.Join(dir, nameFile)
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if id := strings.TrimSpace(string(b)); err == nil && ident.ValidID(id) {
		return id, nil
	}
	id, known := inscribed(dir)
	switch {
	case known:
		log.Warn("journal id file missing; recovered the id from the segments", "path", path, "node", id)
		return id, writeIDs(dir, path, id)
	case err == nil:
		return "", fmt.Errorf("%s does not contain an id; if the file was damaged, restore the previous id", path)
	}
	id = ident.NewID()
	return id, writeIDs(dir, path, id)
}

// Exists reports whether a directory contains a journal, or any part of one.
func Exists(dir string) (bool, error) {
	numbers, err := segmentNumbers(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil || len(numbers) > 0 {
		return err == nil, err
	}
	_, err = os.Stat(filepath.Join(dir, nameFile))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// inscribed finds the name of the journal in its segments, the newest first.
func inscribed(dir string) (id string, ok bool) {
	numbers, _ := segmentNumbers(dir) // unreadable segments have no name; load reports the error
	for _, n := range slices.Backward(numbers) {
		if id, ok := inscription(segmentPath(dir, n)); ok {
			return id, true
		}
	}
	return "", false
}

func inscription(path string) (id string, ok bool) {
	f, err := os.Open(path)
	if err != nil {
		return "", false
	}
	defer func() { _ = f.Close() }() // read only
	var h [fileHeader]byte
	if _, err := io.ReadFull(f, h[:]); err != nil || binary.NativeEndian.Uint64(h[:]) != fileMagic {
		return "", false
	}
	name := uuid.UUID(h[nameAt : nameAt+16])
	return name.String(), name != uuid.Nil
}

// writeID writes the name of the journal into the header of a file.
func (s *segment) writeID(id string) {
	name, err := uuid.Parse(id)
	if err != nil {
		return
	}
	s.atomicUint64(nameAt).Store(binary.NativeEndian.Uint64(name[:8]))
	s.atomicUint64(nameAt + 8).Store(binary.NativeEndian.Uint64(name[8:]))
}

// writeIDs writes a name to a temporary file and renames it, so that a crash leaves a complete
// file or none.
func writeIDs(dir, path, id string) error {
	f, err := os.CreateTemp(dir, "node-*")
	if err != nil {
		return err
	}
	_, err = f.WriteString(id + "\n")
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return syncDir(dir)
}
