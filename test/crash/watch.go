package main

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"

	"sluice/internal/domain/record"
)

// How a file of the journal is written: internal/storage/journal/frame.go.
const (
	journalFiles  = "*.seg"
	fileHeader    = 64
	frameHeader   = 24
	maxJournalled = 4 << 20
)

// watchEvery is how often the journal is looked at: a kill follows an entry closely.
const watchEvery = 100 * time.Microsecond

// watch sees the entries that the gateway adds to its journal, as it adds them.
type watch struct {
	dir  string
	read map[string]int64 // offset of the next entry, by file
}

// newWatch passes over what the journal has.
func newWatch(dir string) (*watch, error) {
	w := &watch{dir: dir, read: map[string]int64{}}
	return w, w.poll(func([]byte) {})
}

// run tells of the corrections and marks that are added, until ctx ends.
func (w *watch) run(ctx context.Context, reached func(stage)) error {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		err := w.poll(func(entry []byte) {
			var c record.Correction
			switch {
			case !record.IsCorrection(entry) || c.Decode(entry) != nil:
			case c.ID == "":
				reached(marked)
			default:
				reached(corrected)
			}
		})
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// poll shows the entries that are new.
func (w *watch) poll(see func(entry []byte)) error {
	names, err := filepath.Glob(filepath.Join(w.dir, journalFiles))
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := w.pollFile(name, see); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// pollFile reads a file up to the first entry that is not whole.
func (w *watch) pollFile(name string, see func(entry []byte)) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	offset := max(w.read[name], fileHeader)
	for {
		var head [frameHeader]byte
		if _, err := f.ReadAt(head[:], offset); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
		size, final := int64(binary.NativeEndian.Uint32(head[:])), binary.NativeEndian.Uint32(head[20:]) != 0
		if size == 0 || size > maxJournalled || !final {
			break
		}
		entry := make([]byte, size)
		if _, err := f.ReadAt(entry, offset+frameHeader); err != nil {
			return err
		}
		see(entry)
		offset += (frameHeader + size + 7) &^ 7
	}
	w.read[name] = offset
	return nil
}
