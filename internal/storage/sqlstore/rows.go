package sqlstore

import (
	"context"
	"database/sql"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/uptrace/bun"

	"sluice/internal/control/resource"
	"sluice/internal/kernel/fault"
)

// MaxBodyBytes is the maximum size of the body of a record, link or audit row. It fits the
// smallest packet limit of a stock server (16 MB on MariaDB) even if every byte is escaped.
const MaxBodyBytes = 4 << 20

// recordRow is a row of the table records.
type recordRow struct {
	bun.BaseModel `bun:"table:records,alias:r"`

	Kind        string `bun:",pk"`
	ID          string `bun:",pk"`
	OrgID       string
	WorkspaceID string
	Slug        sql.NullString // NULL if empty: NULLs may repeat in a unique index
	Name        string
	NameFolded  string // the column that Query.Search searches: the engines fold case differently
	Status      string
	Version     int64
	CreatedMS   int64 `bun:"created_ms"`
	UpdatedMS   int64 `bun:"updated_ms"`
	Body        string
}

// values returns the values of recordColumns.
func (row *recordRow) values() []any {
	return []any{
		row.Kind, row.ID, row.OrgID, row.WorkspaceID, row.Slug, row.Name, row.NameFolded, row.Status, row.Version, row.CreatedMS, row.UpdatedMS, row.Body,
	}
}

// scanTargets returns the fields into which recordColumns are scanned.
func (row *recordRow) scanTargets() []any {
	return append(make([]any, 0, 13), // capacity for one more
		&row.Kind, &row.ID, &row.OrgID, &row.WorkspaceID, &row.Slug, &row.Name, &row.NameFolded, &row.Status, &row.Version, &row.CreatedMS, &row.UpdatedMS, &row.Body)
}

// records runs a statement that returns recordColumns.
func (r reads) records(ctx context.Context, s statement) (rows []recordRow, err error) {
	var row recordRow
	targets := row.scanTargets()
	err = r.ask(ctx, s, func(line *sql.Rows) error {
		err := line.Scan(targets...)
		rows = append(rows, row)
		return err
	})
	return rows, err
}

// rowOf checks a record and makes its row. It makes the checks that only some engines make, so
// that all engines accept and reject the same records.
func rowOf(r resource.Record) (recordRow, error) {
	for _, f := range []struct {
		name, value string
		max         int
	}{
		{"kind", r.Kind, 64}, {"id", r.ID, 36}, {"organisation_id", r.OrgID, 36}, {"workspace_id", r.WorkspaceID, 36},
		{"slug", r.Slug, 255}, {"name", r.Name, 255}, {"status", r.Status, 64},
	} {
		if err := storable(f.name, f.value, f.max); err != nil {
			return recordRow{}, err
		}
	}
	if r.Kind == "" || r.ID == "" {
		return recordRow{}, fault.New(fault.InvalidRequest, "kind and id of a record are required")
	}
	if err := storableBody(r.Body); err != nil {
		return recordRow{}, err
	}
	return recordRow{
		Kind: r.Kind, ID: r.ID, OrgID: r.OrgID, WorkspaceID: r.WorkspaceID,
		Slug: sql.NullString{String: r.Slug, Valid: r.Slug != ""},
		Name: r.Name, NameFolded: strings.ToLower(r.Name), Status: r.Status,
		Version: r.Version, CreatedMS: stamp(r.Created), UpdatedMS: stamp(r.Updated), Body: string(r.Body),
	}, nil
}

func (row *recordRow) record() resource.Record {
	return resource.Record{
		Kind: row.Kind, ID: row.ID, OrgID: row.OrgID, WorkspaceID: row.WorkspaceID, Slug: row.Slug.String,
		Name: row.Name, Status: row.Status, Version: row.Version,
		Created: time.UnixMilli(row.CreatedMS).UTC(), Updated: time.UnixMilli(row.UpdatedMS).UTC(), Body: []byte(row.Body),
	}
}

// stamp returns a time as stored; the zero time means now.
func stamp(t time.Time) int64 {
	if t.IsZero() {
		t = time.Now()
	}
	return t.UnixMilli()
}

// storable rejects strings that one of the engines cannot store.
func storable(name, value string, max int) error {
	switch {
	case !utf8.ValidString(value) || strings.ContainsRune(value, 0):
		return fault.New(fault.InvalidRequest, "must be valid UTF-8").WithParam(name)
	case len(value) > max && utf8.RuneCountInString(value) > max:
		return fault.Newf(fault.InvalidRequest, "must not exceed %d characters", max).WithParam(name)
	}
	return nil
}

func storableBody(body []byte) error {
	if len(body) > MaxBodyBytes {
		return fault.Newf(fault.TooLarge, "the record exceeds %d bytes", MaxBodyBytes)
	}
	return storable("body", string(body), MaxBodyBytes)
}
