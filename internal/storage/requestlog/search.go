package requestlog

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"sluice/internal/domain/record"
	"sluice/internal/kernel/fault"
	"sluice/internal/storage/requestlog/bodies"
)

// Limits of a search. All are ours.
const (
	maxSearches  = 2 // at once; others wait
	searchTime   = time.Second
	searchBytes  = 256 << 20 // of bodies, after decompression
	searchedRows = record.MaxLimit
)

// Search finds the attempts that a query selects and that have a body which contains a text, in
// the order of the query. It scans bodies one after another. When its time is over, it returns
// what it found and where to continue. Each call advances by at least one row. It ignores Offset
// and Count of the query. It counts the bodies that it cannot read: those of another node, those
// of an unavailable object store, and damaged ones. It returns fault.InvalidParameter for an
// empty text.
func (s *Store) Search(ctx context.Context, q record.Query, text string) (record.Found, error) {
	if text == "" {
		return record.Found{}, fault.New(fault.InvalidParameter, "the search text must not be empty").WithParam("search")
	}
	select {
	case s.searches <- struct{}{}:
		defer func() { <-s.searches }()
	case <-ctx.Done():
		return record.Found{}, ctx.Err()
	}
	r := search{bodies: s.files, log: s.o.Logger, size: q.PageSize(), needle: record.NewNeedle(text), end: time.Now().Add(searchTime), left: s.o.SearchBytes}
	if f, ok := s.files.(interface{ Reading() *bodies.Reading }); ok {
		r.bodies = f.Reading()
	}
	q.Limit, q.Offset, q.Count = searchedRows, 0, false
	for {
		page, err := s.rows.RowWithBody(ctx, q)
		if err != nil {
			return record.Found{}, err
		}
		for i := range page.RowStore {
			done, err := r.searchRow(ctx, &page.RowStore[i])
			if err != nil {
				return record.Found{}, err
			}
			if done && (i < len(page.RowStore)-1 || page.Next != "") {
				r.found.Next = record.CursorAt(page.RowStore[i].Started, page.RowStore[i].ID)
				r.found.Incomplete = len(r.found.Rows) < r.size
				return r.found, nil
			}
		}
		if q.After = page.Next; q.After == "" {
			return r.found, nil
		}
	}
}

// reader reads bodies.
type reader interface {
	Read(ctx context.Context, ref bodies.Ref) (bodies.Set, error)
}

// search is a search in progress.
type search struct {
	bodies reader
	log    *slog.Logger
	size   int // rows to find
	needle record.SearchTerm
	end    time.Time
	left   int64 // bytes left to scan
	found  record.Found
}

// searchRow searches the bodies of a row. It returns true if the search ends with that row.
func (r *search) searchRow(ctx context.Context, row *RowWithBody) (done bool, err error) {
	set, err := r.bodies.Read(ctx, row.Ref)
	switch {
	case err == nil:
	case errors.Is(err, bodies.ErrGone):
		return false, nil
	case ctx.Err() != nil:
		return true, err
	default: // one damaged body must not hide all later rows
		if !errors.Is(err, bodies.ErrElsewhere) && !errors.Is(err, bodies.ErrUnavailable) {
			r.log.Error("cannot read bodies during search", "id", row.ID, "error", err)
		}
		r.found.Unread++
		return r.spent(), nil
	}
	with := row.Attempt
	set.CopyTo(&with)
	found, searchedBytes := r.needle.Search(&with)
	r.left -= int64(searchedBytes)
	if found {
		r.found.Rows = append(r.found.Rows, row.Attempt)
	}
	return r.spent() || len(r.found.Rows) == r.size, nil
}

func (r *search) spent() bool { return r.left <= 0 || time.Now().After(r.end) }
