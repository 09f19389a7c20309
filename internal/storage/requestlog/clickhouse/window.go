package clickhouse

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"sluice/internal/domain/record"
)

// firstWindow is the part of the log in which a page is searched at first. Each further search
// covers eight times as much. All searches together read about a seventh more than the last one.
const (
	firstWindow  = time.Hour
	windowFactor = 8
)

// narrow limits a selection in order of time to a part of the log that contains the complete
// page: the server sorts what is selected, and without a time range it would sort the log. Days
// are partitions and time is in their key, so that the server does not read what is outside.
func (d *queries) narrow(ctx context.Context, q *record.Query, s *selection) error {
	from, to, err := d.reach(ctx, q)
	if err != nil {
		return err
	}
	need := q.PageSize() + 1 + max(q.Offset, 0)
	for width := firstWindow; width < to.Sub(from); width *= windowFactor {
		part := s.clone()
		if q.Newest {
			part.add("started >= " + part.Time(to.Add(-width)))
		} else {
			part.add("started < " + part.Time(from.Add(width)))
		}
		var found int64
		sql := "SELECT count() FROM (SELECT 1 FROM attempts FINAL" + part.where() + " LIMIT " + strconv.Itoa(need) + ")"
		if err := d.ask(ctx, sql, &part.Params, func(scan func(...any) error) error { return scan(&found) }); err != nil {
			return fmt.Errorf("find a page of log rows: %w", err)
		}
		if found >= int64(need) {
			*s = *part
			return nil
		}
	}
	return nil
}

// reach returns the time range of the rows of a page: that of the query and its cursor, otherwise
// that of the log.
func (d *queries) reach(ctx context.Context, q *record.Query) (from, to time.Time, err error) {
	from, to = q.From, q.To
	if q.After != "" {
		started, _, err := q.After.Split()
		switch {
		case err != nil:
			return from, to, err
		case q.Newest && (to.IsZero() || started.Before(to)):
			to = started.Add(time.Microsecond)
		case !q.Newest && started.After(from):
			from = started
		}
	}
	if !from.IsZero() && !to.IsZero() {
		return from, to, nil
	}
	var oldest, newest int64
	err = d.ask(ctx, "SELECT toUnixTimestamp64Micro(min(started)), toUnixTimestamp64Micro(max(started)) FROM attempts", nil, func(scan func(...any) error) error {
		return scan(&oldest, &newest)
	})
	if err != nil {
		return from, to, fmt.Errorf("read progress of the log: %w", err)
	}
	if first := time.UnixMicro(oldest); from.Before(first) {
		from = first
	}
	if last := time.UnixMicro(newest + 1); to.IsZero() || last.Before(to) {
		to = last
	}
	return from, to, nil
}

// clone returns a copy of the selection to which more conditions can be added.
func (s *selection) clone() *selection {
	return &selection{Params: s.Params.Clone(), conditions: slices.Clone(s.conditions)}
}
