package duckdb

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	duckdb "github.com/duckdb/duckdb-go/v2"
	"github.com/duckdb/duckdb-go/v2/mapping"

	"sluice/internal/domain/record"
	"sluice/internal/limits/ledger"
	"sluice/internal/storage/requestlog"
	"sluice/internal/storage/requestlog/bodies"
	"sluice/internal/storage/requestlog/extra"
)

// rowColumns are the columns of attempts, in the order of appendRow, rowKinds and scanRow.
const rowColumns = "id, started, series, request_id, trace_id, number, duration_ns, first_byte_ns, status, upstream, retries, " +
	"input_tokens, output_tokens, total_tokens, cached_tokens, cache_write_tokens, reasoning_tokens, " +
	"bytes_in, bytes_out, request_size, response_size, " +
	"body_file, body_block, body_at, request_length, response_length, metadata, extra, " +
	"cost_nano, saved_nano, bound_nano, spend_state, unpriced, price_version, cost_terms, bill_basis, charged_at, charged_nano, charged, " +
	"end_user, span_id, prompt_slug, arrived"

// rowKinds are the types of rowColumns.
var rowKinds = []mapping.Type{
	mapping.TypeUUID, mapping.TypeTimestamp, mapping.TypeInteger, mapping.TypeUUID, mapping.TypeUUID, mapping.TypeInteger,
	mapping.TypeBigInt, mapping.TypeBigInt, mapping.TypeInteger, mapping.TypeInteger, mapping.TypeInteger,
	mapping.TypeBigInt, mapping.TypeBigInt, mapping.TypeBigInt, mapping.TypeBigInt, mapping.TypeBigInt, mapping.TypeBigInt,
	mapping.TypeBigInt, mapping.TypeBigInt, mapping.TypeBigInt, mapping.TypeBigInt,
	mapping.TypeUInteger, mapping.TypeBigInt, mapping.TypeUInteger, mapping.TypeUInteger, mapping.TypeUInteger,
	mapping.TypeVarchar, mapping.TypeVarchar,
	mapping.TypeBigInt, mapping.TypeBigInt, mapping.TypeBigInt, mapping.TypeVarchar, mapping.TypeVarchar, mapping.TypeVarchar, mapping.TypeVarchar,
	mapping.TypeVarchar, mapping.TypeTimestamp, mapping.TypeBigInt, mapping.TypeVarchar,
	mapping.TypeVarchar, mapping.TypeVarchar, mapping.TypeVarchar, mapping.TypeTimestamp,
}

// encoder makes the texts of rows. It belongs to the writer, which uses the texts of a row before
// it encodes the next.
type encoder struct {
	keys []string
	json []byte
	line ledger.Entry // the closing entry of the attempt
}

// appendRow writes the columns of an attempt in the order of rowColumns.
func (e *encoder) appendRow(s *appender, a *record.Attempt, series int32, ref bodies.Ref, arrived time.Time) error {
	var x extra.Fields
	id, request, trace := keyOf(a.ID, &x.ID), keyOf(a.RequestID, &x.RequestID), keyOf(a.TraceID, &x.TraceID)
	x.Take(a)
	x.BodyKey = ref.Key
	rest, err := x.Text()
	if err != nil {
		return err
	}
	s.key(id)
	s.time(a.Started)
	s.int32(series)
	s.key(request)
	s.key(trace)
	s.int32(a.Number)
	s.int64(int64(a.Duration))
	s.int64(int64(a.FirstByte))
	for _, v := range [...]int32{a.Status, a.Upstream, a.Retries} {
		s.int32(v)
	}
	u := &a.Usage
	for _, v := range [...]int64{
		u.InputTokens, u.OutputTokens, u.TotalTokens, u.CachedTokens, u.CacheWriteTokens, u.ReasoningTokens,
		max(a.BytesIn, 0), a.BytesOut, a.Request.Size, a.Response.Size,
	} {
		s.int64(v)
	}
	s.uint32(ref.File)
	s.int64(ref.Block)
	for _, v := range [...]uint32{ref.Offset, ref.Request, ref.Response} {
		s.uint32(v)
	}
	s.text(e.metadata(a.Metadata))
	s.text(rest)
	appendSpend(s, a)
	appendCharged(s, requestlog.ChargedOf(a.Closing, &e.line))
	for _, v := range [...]string{a.Metadata[record.UserKey], a.SpanID, a.PromptSlug} {
		s.text(strings.ToValidUTF8(v, "\uFFFD"))
	}
	s.time(arrived)
	return s.end()
}

