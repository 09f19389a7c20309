package duckdb

import (
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"

	duckdb "github.com/duckdb/duckdb-go/v2"
)

// corruptWALPattern matches the library's error for an entry of its write-ahead log whose
// checksum does not match. The library opens a log that ends in the middle of an entry, but
// rejects this one. A power failure causes it if a file has grown and its end was not on disk
// yet. The position follows the size and the checksum of the entry, of 8 bytes each.
// Source: https://github.com/duckdb/duckdb/pull/13758 and 10126; DuckDB 1.5.
var corruptWALPattern = regexp.MustCompile(`Failure while replaying WAL file "(.+)": Corrupt WAL file: entry at byte position (\d+) `)

// entryHeader is the number of bytes before the position that corruptWALPattern finds.
const entryHeader = 16

// connect opens the file. It cuts a damaged write-ahead log before the damage and saves the rest
// in a separate file. What was committed before the damage remains. Records that were committed
// after it are stored again, as far as the journal contains them.
func (d *database) connect() (*duckdb.Connector, error) {
	c, err := duckdb.NewConnector(d.o.dsn(), nil)
	if m := matchWALError(err); m != nil {
		if err := d.truncateWAL(m[1], m[2]); err != nil {
			return nil, fmt.Errorf("truncate the write-ahead log before its damage: %w", err)
		}
		c, err = duckdb.NewConnector(d.o.dsn(), nil)
	}
	return c, withHint(err)
}

func matchWALError(err error) []string {
	if err == nil {
		return nil
	}
	return corruptWALPattern.FindStringSubmatch(err.Error())
}

// setAside is the suffix of the file with the rest of a damaged write-ahead log.
const setAside = ".damaged"

func (d *database) truncateWAL(path, offset string) (err error) {
	position, err := strconv.ParseInt(offset, 10, 64)
	if position -= entryHeader; err != nil || position < 0 || !strings.HasPrefix(path, d.o.Path) {
		return fmt.Errorf("offset %s of %s is outside the log of %s", offset, path, d.o.Path)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	n, err := copyTail(f, position, path+setAside)
	if err != nil {
		return err
	}
	d.log.Error("log database WAL is corrupt; entries after the damage were moved aside",
		"path", path, "offset", position, "bytes", n, "aside", path+setAside)
	return errors.Join(f.Truncate(position), f.Sync())
}

// copyTail copies a file from an offset to a new file and syncs that.
func copyTail(f *os.File, from int64, path string) (n int64, err error) {
	to, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return 0, err
	}
	if _, err = f.Seek(from, io.SeekStart); err == nil {
		n, err = io.Copy(to, f)
	}
	return n, errors.Join(err, to.Sync(), to.Close())
}

// damage matches the library's errors for a damaged file.
var damage = regexp.MustCompile(`not a valid DuckDB database file|Corrupt database file|Could not read enough bytes|Failure while replaying WAL`)

// withHint adds what to do to the error of a damaged file.
func withHint(err error) error {
	if err == nil || !damage.MatchString(err.Error()) {
		return err
	}
	return fmt.Errorf("%w; the file is damaged: restore it from a backup, together with its .wal file and the folder of the bodies next to it, "+
		"or move these three elsewhere to start a new request log with the entries still in the journal", err)
}
