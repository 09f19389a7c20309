package duckdb

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"sluice/internal/logstore/bodies"
	"sluice/internal/record"
)

// rowColumns are the columns of attempts, in the order of appendRow and scanRow.
const rowColumns = "id, started, series, request_id, trace_id, number, duration_ns, first_byte_ns, status, upstream, retries, " +
	"input_tokens, output_tokens, total_tokens, cached_tokens, cache_write_tokens, reasoning_tokens, " +
	"bytes_in, bytes_out, request_size, response_size, " +
	"body_file, body_block, body_at, request_length, response_length, metadata, extra"

// encoder makes rows. It belongs to the writer, which uses a row before it asks for
// the next.
type encoder struct {
	row  []driver.Value
	keys []string
	text []byte
}

// rowValues returns the columns of an attempt in the order of rowColumns.
func (e *encoder) rowValues(a *record.Attempt, series int32, ref bodies.Ref) ([]driver.Value, error) {
	var x extra
	id, request, trace := keyOf(a.ID, &x.ID), keyOf(a.RequestID, &x.RequestID), keyOf(a.TraceID, &x.TraceID)
	x.take(a)
	rest, err := x.text()
	if err != nil {
		return nil, err
	}
	metadata := e.metadata(a.Metadata)
	u := &a.Usage
	e.row = append(e.row[:0],
		id, a.Started.UTC(), series, request, trace, a.Number, int64(a.Duration), int64(a.FirstByte), a.Status, a.Upstream, a.Retries,
		u.InputTokens, u.OutputTokens, u.TotalTokens, u.CachedTokens, u.CacheWriteTokens, u.ReasoningTokens,
		a.BytesIn, a.BytesOut, a.Request.Size, a.Response.Size,
		ref.File, ref.Block, ref.At, ref.Request, ref.Response, metadata, rest)
	return e.row, nil
}

// stored is a row as it is read: an attempt whose series is still a number.
type stored struct {
	record.Attempt
	series int32
	ref    bodies.Ref
}

// scanRow reads rowColumns with the Scan of a row.
func scanRow(scan func(...any) error) (stored, error) {
	var (
		s                  stored
		id, request, trace duckdb.UUID
		metadata, rest     string
	)
	a, u := &s.Attempt, &s.Usage
	err := scan(&id, &a.Started, &s.series, &request, &trace, &a.Number, (*int64)(&a.Duration), (*int64)(&a.FirstByte), &a.Status, &a.Upstream, &a.Retries,
		&u.InputTokens, &u.OutputTokens, &u.TotalTokens, &u.CachedTokens, &u.CacheWriteTokens, &u.ReasoningTokens,
		&a.BytesIn, &a.BytesOut, &a.Request.Size, &a.Response.Size,
		&s.ref.File, &s.ref.Block, &s.ref.At, &s.ref.Request, &s.ref.Response, &metadata, &rest)
	if err != nil {
		return stored{}, fmt.Errorf("read log row: %w", err)
	}
	var x extra
	if rest != "" {
		if err := json.Unmarshal([]byte(rest), &x); err != nil {
			return stored{}, fmt.Errorf("read log row: extra: %w", err)
		}
	}
	if metadata != "" {
		if err := json.Unmarshal([]byte(metadata), &a.Metadata); err != nil {
			return stored{}, fmt.Errorf("read log row: metadata: %w", err)
		}
	}
	a.ID, a.RequestID, a.TraceID = textOf(id, x.ID), textOf(request, x.RequestID), textOf(trace, x.TraceID)
	a.Started = a.Started.UTC()
	x.give(a)
	return s, nil
}
