package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// What access(2) is asked for.
const (
	mayRead   = 4
	mayWrite  = 2
	maySearch = 1
)

// maxCheckedFiles is at how many files of a part usableData looks: what another user left is seen among
// them, and a start does not wait for a disk that has to find hundreds of thousands.
const maxCheckedFiles = 10_000

// usableData fails where a part of the data directory is another user's, which a command that
// root ran there or a backup that was put back leaves: a start would stop somewhere on its way,
// or the first large upload fail. What is not there is none of this; neither is what a
// gateway does not make, such as lost+found.
func usableData(dir string) error {
	var foreign []string
	for _, part := range [...]string{"lock", "rates", "sluice.db", "sluice.db-wal", "sluice.db-shm", KeyFile, "journal", "logs", "exports", "spool"} {
		seen := 0
		err := filepath.WalkDir(filepath.Join(dir, part), func(path string, d fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist): // or gone meanwhile
				return nil
			case errors.Is(err, fs.ErrPermission): // a folder, which is noted already
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
			case part == KeyFile:
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
