package sqlstore

import (
	"context"
	"errors"
	"time"

	"github.com/uptrace/bun"

	"sluice/internal/control/resource"
	"sluice/internal/domain/batch"
)

// batchRow is a row of the table batches.
type batchRow struct {
	bun.BaseModel `bun:"table:batches,alias:b"`

	ID          string `bun:",pk"` // "batch_gw…"
	WorkspaceID string
	CreatedMS   int64 `bun:"created_ms"`
	ExpiresMS   int64 `bun:"expires_ms"` // the row is deleted then
	Ended       int64 // 0 or 1
	DueMS       int64 `bun:"due_ms"`
	Version     int64
	Body        []byte // batch.Batch, compressed
}

// maxBatchTries is the number of times that a change of a batch is repeated because another change
// came first.
const maxBatchTries = 20

// errBatchBusy reports a batch that others change all the time.
var errBatchBusy = errors.New("the batch was changed by others at the same time")

// AddBatch stores a batch, which is deleted after a time.
func (s *batchTable) AddBatch(ctx context.Context, b *batch.Batch, until time.Time) error {
	for name, value := range map[string]string{"id": b.ID, "workspace_id": b.WorkspaceID} {
		if err := storable(name, value, 64); err != nil {
			return err
		}
	}
	body, err := b.Encode()
	if err != nil {
		return err
	}
	_, err = s.exec(ctx, "store a batch", "INSERT INTO batches (id, workspace_id, created_ms, expires_ms, ended, due_ms, version, body) VALUES (?, ?, ?, ?, 0, ?, 1, ?)",
		b.ID, b.WorkspaceID, b.Times.Created.UnixMilli(), until.UnixMilli(), b.Due.UnixMilli(), s.zip.EncodeAll(body, nil))
	return err
}

// FindBatch returns a batch of a workspace, or NotFound. An empty workspace means any.
func (s *batchTable) FindBatch(ctx context.Context, workspace, id string) (*batch.Batch, error) {
	b, _, err := s.findBatch(ctx, workspace, id)
	return b, err
}

func (s *batchTable) findBatch(ctx context.Context, workspace, id string) (*batch.Batch, *batchRow, error) {
	row := new(batchRow)
	source := s.onWriter()
	err := source.runStep(ctx, "find a batch", func(ctx context.Context) error {
		q := s.writer.NewSelect().Model(row).Where("b.id = ?", id)
		if workspace != "" {
			q = q.Where("b.workspace_id = ?", workspace)
		}
		return q.Scan(ctx)
	})
	if err != nil {
		return nil, nil, orNotFound(err)
	}
	b, err := s.batchOf(row)
	return b, row, err
}

func (s *batchTable) batchOf(row *batchRow) (*batch.Batch, error) {
	body, err := s.unzip.DecodeAll(row.Body, nil)
	if err != nil {
		return nil, err
	}
	return batch.Decode(body)
}

// ListBatches returns the batches of a page, the newest first, at most its limit. It returns
// NotFound if the page begins after an unknown batch.
func (s *batchTable) ListBatches(ctx context.Context, p batch.Page) ([]*batch.Batch, error) {
	var rows []batchRow
	source := s.onWriter()
	err := source.runStep(ctx, "list batches", func(ctx context.Context) error {
		rows = rows[:0]
		q := s.writer.NewSelect().Model(&rows).Where("b.workspace_id = ?", p.WorkspaceID)
		if p.After != "" {
			first := new(batchRow)
			if err := s.writer.NewSelect().Model(first).Where("b.id = ?", p.After).Where("b.workspace_id = ?", p.WorkspaceID).Scan(ctx); err != nil {
				return err
			}
			q = q.Where("(b.created_ms < ? OR (b.created_ms = ? AND b.id < ?))", first.CreatedMS, first.CreatedMS, first.ID)
		}
		return q.Order("b.created_ms DESC", "b.id DESC").Limit(int64(p.Limit)).Scan(ctx)
	})
	if err != nil {
		return nil, orNotFound(err)
	}
	list := make([]*batch.Batch, 0, len(rows))
	for i := range rows {
		b, err := s.batchOf(&rows[i])
		if err != nil {
			return nil, err
		}
		list = append(list, b)
	}
	return list, nil
}

