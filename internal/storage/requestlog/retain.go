package requestlog

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sluice/internal/kernel/background"
	"sluice/internal/storage/requestlog/bodies"
)

// Retainer deletes expired rows and everything they reference. Methods that return a number do a
// part of their work, small enough to delay no other work. Call them again until the number is 0.
// Files belong to the named node.
type Retainer interface {
	// Delete removes due rows with their corrections. Corrections without a row follow the cutoff
	// of every workspace.
	Delete(ctx context.Context, due RetentionCutoffs) (rows int64, err error)
	// Blank applies the function Blank to due rows, and removes their corrections. From then on
	// no list contains them and no search finds them.
	Blank(ctx context.Context, due RetentionCutoffs) (rows int64, err error)
	// DueFiles returns the files that contain bodies of due rows, in any order.
	DueFiles(ctx context.Context, node string, due RetentionCutoffs) ([]uint32, error)
	// RetainedSpans returns the spans of a file with bodies of rows that are not due.
	RetainedSpans(ctx context.Context, node string, file uint32, due RetentionCutoffs) ([]bodies.Span, error)
	// DueKeys returns some objects that contain bodies of due rows. Their rows are exactly those
	// with such an object that cutoffs selects. No keys means that none remain.
	DueKeys(ctx context.Context, due RetentionCutoffs) (keys []string, cutoffs RetentionCutoffs, err error)
	// Forget removes from due rows the references to their bodies in a file or, if file is
	// bodies.Single, to objects with one record.
	Forget(ctx context.Context, node string, file uint32, due RetentionCutoffs) (rows int64, err error)
	// FirstFile returns the lowest file that a row refers to; 0 if there is none. Single is not a
	// file, here and in DueFiles.
	FirstFile(ctx context.Context, node string) (uint32, error)
}

// Retention selects what Retain deletes.
type Retention struct {
	Bodies  RetentionCutoffs // bodies are deleted, the rest remains
	Rows    RetentionCutoffs // rows disappear from lists and count only in metrics
	Metrics RetentionCutoffs // everything is deleted
}

// Retained counts the work of Retain.
type Retained struct {
	Files   int   // of bodies that were deleted or rewritten
	Objects int   // of single bodies that were deleted
	Bodies  int64 // rows whose bodies are deleted
	Blanked int64 // rows that only metrics use
	Deleted int64 // rows
}

// Retain deletes what is due, bodies before their rows. It works in small parts with pauses
// between them, so that it delays other work at most as long as a batch of records does. A file
// or an object contains bodies of many records. It is deleted when no row needs it; until then it
// is rewritten with zeros instead of what is due. The next call repeats what failed or was
// interrupted.
// Source: contract/content-and-observability.md 3.4.
func (s *Store) Retain(ctx context.Context, r Retention) error {
	s.retaining.Lock()
	defer s.retaining.Unlock()
	var done Retained
	rows := r.Rows.Or(r.Metrics)
	err := s.retain(ctx, r, rows, &done)
	if done != (Retained{}) {
		s.o.Logger.Info("expired logs deleted", "deleted", done.Deleted, "blanked", done.Blanked, "without_bodies", done.Bodies, "body_files", done.Files, "body_objects", done.Objects)
	}
	if err != nil {
		return fmt.Errorf("retain logs: %w", err)
	}
	return nil
}

func (s *Store) retain(ctx context.Context, r Retention, rows RetentionCutoffs, done *Retained) (err error) {
	if err := s.endBodies(ctx, r.Bodies.Or(rows), done); err != nil {
		return err
	}
	done.Deleted, err = s.inParts(ctx, func() (int64, error) { return s.rows.Delete(ctx, r.Metrics) })
	if err != nil {
		return err
	}
	done.Blanked, err = s.inParts(ctx, func() (int64, error) { return s.rows.Blank(ctx, rows) })
	return err
}

// inParts calls part until it returns 0, with pauses, and returns the sum of the results.
func (s *Store) inParts(ctx context.Context, part func() (int64, error)) (sum int64, err error) {
	for {
		n, err := part()
		if sum += n; err != nil || n == 0 {
			return sum, err
		}
		if err := background.Sleep(ctx, s.o.Pause); err != nil {
			return sum, err
		}
	}
}

// endBodies deletes the bodies of due rows.
func (s *Store) endBodies(ctx context.Context, due RetentionCutoffs, done *Retained) error {
	files, err := s.rows.DueFiles(ctx, s.o.Node, due)
	if err != nil {
		return err
	}
	var failed error
	for _, file := range files {
		n, err := s.endFile(ctx, file, due)
		if done.Bodies += n; err == nil {
			done.Files++
		}
		if failed = errors.Join(failed, err); ctx.Err() != nil || errors.Is(err, bodies.ErrUnavailable) {
			return failed // the others would fail too
		}
	}
	if failed != nil {
		return failed
	}
	if err := s.endObjects(ctx, due, done); err != nil {
		return err
	}
	return s.trim(ctx, due, done)
}

// endFile rewrites a file without the bodies of due rows, and then removes the references of
// those rows. If it is interrupted in between, the next call repeats it.
func (s *Store) endFile(ctx context.Context, file uint32, due RetentionCutoffs) (int64, error) {
	p, err := s.rows.Progress(ctx)
	if err != nil {
		return 0, err
	}
	open := file >= p.BodyStore.File
	if open {
		s.writing.Lock()
		defer s.writing.Unlock()
	}
	retained, err := s.rows.RetainedSpans(ctx, s.o.Node, file, due)
	if err != nil {
		return 0, err
	}
	if err := s.files.Scrub(ctx, file, open, retained); errors.Is(err, bodies.ErrPartial) {
		s.o.Logger.Error("cannot delete expired bodies; they stay until their file is deleted", "error", err)
	} else if err != nil {
		return 0, err
	}
	return s.inParts(ctx, func() (int64, error) { return s.rows.Forget(ctx, s.o.Node, file, due) })
}

// endObjects deletes objects with one record.
func (s *Store) endObjects(ctx context.Context, due RetentionCutoffs, done *Retained) error {
	for {
		keys, cutoffs, err := s.rows.DueKeys(ctx, due)
		if err != nil || len(keys) == 0 {
			return err
		}
		if err := s.files.Delete(ctx, keys); err != nil {
			return err
		}
		done.Objects += len(keys)
		n, err := s.inParts(ctx, func() (int64, error) { return s.rows.Forget(ctx, s.o.Node, bodies.Single, cutoffs) })
		if done.Bodies += n; err != nil {
			return err
		}
	}
}

// trim deletes files whose rows are all gone.
func (s *Store) trim(ctx context.Context, due RetentionCutoffs, done *Retained) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	first, err := s.rows.FirstFile(ctx, s.o.Node)
	if err != nil {
		return err
	}
	p, err := s.rows.Progress(ctx)
	if err != nil {
		return err
	}
	if first == 0 || first > p.BodyStore.File {
		first = p.BodyStore.File
	}
	n, err := s.files.Trim(ctx, first, due.Before)
	done.Files += n
	return err
}

// pause is the usual pause between parts of retention.
const pause = 20 * time.Millisecond
