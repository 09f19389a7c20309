package duckdb

import (
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/duckdb/duckdb-go/v2/mapping"

	"sluice/internal/domain/record"
)

// seriesColumns are the columns of series after id, in the order of texts and flags.
const seriesColumns = "org_id, workspace_id, key_id, key_name, user_id, config_id, target_path, provider, provider_id, " +
	"model, reply_model, endpoint, span_name, method, path, upstream_url, outcome, cache_status, remote, " +
	"request_type, request_encoding, response_type, response_encoding, " +
	"stream, continued, usage_reported, request_cut, response_cut"

const (
	seriesTexts = 23
	seriesFlags = 5

	// maxSeries limits the index. A full index is cleared. Some series then get a second number,
	// which does no harm.
	maxSeries = 1 << 16
)

// seriesOf lists the fields of an attempt that its series contains.
func seriesOf(a *record.Attempt) (texts [seriesTexts]*string, flags [seriesFlags]*bool) {
	return [...]*string{
			&a.OrgID, &a.WorkspaceID, &a.KeyID, &a.KeyName, &a.UserID, &a.ConfigID, &a.TargetPath, &a.Provider, &a.ProviderID,
			&a.Model, &a.ResponseModel, (*string)(&a.Endpoint), &a.SpanName, &a.Method, &a.Path, &a.UpstreamURL, (*string)(&a.Outcome), &a.CacheStatus, &a.Remote,
			&a.Request.Type, &a.Request.Encoding, &a.Response.Type, &a.Response.Encoding,
		}, [...]*bool{
			&a.Stream, &a.Continued, &a.Usage.Reported, &a.Request.Truncated, &a.Response.Truncated,
		}
}

// seriesIndex finds the number of a series by its fields. It belongs to the
// writer.
type seriesIndex struct {
	ids  map[string]int32
	next int32
	key  []byte   // reused
	keys []string // of the series created since the last commit
}

// number returns the series of an attempt, and whether it is not stored yet.
func (x *seriesIndex) number(a *record.Attempt) (id int32, fresh bool) {
	x.key = appendSeriesKey(x.key[:0], a)
	if id, ok := x.ids[string(x.key)]; ok {
		return id, false
	}
	id = x.next
	x.next++
	x.add(string(x.key), id)
	return id, true
}

func (x *seriesIndex) add(key string, id int32) {
	if len(x.ids) >= maxSeries {
		clear(x.ids)
	}
	x.ids[key] = id
	x.keys = append(x.keys, key)
}

// finishTransaction ends a transaction. If it was not stored, the series it created are dropped.
// Their numbers are not used again.
func (x *seriesIndex) finishTransaction(stored bool) {
	if !stored {
		for _, k := range x.keys {
			delete(x.ids, k)
		}
	}
	clear(x.keys)
	x.keys = x.keys[:0]
}

// appendSeriesKey appends all fields of the series, each text after its length.
func appendSeriesKey(b []byte, a *record.Attempt) []byte {
	texts, flags := seriesOf(a)
	for _, t := range texts {
		b = binary.AppendUvarint(b, uint64(len(*t)))
		b = append(b, *t...)
	}
	for _, f := range flags {
		if *f {
			b = append(b, 1)
		} else {
			b = append(b, 0)
		}
	}
	return b
}

// seriesKinds returns the types of id and seriesColumns.
func seriesKinds() []mapping.Type {
	kinds := []mapping.Type{mapping.TypeInteger}
	kinds = append(kinds, slices.Repeat([]mapping.Type{mapping.TypeVarchar}, seriesTexts)...)
	return append(kinds, slices.Repeat([]mapping.Type{mapping.TypeBoolean}, seriesFlags)...)
}

// appendSeries writes the row of a new series.
func appendSeries(s *appender, id int32, a *record.Attempt) error {
	texts, flags := seriesOf(a)
	s.int32(id)
	for _, t := range texts {
		s.text(strings.ToValidUTF8(*t, "\uFFFD"))
	}
	for _, f := range flags {
		s.bool(*f)
	}
	return s.end()
}

// scanSeries reads id and seriesColumns into the fields of an attempt.
func scanSeries(rows *sql.Rows, a *record.Attempt) (id int32, err error) {
	texts, flags := seriesOf(a)
	dest := []any{&id}
	for _, t := range texts {
		dest = append(dest, t)
	}
	for _, f := range flags {
		dest = append(dest, f)
	}
	return id, rows.Scan(dest...)
}

// querier is a database or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// eachSeries calls visit with the series that a condition on their table selects.
func eachSeries(ctx context.Context, db querier, condition string, args []any, visit func(int32, *record.Attempt)) error {
	rows, err := db.QueryContext(ctx, "SELECT id, "+seriesColumns+" FROM series WHERE "+condition, args...)
	if err != nil {
		return fmt.Errorf("read log series: %w", err)
	}
	defer func() { _ = rows.Close() }() // rows.Err reports errors
	for rows.Next() {
		var a record.Attempt
		id, err := scanSeries(rows, &a)
		if err != nil {
			return fmt.Errorf("read log series: %w", err)
		}
		visit(id, &a)
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("read log series: %w", err)
	}
	return nil
}

// loadSeries fills an index with the newest series of the database.
func loadSeries(ctx context.Context, db *sql.DB) (*seriesIndex, error) {
	x := &seriesIndex{ids: map[string]int32{}, next: 1}
	err := db.QueryRowContext(ctx, "SELECT coalesce(max(id), 0) + 1 FROM series").Scan(&x.next)
	if err != nil {
		return nil, fmt.Errorf("read log series: %w", err)
	}
	err = eachSeries(ctx, db, "id > ?", []any{x.next - maxSeries/2}, func(id int32, a *record.Attempt) {
		x.ids[string(appendSeriesKey(nil, a))] = id
	})
	return x, err
}
