package bodies

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"sluice/internal/kernel/ident"
)

// Options configure where and how bodies are stored. Only Dir is required.
type Options struct {
	Dir        string      // created with mode 0700 if missing
	BlockBytes int         // of bodies in a block, before compression; 0 means 512 KiB
	FileBytes  int64       // after which a new file begins; 0 means 128 MiB
	Node       string      // this node's name, put into every Ref; empty: a Ref names no node
	Clock      ident.Clock // nil means the machine's; a file holds the bodies of one UTC day
}

// Files stores bodies in files that it only appends to. Old bodies are removed by deleting
// complete files. Read is safe for concurrent use; all other methods belong to one goroutine at a
// time.
type Files struct {
	o    Options
	file *os.File // being appended to; nil before the first block
	end  Mark     // after the last block, pending ones included
	day  time.Time

	raw     []byte // bodies of the block being filled
	pending []byte // encoded blocks not yet written
}

// Open opens or creates the store. Call Resume before adding.
func Open(o Options) (*Files, error) {
	if o.BlockBytes == 0 {
		o.BlockBytes = 512 << 10
	}
	if o.FileBytes == 0 {
		o.FileBytes = 128 << 20
	}
	if o.Clock == nil {
		o.Clock = ident.System{}
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("open bodies: %w", err)
	}
	f := &Files{o: o}
	if err := f.removePartial(); err != nil {
		return nil, fmt.Errorf("open bodies: %w", err)
	}
	return f, nil
}

// Resume returns to a mark: it discards what was added after it and overwrites that part. If the
// mark's file is shorter than the mark, or missing, adding continues in a new file; the bodies
// lost that way are missing when read.
func (f *Files) Resume(_ context.Context, m Mark) error {
	f.raw, f.pending = f.raw[:0], f.pending[:0]
	if err := f.closeFile(); err != nil {
		return err
	}
	if err := f.removeAfter(m.File); err != nil {
		return fmt.Errorf("resume bodies: %w", err)
	}
	f.end = m
	if m.File == 0 {
		return nil
	}
	info, err := os.Stat(f.path(m.File))
	switch {
	case errors.Is(err, os.ErrNotExist) || err == nil && info.Size() < m.Size:
		f.end = Mark{File: m.File + 1}
		return nil
	case err != nil:
		return fmt.Errorf("resume bodies: %w", err)
	}
	if err := os.Truncate(f.path(m.File), m.Size); err != nil {
		return fmt.Errorf("resume bodies: %w", err)
	}
	f.day = dayOf(info.ModTime())
	return nil
}

func dayOf(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }

func (f *Files) path(number uint32) string {
	return filepath.Join(f.o.Dir, fmt.Sprintf("%08d%s", number, extension))
}

const extension = ".bodies"

// numbers lists the numbers of existing files, in order.
func (f *Files) numbers() ([]uint32, error) {
	entries, err := os.ReadDir(f.o.Dir)
	if err != nil {
		return nil, err
	}
	var out []uint32
	for _, e := range entries {
		stem, ok := strings.CutSuffix(e.Name(), extension)
		if n, err := strconv.ParseUint(stem, 10, 32); ok && err == nil {
			out = append(out, uint32(n))
		}
	}
	slices.Sort(out)
	return out, nil
}

func (f *Files) removeAfter(last uint32) error {
	_, err := f.remove(func(n uint32) bool { return n > last })
	return err
}

// Trim deletes the files before a number and returns how many it deleted. The file being appended
// to remains. The files belong to one node, so the time is ignored.
func (f *Files) Trim(_ context.Context, before uint32, _ time.Time) (removed int, err error) {
	removed, err = f.remove(func(n uint32) bool { return n < min(before, f.end.File) })
	if err != nil {
		return removed, fmt.Errorf("trim bodies: %w", err)
	}
	return removed, nil
}

func (f *Files) remove(which func(uint32) bool) (removed int, err error) {
	numbers, err := f.numbers()
	if err != nil {
		return 0, err
	}
	for _, n := range numbers {
		if !which(n) {
			continue
		}
		if err := os.Remove(f.path(n)); err != nil {
			return removed, err
		}
		removed++
	}
	return removed, nil
}

// End returns the mark after the last flush.
func (f *Files) End() Mark { return f.end }

// Close discards what was not flushed.
func (f *Files) Close() error { return f.closeFile() }

func (f *Files) closeFile() error {
	if f.file == nil {
		return nil
	}
	err := f.file.Close()
	f.file = nil
	if err != nil {
		return fmt.Errorf("close bodies: %w", err)
	}
	return nil
}
