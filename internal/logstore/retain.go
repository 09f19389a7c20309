package logstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sluice/internal/background"
	"sluice/internal/logstore/bodies"
)

// Retainer is how rows and what they refer to come to their ends. Methods that return a
// number do some of their work, as much as delays nobody, and are called again until
// the number is 0. Files are those of the node that home names.
type Retainer interface {
	// Delete removes rows that are due, with their corrections. Those of rows that are not
	// there go by the time of every workspace.
	Delete(ctx context.Context, due RetentionCutoffs) (rows int64, err error)
	// Blank does to rows that are due what the function Blank does, and removes their
	// corrections. From then on no list has them, and none finds them.
	Blank(ctx context.Context, due RetentionCutoffs) (rows int64, err error)
	// DueFiles are the files in which rows that are due have bodies, in any order.
	DueFiles(ctx context.Context, node string, due RetentionCutoffs) ([]uint32, error)
	// RetainedSpans are the places in a file at which rows that are not due have bodies.
	RetainedSpans(ctx context.Context, node string, file uint32, due RetentionCutoffs) ([]bodies.Span, error)
	// DueKeys are some objects that hold bodies of due rows. The rows are all those with
	// such an object that are due in of; no key means that none is left.
	DueKeys(ctx context.Context, due RetentionCutoffs) (keys []string, cutoffs RetentionCutoffs, err error)
	// Forget has due rows no longer refer to their bodies: to those in a file, or, when it
	// is bodies.Single, to objects of their own.
	Forget(ctx context.Context, node string, file uint32, due RetentionCutoffs) (rows int64, err error)
	// FirstFile is the lowest file that a row refers to; 0 when there is none. Single is
	// no file, here and in DueFiles.
	FirstFile(ctx context.Context, node string) (uint32, error)
}

// Retention says what Retain ends.
type Retention struct {
	Bodies  RetentionCutoffs // bodies go, the rest stays
	Rows    RetentionCutoffs // lists no longer have the row, only figures do
	Metrics RetentionCutoffs // nothing is left
}

// Retained counts what Retain did.
type Retained struct {
	Files   int   // of bodies that were deleted or made without what is due
	Objects int   // of single bodies that were deleted
	Bodies  int64 // rows whose bodies are gone
	Blanked int64 // rows that only figures have
	Deleted int64 // rows
}

// Retain ends what is due, bodies before their rows. It works in small parts with pauses
// between them: nobody waits for it longer than for a batch of records. Bodies lie
// together with those of others in a file or an object; it is deleted when no row needs
// it, and until then made anew with zeros in the place of what is due. What fails, or
// was cut off, is done by the next call.
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

// inParts calls part until it returns 0, with pauses, and adds up what it returns.
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

// endBodies ends the bodies of due rows.
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

// endFile makes a file without the bodies of due rows, then has those rows forget them:
// what is cut off in between is done again.
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

// endObjects deletes objects of single records.
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

// trim deletes the files that no row refers to because their rows are gone.
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

// pause is the usual one between parts of retention.
const pause = 20 * time.Millisecond
