package sqlstore

import (
	"context"

	"github.com/uptrace/bun"

	"sluice/internal/control/resource"
	"sluice/internal/kernel/fault"
)

// MaxLinks is the largest number of links of one record in one set.
const MaxLinks = 10_000

// linkChunk is the number of links in one statement.
const linkChunk = 500

// linkRow is a row of the table record_links.
type linkRow struct {
	bun.BaseModel `bun:"table:record_links,alias:l"`

	SetName  string
	FromID   string
	ToID     string
	Position int
	Body     string
}

// Links returns the links of a record in a set, ordered by position, then by their target record.
// No links is not an error.
func (r reads) Links(ctx context.Context, set, fromID string) ([]resource.Link, error) {
	var rows []linkRow
	err := r.runStep(ctx, "list links "+set, func(ctx context.Context) error {
		return r.db.NewSelect().Model(&rows).Where("l.set_name = ?", set).Where("l.from_id = ?", fromID).
			Order("l.position", "l.to_id").Limit(MaxLinks).Scan(ctx)
	})
	if err != nil {
		return nil, err
	}
	links := make([]resource.Link, len(rows))
	for i, row := range rows {
		links[i] = resource.Link{Set: row.SetName, FromID: row.FromID, ToID: row.ToID, Position: row.Position}
		if row.Body != "" {
			links[i].Body = []byte(row.Body)
		}
	}
	return links, nil
}

// PutLinks replaces the links of a record in a set. It ignores Set and FromID of the links. The
// change feed reports the set's name as the kind. It returns Conflict if two links have the same
// target record.
func (t *tx) PutLinks(ctx context.Context, set, fromID string, links []resource.Link) error {
	return t.step(ctx, "store links "+set, func(ctx context.Context, db bun.IDB) error {
		rows, err := linkRows(set, fromID, links)
		if err != nil {
			return err
		}
		if _, err := db.NewDelete().Table("record_links").Where("set_name = ?", set).Where("from_id = ?", fromID).Exec(ctx); err != nil {
			return err
		}
		for len(rows) > 0 {
			chunk := rows[:min(len(rows), linkChunk)]
			rows = rows[len(chunk):]
			if _, err := db.NewInsert().Model(&chunk).Exec(ctx); err != nil {
				return err
			}
		}
		t.change(set, fromID, len(links) == 0)
		return nil
	})
}

func linkRows(set, fromID string, links []resource.Link) ([]linkRow, error) {
	if len(links) > MaxLinks {
		return nil, fault.Newf(fault.InvalidRequest, "must not have more than %d links", MaxLinks)
	}
	if err := storable("set", set, 64); err != nil {
		return nil, err
	}
	if err := storable("from_id", fromID, 36); err != nil {
		return nil, err
	}
	rows := make([]linkRow, len(links))
	for i, l := range links {
		if err := storable("to_id", l.ToID, 255); err != nil {
			return nil, err
		}
		if err := storableBody(l.Body); err != nil {
			return nil, err
		}
		rows[i] = linkRow{SetName: set, FromID: fromID, ToID: l.ToID, Position: l.Position, Body: string(l.Body)}
	}
	return rows, nil
}