func appendSpend(s *appender, a *record.Attempt) {
	if nano, known := a.Cost(); known {
		s.int64(nano)
	} else {
		s.null(mapping.TypeBigInt)
	}
	s.int64(a.Spend.Saved)
	s.int64(a.Spend.MaxCost)
	for _, v := range [...]string{a.Spend.State, a.Spend.Unpriced, a.Spend.Version, a.Spend.Terms, a.Spend.Basis} {
		s.text(strings.ToValidUTF8(v, "\uFFFD"))
	}
}

func appendCharged(s *appender, c record.Charged) {
	if c.ClosedAt.IsZero() {
		s.null(mapping.TypeTimestamp)
	} else {
		s.time(c.ClosedAt)
	}
	s.int64(c.Nano)
	s.text(c.Budgets)
}

// stored is a row as read: an attempt whose series is still a number.
type stored struct {
	record.Billed
	series  int32
	ref     bodies.Ref
	arrived time.Time // zero if not recorded
}

// scanRow reads rowColumns with the Scan of a row.
func scanRow(scan func(...any) error) (stored, error) {
	var (
		s                  stored
		id, request, trace duckdb.UUID
		metadata, rest     string
		endUser            string // the metadata contains it, too
		cost               sql.NullInt64
		charged, arrived   sql.NullTime
	)
	a, u := &s.Attempt, &s.Usage
	err := scan(&id, &a.Started, &s.series, &request, &trace, &a.Number, (*int64)(&a.Duration), (*int64)(&a.FirstByte), &a.Status, &a.Upstream, &a.Retries,
		&u.InputTokens, &u.OutputTokens, &u.TotalTokens, &u.CachedTokens, &u.CacheWriteTokens, &u.ReasoningTokens,
		&a.BytesIn, &a.BytesOut, &a.Request.Size, &a.Response.Size,
		&s.ref.File, &s.ref.Block, &s.ref.Offset, &s.ref.Request, &s.ref.Response, &metadata, &rest,
		&cost, &a.Spend.Saved, &a.Spend.MaxCost, &a.Spend.State, &a.Spend.Unpriced, &a.Spend.Version, &a.Spend.Terms, &a.Spend.Basis,
		&charged, &s.Charged.Nano, &s.Charged.Budgets,
		&endUser, &a.SpanID, &a.PromptSlug, &arrived)
	if err != nil {
		return stored{}, fmt.Errorf("read log row: %w", err)
	}
	var x extra.Fields
	if err := x.Read(rest); err != nil {
		return stored{}, err
	}
	if metadata != "" {
		if err := json.Unmarshal([]byte(metadata), &a.Metadata); err != nil {
			return stored{}, fmt.Errorf("read log row: metadata: %w", err)
		}
	}
	a.ID, a.RequestID, a.TraceID = textOf(id, x.ID), textOf(request, x.RequestID), textOf(trace, x.TraceID)
	a.Started, a.Spend.Cost, s.arrived = a.Started.UTC(), cost.Int64, arrived.Time.UTC()
	if charged.Valid {
		s.Charged.ClosedAt = charged.Time.UTC()
	}
	x.ApplyTo(a)
	s.ref.Key = x.BodyKey
	return s, nil
}