// DueBatches returns the ids of running batches that are due by now, the oldest first, at most limit.
func (s *batchTable) DueBatches(ctx context.Context, now time.Time, limit int) (ids []string, err error) {
	source := s.onWriter()
	err = source.runStep(ctx, "list batches that are due", func(ctx context.Context) error {
		ids = ids[:0]
		return s.writer.NewSelect().Model((*batchRow)(nil)).Column("id").Where("b.ended = 0").Where("b.due_ms <= ?", now.UnixMilli()).
			Order("b.due_ms", "b.id").Limit(int64(limit)).Scan(ctx, &ids)
	})
	return ids, err
}

// UpdateBatch changes a batch, and stores what the change adds, all or nothing. change may be called
// again with a newer state of the batch, so it must not depend on an earlier call. An error of
// change ends the update.
func (s *batchTable) UpdateBatch(ctx context.Context, id string, change func(b *batch.Batch) (*batch.Added, error)) (*batch.Batch, error) {
	for range maxBatchTries {
		b, row, err := s.findBatch(ctx, "", id)
		if err != nil {
			return nil, err
		}
		added, err := change(b)
		if err != nil {
			return nil, err
		}
		if stored, err := s.storeChange(ctx, b, row.Version, added); err != nil || stored {
			return b, err
		}
	}
	return nil, errBatchBusy
}

// storeChange stores a changed batch unless another change came first.
func (s *batchTable) storeChange(ctx context.Context, b *batch.Batch, version int64, added *batch.Added) (stored bool, err error) {
	body, err := b.Encode()
	if err != nil {
		return false, err
	}
	ended := 0
	if b.State.Ended() {
		ended = 1
	}
	err = s.InTx(ctx, func(rtx resource.Tx) error {
		return runInTx(ctx, rtx, "change a batch", func(ctx context.Context, db bun.IDB) error {
			res, err := db.NewUpdate().Table("batches").Set("body = ?", s.zip.EncodeAll(body, nil)).Set("ended = ?", ended).Set("due_ms = ?", b.Due.UnixMilli()).
				Set("version = ?", version+1).Where("id = ?", b.ID).Where("version = ?", version).Exec(ctx)
			if err != nil {
				return err
			}
			n, err := res.RowsAffected()
			if stored = n > 0; err != nil || !stored || added == nil {
				return err
			}
			return s.insertAdded(ctx, db, added)
		})
	})
	return stored, err
}

func (s *batchTable) insertAdded(ctx context.Context, db bun.IDB, added *batch.Added) error {
	for i := range added.Chunks {
		c := &added.Chunks[i]
		row := batchChunkRow{FileID: c.FileID, Number: int64(c.Number), ExpiresMS: c.Expires.UnixMilli(), Data: c.Data}
		if _, err := db.NewInsert().Model(&row).Exec(ctx); err != nil {
			return err
		}
	}
	for _, f := range added.Files {
		row, err := s.rowOfFile(f)
		if err != nil {
			return err
		}
		if _, err := db.NewInsert().Model(row).Exec(ctx); err != nil {
			return err
		}
	}
	return nil
}

// SweepBatches deletes batches and files that have expired by now. Several nodes may run it at once.
func (s *batchTable) SweepBatches(ctx context.Context, now time.Time) error {
	for _, table := range []string{"batch_chunks", "batch_files", "batches"} {
		if _, err := s.exec(ctx, "delete expired batches", "DELETE FROM "+table+" WHERE expires_ms <= ?", now.UnixMilli()); err != nil {
			return err
		}
	}
	return nil
}
