package sqlstore

import (
	"context"

	"sluice/internal/domain/batch"
)

// chunkPage is the number of parts of files that RewriteChunks reads at once.
const chunkPage = 8

// RewriteChunks replaces the content of all parts of files, and returns the number of changed ones,
// also with an error. rewrite returns nil for a part that does not change. It may run again after an
// interruption.
func (s *batchTable) RewriteChunks(ctx context.Context, rewrite func(c batch.Chunk) ([]byte, error)) (changed int, err error) {
	after := batchChunkRow{Number: -1}
	for {
		rows, err := s.chunksAfter(ctx, &after)
		if err != nil {
			return changed, err
		}
		for i := range rows {
			c := &rows[i]
			data, err := rewrite(batch.Chunk{FileID: c.FileID, Number: int(c.Number), Data: c.Data})
			if err != nil {
				return changed, err
			}
			if data == nil {
				continue
			}
			if _, err := s.exec(ctx, "replace a part of a file", "UPDATE batch_chunks SET data = ? WHERE file_id = ? AND number = ?", data, c.FileID, c.Number); err != nil {
				return changed, err
			}
			changed++
		}
		if len(rows) < chunkPage {
			return changed, nil
		}
		after = rows[len(rows)-1]
	}
}

func (s *batchTable) chunksAfter(ctx context.Context, after *batchChunkRow) (rows []batchChunkRow, err error) {
	source := s.onWriter()
	err = source.runStep(ctx, "read parts of files", func(ctx context.Context) error {
		rows = rows[:0]
		return s.writer.NewSelect().Model(&rows).Where("(c.file_id > ? OR (c.file_id = ? AND c.number > ?))", after.FileID, after.FileID, after.Number).
			Order("c.file_id", "c.number").Limit(chunkPage).Scan(ctx)
	})
	return rows, err
}

// BatchIDs returns the ids of all batches after an id, in order, at most limit.
func (s *batchTable) BatchIDs(ctx context.Context, after string, limit int) (ids []string, err error) {
	source := s.onWriter()
	err = source.runStep(ctx, "list the ids of batches", func(ctx context.Context) error {
		ids = ids[:0]
		return s.writer.NewSelect().Model((*batchRow)(nil)).Column("id").Where("b.id > ?", after).Order("b.id").Limit(int64(limit)).Scan(ctx, &ids)
	})
	return ids, err
}
