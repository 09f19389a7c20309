package duckdb

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"sluice/internal/domain/record"
)

// rollupLevel is a width of slots. Its number is its index in levels.
type rollupLevel uint8

// The levels, the finest first.
const (
	byMinutes rollupLevel = iota
	byHours
	byQuarters
	byDays
	byWeeks
)

// levels define how time is divided: the name in tables, the width, and the delay before a slot
// is computed. During the delay the slot must be over and none of its rows may change. Attempts
// are recorded when they end and belong to the slot in which they started.
var levels = [...]struct {
	name         string
	width, grace time.Duration
}{
	byMinutes:  {"minutes", 5 * time.Minute, time.Minute},
	byHours:    {"hours", time.Hour, 5 * time.Minute},
	byQuarters: {"quarters", 6 * time.Hour, 10 * time.Minute},
	byDays:     {"days", 24 * time.Hour, 15 * time.Minute},
	byWeeks:    {"weeks", 7 * 24 * time.Hour, time.Hour},
}

// bucket is an interval of time. Slots of all levels are counted from record.BucketsFrom, like
// the buckets of an analysis.
type bucket struct {
	rollupLevel rollupLevel
	start       int64 // microseconds since 1970
}

// slotAt returns the slot of a level that contains a time in microseconds.
func slotAt(l rollupLevel, micros int64) bucket {
	width, origin := levels[l].width.Microseconds(), record.BucketsFrom.UnixMicro()
	return bucket{l, micros - ((micros-origin)%width+width)%width}
}

// end returns the start of the next slot.
func (s bucket) end() int64 { return s.start + levels[s.rollupLevel].width.Microseconds() }

func (s bucket) span() span { return span{s.start, s.end()} }

// span is an interval in microseconds since 1970, without its end.
type span struct{ from, to int64 }

// The ends of an open span.
const (
	ever  = -1 << 62
	never = 1 << 62
)

// spanOf returns the span between two times; a zero time is an open end. Rows store microseconds,
// so smaller units are rounded up.
func spanOf(from, to time.Time) span {
	s := span{ever, never}
	if !from.IsZero() {
		s.from = ceilMicro(from)
	}
	if !to.IsZero() {
		s.to = ceilMicro(to)
	}
	return s
}

// hours returns the span from the start of its first hour to the end of its last.
func (s span) hours() span {
	if s.from > ever {
		s.from = slotAt(byHours, s.from).start
	}
	if s.to < never {
		s.to = slotAt(byHours, s.to-1).end()
	}
	return s
}

// clip returns the parts of ordered spans that are inside this one.
func (s span) clip(spans []span) (clipped []span) {
	for _, part := range spans {
		if part = (span{max(part.from, s.from), min(part.to, s.to)}); part.from < part.to {
			clipped = append(clipped, part)
		}
	}
	return clipped
}

func ceilMicro(t time.Time) int64 { return t.Add(time.Microsecond - time.Nanosecond).UnixMicro() }

// condition returns the SQL condition that a time column is in the span.
func (s span) condition(column string) string {
	var and []string
	if s.from > ever {
		and = append(and, fmt.Sprintf("%s >= make_timestamp(%d)", column, s.from))
	}
	if s.to < never {
		and = append(and, fmt.Sprintf("%s < make_timestamp(%d)", column, s.to))
	}
	if len(and) == 0 {
		return "true"
	}
	return strings.Join(and, " AND ")
}

// spansCondition returns the SQL condition that a column is in one of the spans.
func spansCondition(column string, spans []span) string {
	var or []string
	for _, s := range spans {
		or = append(or, "("+s.condition(column)+")")
	}
	if len(or) == 0 {
		return "false"
	}
	return "(" + strings.Join(or, " OR ") + ")"
}

// maxParts is the maximum number of parts of which spanned assembles a table.
const maxParts = 16

// spanned returns an SQL expression to use instead of a table, for the table's rows in some
// spans. It reads each span separately: the statistics of row groups exclude groups for one span,
// but not for a condition that is one span or another.
func spanned(table, column string, spans []span) string {
	if len(spans) == 0 {
		return "(SELECT * FROM " + table + " LIMIT 0)"
	}
	var parts []string
	for some := range slices.Chunk(spans, (len(spans)+maxParts-1)/maxParts) {
		hull := span{some[0].from, some[len(some)-1].to}
		condition := hull.condition(column)
		if len(some) > 1 {
			condition += " AND " + spansCondition(column, some)
		}
		parts = append(parts, "SELECT * FROM "+table+" WHERE "+condition)
	}
	return "(" + strings.Join(parts, " UNION ALL ") + ")"
}

// bucketCover divides a time into slots and into spans between them, for which rows must be read.
type bucketCover struct {
	slots [len(levels)][]span // adjacent slots are merged into one span
	rows  []span
}

// hasBuckets reports whether the cover contains a slot.
func (c *bucketCover) hasBuckets() bool {
	return slices.ContainsFunc(c.slots[:], func(s []span) bool { return len(s) > 0 })
}

// coverOf covers a span with slots as wide as possible. usable are the permitted slots, in any
// order.
func coverOf(period span, usable []bucket) *bucketCover {
	usable = slices.Clone(usable)
	slices.SortFunc(usable, func(a, b bucket) int {
		return cmp.Or(cmp.Compare(b.rollupLevel, a.rollupLevel), cmp.Compare(a.start, b.start))
	})
	c := new(bucketCover)
	gaps := []span{period}
	for len(usable) > 0 {
		n := slices.IndexFunc(usable, func(s bucket) bool { return s.rollupLevel != usable[0].rollupLevel })
		if n < 0 {
			n = len(usable)
		}
		gaps = c.fill(gaps, usable[:n])
		usable = usable[n:]
	}
	c.rows = gaps
	return c
}

// fill puts slots of one level, in order, into gaps, and returns the rest of the gaps.
func (c *bucketCover) fill(gaps []span, slots []bucket) (left []span) {
	part := &c.slots[slots[0].rollupLevel]
	for _, gap := range gaps {
		first, _ := slices.BinarySearchFunc(slots, gap.from, func(s bucket, micros int64) int { return cmp.Compare(s.start, micros) })
		for _, s := range slots[first:] {
			if s.end() > gap.to {
				break
			}
			if gap.from < s.start {
				left = append(left, span{gap.from, s.start})
			}
			if n := len(*part); n > 0 && (*part)[n-1].to == s.start {
				(*part)[n-1].to = s.end()
			} else {
				*part = append(*part, s.span())
			}
			gap.from = s.end()
		}
		if gap.from < gap.to {
			left = append(left, gap)
		}
	}
	return left
}
