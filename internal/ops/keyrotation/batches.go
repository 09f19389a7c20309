package keyrotation

import (
	"context"
	"errors"
	"fmt"

	"sluice/internal/domain/batch"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/sealed"
	"sluice/internal/storage/sqlstore"
)

// batchPage is the number of batches that are read at once.
const batchPage = 200

// errSealed reports a batch that needs no change.
var errSealed = errors.New("sealed by the current key")

// resealBatches seals the files of managed batches and the headers of their calls again. It returns how
// many it has written, also with an error. It can run again after an interruption.
func resealBatches(ctx context.Context, store *sqlstore.Store, box *sealed.Sealer) (int, error) {
	total, err := store.RewriteChunks(ctx, func(c batch.Chunk) ([]byte, error) {
		return again(box, c.Data, batch.ChunkContext(c.FileID, c.Number))
	})
	if err != nil {
		return total, fmt.Errorf("re-seal files of batches: %w", err)
	}
	for after := ""; ; {
		ids, err := store.BatchIDs(ctx, after, batchPage)
		if err != nil {
			return total, err
		}
		for _, id := range ids {
			changed, err := resealBatch(ctx, store, box, id)
			if err != nil {
				return total, fmt.Errorf("re-seal batch %s: %w", id, err)
			}
			if changed {
				total++
			}
		}
		if len(ids) < batchPage {
			return total, nil
		}
		after = ids[len(ids)-1]
	}
}

// resealBatch seals the header of a batch again, and reports whether that was needed.
func resealBatch(ctx context.Context, store *sqlstore.Store, box *sealed.Sealer, id string) (bool, error) {
	_, err := store.UpdateBatch(ctx, id, func(b *batch.Batch) (*batch.Added, error) {
		data, err := again(box, b.Headers, batch.HeaderContext(b.ID))
		if err != nil {
			return nil, err
		}
		if data == nil {
			return nil, errSealed
		}
		b.Headers = data
		return nil, nil
	})
	if errors.Is(err, errSealed) || fault.Has(err, fault.NotFound) { // it was deleted meanwhile
		return false, nil
	}
	return err == nil, err
}

// again seals data under the current key; nil if it is sealed so.
func again(box *sealed.Sealer, data []byte, context string) ([]byte, error) {
	if len(data) == 0 || !box.UsesOldKey(data) {
		return nil, nil
	}
	plain, err := box.Open(data, context)
	if err != nil {
		return nil, err
	}
	return box.Seal(plain, context)
}
