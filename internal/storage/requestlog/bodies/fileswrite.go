package bodies

import (
	"context"
	"errors"
	"fmt"
	"os"

	"sluice/internal/domain/record"
)

// maxPending is how many bytes are held in memory before they are written to the file.
const maxPending = 4 << 20

// Add copies the bodies of a record. They can be read after Flush. Empty bodies take no space.
func (f *Files) Add(_ context.Context, a *record.Attempt) (Ref, error) {
	s := FromAttempt(a)
	n := s.size()
	if n == 0 {
		return Ref{}, nil
	}
	if n > maxBodies {
		return Ref{}, fmt.Errorf("add bodies: %d bytes exceed the maximum of %d", n, maxBodies)
	}
	if len(f.raw) > 0 && len(f.raw)+n > f.o.BlockBytes {
		if err := f.endBlock(); err != nil {
			return Ref{}, err
		}
	}
	if len(f.raw) == 0 {
		if err := f.rotate(); err != nil {
			return Ref{}, err
		}
	}
	ref := Ref{Node: f.o.Node, File: f.end.File, Block: f.end.Size, Offset: uint32(len(f.raw))}
	ref.Request, ref.Response = uint32(len(s[Request])), uint32(len(s[Response]))
	f.raw = appendSet(f.raw, &s)
	return ref, nil
}

// rotate starts the next file if the present one is large or of another day.
func (f *Files) rotate() error {
	today := dayOf(f.o.Clock.Now())
	if f.end.File > 0 && f.end.Size < f.o.FileBytes && (f.end.Size == 0 || f.day.Equal(today)) {
		f.day = today
		return nil
	}
	if err := f.write(); err != nil {
		return err
	}
	if err := f.sync(); err != nil {
		return err
	}
	if err := f.closeFile(); err != nil {
		return err
	}
	f.end, f.day = Mark{File: f.end.File + 1}, today
	return nil
}

// endBlock encodes the block being filled.
func (f *Files) endBlock() (err error) {
	start := len(f.pending)
	if f.pending, err = appendBlock(f.pending, f.raw); err != nil {
		return err
	}
	f.end.Size += int64(len(f.pending) - start)
	f.raw = f.raw[:0]
	if len(f.pending) < maxPending {
		return nil
	}
	return f.write()
}

// write writes the pending blocks to the file.
func (f *Files) write() error {
	if len(f.pending) == 0 {
		return nil
	}
	if f.file == nil {
		if err := f.openFile(); err != nil {
			return err
		}
	}
	if _, err := f.file.WriteAt(f.pending, f.end.Size-int64(len(f.pending))); err != nil {
		return fmt.Errorf("write bodies: %w", err)
	}
	f.pending = f.pending[:0]
	return nil
}

// openFile opens the present file, and makes its name durable.
func (f *Files) openFile() error {
	file, err := os.OpenFile(f.path(f.end.File), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("write bodies: %w", err)
	}
	f.file = file
	return f.syncDir()
}

// syncDir makes file names durable.
func (f *Files) syncDir() error {
	dir, err := os.Open(f.o.Dir)
	if err != nil {
		return fmt.Errorf("write bodies: %w", err)
	}
	if err := errors.Join(dir.Sync(), dir.Close()); err != nil {
		return fmt.Errorf("write bodies: %w", err)
	}
	return nil
}

func (f *Files) sync() error {
	if f.file == nil {
		return nil
	}
	if err := f.file.Sync(); err != nil {
		return fmt.Errorf("sync bodies: %w", err)
	}
	return nil
}

// Flush writes everything added to the disk and returns the mark after it. After an error the
// store must Resume at a mark before it is used again.
func (f *Files) Flush(context.Context) (Mark, error) {
	if len(f.raw) > 0 {
		if err := f.endBlock(); err != nil {
			return Mark{}, err
		}
	}
	if err := f.write(); err != nil {
		return Mark{}, err
	}
	return f.end, f.sync()
}
