package sqlstore

import (
	"context"
	"database/sql"

	"sluice/internal/control/resource"
	"sluice/internal/kernel/fault"
)

// MaxIndex is the largest number of index entries of one record.
const MaxIndex = 1000

// indexColumns are the columns of record_index.
const indexColumns = "kind, id, name, value, unique_value"

// indexRow is a row of the table record_index.
type indexRow struct {
	Kind        string
	ID          string
	Name        string
	Value       string
	UniqueValue sql.NullString // the value again if it must be unique; NULLs may repeat
}

// indexRows checks the entries of a record and returns their rows. A duplicate entry is stored
// once; it is unique if one of the two is.
func indexRows(r resource.Record) ([]indexRow, error) {
	if len(r.Index) > MaxIndex {
		return nil, fault.Newf(fault.InvalidRequest, "a record must not have more than %d index entries", MaxIndex)
	}
	rows := make([]indexRow, 0, len(r.Index))
	positions := make(map[[2]string]int, len(r.Index))
	for _, e := range r.Index {
		if err := storable("index", e.Name, 64); err != nil {
			return nil, err
		}
		if err := storable(e.Name, e.Value, 255); err != nil {
			return nil, err
		}
		if len(e.Value) > 255 {
			return nil, fault.New(fault.InvalidRequest, "must not exceed 255 bytes").WithParam(e.Name)
		}
		i, seen := positions[[2]string{e.Name, e.Value}]
		if !seen {
			i = len(rows)
			positions[[2]string{e.Name, e.Value}] = i
			rows = append(rows, indexRow{Kind: r.Kind, ID: r.ID, Name: e.Name, Value: e.Value})
		}
		if e.Unique {
			rows[i].UniqueValue = sql.NullString{String: e.Value, Valid: true}
		}
	}
	return rows, nil
}

// bare converts rows to records without index entries.
func bare(rows []recordRow) []resource.Record {
	recs := make([]resource.Record, len(rows))
	for i := range rows {
		recs[i] = rows[i].record()
	}
	return recs
}

// withIndex converts rows to records with their index entries.
func (r reads) withIndex(ctx context.Context, rows []recordRow) ([]resource.Record, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	ids := make([]string, len(rows))
	recs := make([]resource.Record, len(rows))
	positions := make(map[[2]string]*resource.Record, len(rows))
	for i := range rows {
		ids[i], recs[i] = rows[i].ID, rows[i].record()
		positions[[2]string{rows[i].Kind, rows[i].ID}] = &recs[i]
	}
	s := statement{text: "SELECT " + indexColumns + " FROM record_index WHERE "}
	s.oneOf("id", ids)
	s.add(" ORDER BY name, value")
	return recs, r.ask(ctx, s, func(line *sql.Rows) error {
		var e indexRow
		if err := line.Scan(&e.Kind, &e.ID, &e.Name, &e.Value, &e.UniqueValue); err != nil {
			return err
		}
		if rec := positions[[2]string{e.Kind, e.ID}]; rec != nil {
			rec.Index = append(rec.Index, resource.IndexEntry{Name: e.Name, Value: e.Value, Unique: e.UniqueValue.Valid})
		}
		return nil
	})
}
