package datadir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"sluice/internal/ops/keyfile"
)

// Modes of access(2).
const (
	mayRead   = 4
	mayWrite  = 2
	maySearch = 1
)

// maxCheckedFiles is the maximum number of files that CheckOwner checks in a part of the data
// directory. That many reveal files of another user, and a start does not wait until a disk has
// listed hundreds of thousands.
const maxCheckedFiles = 10_000

// CheckOwner fails if a part of the data directory belongs to another user. A command that root
// ran there, or a restored backup, causes that; later the start or the first large upload would
// fail. It ignores missing parts, and parts that a gateway does not create, such as lost+found.
func CheckOwner(dir string) error {
	var foreign []string
	for _, part := range [...]string{"lock", "rates", "sluice.db", "sluice.db-wal", "sluice.db-shm", keyfile.Name, "journal", "logs", "exports", "spool"} {
		seen := 0
		err := filepath.WalkDir(filepath.Join(dir, part), func(path string, d fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist): // or removed meanwhile
				return nil
			case errors.Is(err, fs.ErrPermission): // a folder, which is already listed
				return nil
			case err != nil:
				return err
			}
			if seen++; seen > maxCheckedFiles {
				return fs.SkipAll
			}
			need := uint32(mayRead | mayWrite)
			switch {
			case d.IsDir():
				need |= maySearch
			case part == keyfile.Name:
				need = mayRead
			}
			if errors.Is(syscall.Access(path, need), fs.ErrPermission) {
				foreign = append(foreign, path)
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("inspect the data directory: %w", err)
		}
	}
	if len(foreign) == 0 {
		return nil
	}
	const named = 3
	text := strings.Join(foreign[:min(len(foreign), named)], ", ")
	if more := len(foreign) - named; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Errorf("this user cannot read and write %s, which belongs to another user; run chown -R %d:%d %s", text, os.Getuid(), os.Getgid(), dir)
}
