package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/uptrace/bun"

	"sluice/internal/control/resource"
	"sluice/internal/domain/batch"
	"sluice/internal/kernel/fault"
)

// batchFileRow is a row of the table batch_files: a file of managed batches.
type batchFileRow struct {
	bun.BaseModel `bun:"table:batch_files,alias:f"`

	ID          string `bun:",pk"` // "file-gw…"
	WorkspaceID string
	Purpose     string
	CreatedMS   int64  `bun:"created_ms"`
	ExpiresMS   int64  `bun:"expires_ms"`
	Body        []byte // batch.File, compressed
}

// batchChunkRow is a row of the table batch_chunks: a part of the content of a file, sealed.
type batchChunkRow struct {
	bun.BaseModel `bun:"table:batch_chunks,alias:c"`

	FileID    string `bun:",pk"`
	Number    int64  `bun:",pk"` // from 0
	ExpiresMS int64  `bun:"expires_ms"`
	Data      []byte
}

// batchTable contains the batches that the gateway manages, and their files.
type batchTable struct{ *database }

// onWriter returns reads of the writer, because a reader may lag.
func (s *batchTable) onWriter() reads { return reads{db: s.writer, engine: s.engine, side: s.write} }

// AddChunk stores a part of the content of a file, which is deleted after a time. Storing it again
// changes nothing.
func (s *batchTable) AddChunk(ctx context.Context, c batch.Chunk) error {
	_, err := s.exec(ctx, "store a part of a file", "INSERT INTO batch_chunks (file_id, number, expires_ms, data) VALUES (?, ?, ?, ?)", c.FileID, c.Number, c.Expires.UnixMilli(), c.Data)
	if fault.Has(err, fault.Conflict) {
		return nil // an earlier try whose result was lost
	}
	return err
}

// FindChunk returns a part of the content of a file, or NotFound.
func (s *batchTable) FindChunk(ctx context.Context, fileID string, number int) ([]byte, error) {
	var row batchChunkRow
	source := s.onWriter()
	err := source.runStep(ctx, "read a part of a file", func(ctx context.Context) error {
		return s.writer.NewSelect().Model(&row).Where("c.file_id = ?", fileID).Where("c.number = ?", number).Scan(ctx)
	})
	return row.Data, orNotFound(err)
}

// SaveFile stores a file whose content is complete. Storing it again changes nothing.
func (s *batchTable) SaveFile(ctx context.Context, f *batch.File) error {
	row, err := s.rowOfFile(f)
	if err != nil {
		return err
	}
	_, err = s.exec(ctx, "store a file", "INSERT INTO batch_files (id, workspace_id, purpose, created_ms, expires_ms, body) VALUES (?, ?, ?, ?, ?, ?)",
		row.ID, row.WorkspaceID, row.Purpose, row.CreatedMS, row.ExpiresMS, row.Body)
	if fault.Has(err, fault.Conflict) {
		return nil // an earlier try whose result was lost
	}
	return err
}

func (s *batchTable) rowOfFile(f *batch.File) (*batchFileRow, error) {
	for name, value := range map[string]string{"id": f.ID, "workspace_id": f.WorkspaceID, "purpose": f.Purpose} {
		if err := storable(name, value, 64); err != nil {
			return nil, err
		}
	}
	body, err := f.Encode()
	if err != nil {
		return nil, err
	}
	return &batchFileRow{ID: f.ID, WorkspaceID: f.WorkspaceID, Purpose: f.Purpose, CreatedMS: f.Created.UnixMilli(), ExpiresMS: f.Expires.UnixMilli(), Body: s.zip.EncodeAll(body, nil)}, nil
}

// FindFile returns a file of a workspace, unless it has expired by now. Otherwise it returns NotFound.
func (s *batchTable) FindFile(ctx context.Context, workspace, id string, now time.Time) (*batch.File, error) {
	var row batchFileRow
	source := s.onWriter()
	err := source.runStep(ctx, "find a file", func(ctx context.Context) error {
		return s.writer.NewSelect().Model(&row).Where("f.id = ?", id).Where("f.workspace_id = ?", workspace).Where("f.expires_ms > ?", now.UnixMilli()).Scan(ctx)
	})
	if err != nil {
		return nil, orNotFound(err)
	}
	return s.fileOf(&row)
}

func (s *batchTable) fileOf(row *batchFileRow) (*batch.File, error) {
	body, err := s.unzip.DecodeAll(row.Body, nil)
	if err != nil {
		return nil, err
	}
	return batch.DecodeFile(body)
}

// ListFiles returns the files of a page, the newest first, at most its limit. purpose is empty for
// all. It returns NotFound if the page begins after an unknown file.
func (s *batchTable) ListFiles(ctx context.Context, p batch.Page, purpose string) ([]*batch.File, error) {
	var rows []batchFileRow
	source := s.onWriter()
	err := source.runStep(ctx, "list files", func(ctx context.Context) error {
		rows = rows[:0]
		q := s.writer.NewSelect().Model(&rows).Where("f.workspace_id = ?", p.WorkspaceID).Where("f.expires_ms > ?", p.Now.UnixMilli())
		if purpose != "" {
			q = q.Where("f.purpose = ?", purpose)
		}
		if p.After != "" {
			first := new(batchFileRow)
			if err := s.writer.NewSelect().Model(first).Where("f.id = ?", p.After).Where("f.workspace_id = ?", p.WorkspaceID).Scan(ctx); err != nil {
				return err
			}
			q = q.Where("(f.created_ms < ? OR (f.created_ms = ? AND f.id < ?))", first.CreatedMS, first.CreatedMS, first.ID)
		}
		return q.Order("f.created_ms DESC", "f.id DESC").Limit(int64(p.Limit)).Scan(ctx)
	})
	if err != nil {
		return nil, orNotFound(err)
	}
	list := make([]*batch.File, 0, len(rows))
	for i := range rows {
		f, err := s.fileOf(&rows[i])
		if err != nil {
			return nil, err
		}
		list = append(list, f)
	}
	return list, nil
}

// DeleteFile deletes a file of a workspace and its content, or returns NotFound.
func (s *batchTable) DeleteFile(ctx context.Context, workspace, id string) error {
	return s.InTx(ctx, func(rtx resource.Tx) error {
		return runInTx(ctx, rtx, "delete a file", func(ctx context.Context, db bun.IDB) error {
			res, err := db.NewDelete().Model((*batchFileRow)(nil)).Where("id = ?", id).Where("workspace_id = ?", workspace).Exec(ctx)
			if err != nil {
				return err
			}
			if n, err := res.RowsAffected(); err != nil || n == 0 {
				return errors.Join(err, fault.New(fault.NotFound, ""))
			}
			_, err = db.NewDelete().Model((*batchChunkRow)(nil)).Where("file_id = ?", id).Exec(ctx)
			return err
		})
	})
}

// orNotFound returns NotFound for a row that does not exist.
func orNotFound(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return fault.New(fault.NotFound, "")
	}
	return err
}
