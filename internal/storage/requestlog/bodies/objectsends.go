package bodies

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sync/errgroup"
)

// objectMax is more than the size of any block object: ObjectBytes and one more block.
const objectMax = 2 << 30

// Scrub replaces an object by one without the bodies that are not retained. If none is retained
// it deletes the object. Removed bodies become zeros, but are cut off at the end.
func (s *Objects) Scrub(ctx context.Context, number uint32, open bool, retained []Span) error {
	if s.o.Local != nil {
		_, err := os.Stat(s.o.Local.path(number))
		if !errors.Is(err, os.ErrNotExist) {
			return s.o.Local.Scrub(ctx, number, open, retained)
		}
	}
	if err := s.scrub(ctx, blockKey(s.o.Node, number), retained); err != nil {
		return fmt.Errorf("clean bodies of object %d: %w", number, err)
	}
	s.cache.forget(s.o.Node, number)
	return nil
}

func (s *Objects) scrub(ctx context.Context, key string, retained []Span) error {
	if len(retained) == 0 {
		return s.o.Bucket.Delete(ctx, key)
	}
	old, err := s.o.Bucket.Get(ctx, key, 0, objectMax)
	if errors.Is(err, ErrGone) {
		return nil
	}
	if err != nil {
		return err
	}
	fresh, end := make([]byte, len(old)), int64(0)
	err = scrubbed(bytes.NewReader(old), int64(len(old)), retained, func(block []byte, offset int64) error {
		copy(fresh[offset:], block)
		end = offset + int64(len(block))
		return nil
	})
	if err != nil && !errors.Is(err, ErrPartial) {
		return err
	}
	if failed := s.o.Bucket.Put(ctx, key, fresh[:end]); failed != nil {
		return failed
	}
	return err
}

// Delete deletes objects of single records.
func (s *Objects) Delete(ctx context.Context, keys []string) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(s.o.Uploads)
	for _, key := range keys {
		group.Go(func() error { return s.o.Bucket.Delete(ctx, key) })
	}
	if err := group.Wait(); err != nil {
		return fmt.Errorf("delete bodies: %w", err)
	}
	return nil
}

// Trim deletes the objects and files of this node before a number, and the objects of other nodes
// that were written before a time: none of their rows can be younger. For each node it checks
// only the first objects, up to the first that remains.
func (s *Objects) Trim(ctx context.Context, before uint32, old time.Time) (removed int, err error) {
	if s.o.Local != nil {
		if removed, err = s.o.Local.Trim(ctx, before, old); err != nil {
			return removed, err
		}
	}
	homes, err := s.o.Bucket.Folders(ctx, blockFolder)
	if err != nil {
		return removed, fmt.Errorf("trim bodies: %w", err)
	}
	for _, node := range homes {
		goes := func(o Object) bool { return !old.IsZero() && o.Modified.Before(old) }
		if node == s.o.Node {
			goes = func(o Object) bool { n, ok := numberOf(o.Key); return ok && n < before }
		}
		n, err := s.trim(ctx, node, goes)
		if removed += n; err != nil {
			return removed, fmt.Errorf("trim bodies: %w", err)
		}
	}
	return removed, nil
}

// trimMax is how many objects of a node one Trim deletes; the next Trim continues. (ours)
const trimMax = 10_000

// trim deletes the first objects of a node while goes returns true.
func (s *Objects) trim(ctx context.Context, node string, goes func(Object) bool) (int, error) {
	var keys []string
	err := s.o.Bucket.List(ctx, nodeFolder(node), func(o Object) bool {
		if !goes(o) || len(keys) == trimMax {
			return false
		}
		keys = append(keys, o.Key)
		return true
	})
	if err != nil {
		return 0, err
	}
	return len(keys), s.Delete(ctx, keys)
}
