package sqlstore

import (
	"context"
	"fmt"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/uptrace/bun"

	"sluice/internal/kernel/fault"
)

// MaxResponseBytes is the maximum size of a stored response together with its input. Compressed
// it must not exceed maxCompressed, because a statement contains it as two digits a byte and a
// stock MariaDB accepts 16 MiB.
const (
	MaxResponseBytes = 8 << 20
	maxCompressed    = 7 << 20
)

// responseRow is a row of the table responses. It stores a response of POST /responses, for
// callers that read it again or continue from it, if the provider does not store it.
type responseRow struct {
	bun.BaseModel `bun:"table:responses,alias:p"`

	ID          string `bun:",pk"` // "resp_gw…"
	WorkspaceID string
	CreatedMS   int64  `bun:"created_ms"`
	ExpiresMS   int64  `bun:"expires_ms"`
	Input       []byte // compressed
	Response    []byte // compressed
}

// responseTable is the table of stored responses.
type responseTable struct{ *database }

// SaveResponse stores a response and its input items until a time; storing it again changes
// nothing. It does not retain the slices. It returns TooLarge if both together exceed
// MaxResponseBytes, and ReadOnly while the writer is down.
func (s *responseTable) SaveResponse(ctx context.Context, workspace, id string, until time.Time, input, response []byte) error {
	for name, value := range map[string]string{"id": id, "workspace_id": workspace} {
		if err := storable(name, value, 64); err != nil {
			return err
		}
	}
	if len(input)+len(response) > MaxResponseBytes {
		return fault.Newf(fault.TooLarge, "the response and its input exceed %d bytes", MaxResponseBytes)
	}
	compressed, out := s.zip.EncodeAll(input, nil), s.zip.EncodeAll(response, nil)
	if len(compressed)+len(out) > maxCompressed {
		return fault.Newf(fault.TooLarge, "the response and its input exceed %d bytes, compressed", maxCompressed)
	}
	_, err := s.exec(ctx, "store a response", "INSERT INTO responses (id, workspace_id, created_ms, expires_ms, input, response) VALUES (?, ?, ?, ?, ?, ?)",
		id, workspace, stamp(time.Time{}), until.UnixMilli(), compressed, out)
	if fault.Has(err, fault.Conflict) {
		return nil // an earlier try whose result was lost
	}
	return err
}

// FindResponse returns what SaveResponse stored in that workspace, unless it has expired by now:
// the items as a list and the response as an object. Otherwise it returns NotFound. A reader may
// lag, so a response that the reader lacks is read from the writer.
func (s *responseTable) FindResponse(ctx context.Context, workspace, id string, now time.Time) (input, response []byte, err error) {
	row, err := s.reads.response(ctx, workspace, id, now)
	if fault.Has(err, fault.NotFound) && s.read.db != s.write.db && !s.write.isRecentlyUnavailable() {
		onWriter := reads{db: s.writer, engine: s.engine, side: s.write}
		if again, writerErr := onWriter.response(ctx, workspace, id, now); writerErr == nil {
			row, err = again, nil
		}
	}
	if err != nil {
		return nil, nil, err
	}
	if input, err = s.unzip.DecodeAll(row.Input, nil); err == nil {
		response, err = s.unzip.DecodeAll(row.Response, nil)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("decompress response %s: %w", id, err)
	}
	return input, response, nil
}

func (r reads) response(ctx context.Context, workspace, id string, now time.Time) (responseRow, error) {
	var row responseRow
	err := r.runStep(ctx, "find a response", func(ctx context.Context) error {
		return r.db.NewSelect().Model(&row).Where("p.id = ?", id).Where("p.workspace_id = ?", workspace).
			Where("p.expires_ms > ?", now.UnixMilli()).Scan(ctx)
	})
	return row, err
}

// DeleteResponse deletes a response of a workspace. It returns NotFound if there is none, and
// ReadOnly while the writer is down.
func (s *responseTable) DeleteResponse(ctx context.Context, workspace, id string) error {
	n, err := s.exec(ctx, "delete a response", "DELETE FROM responses WHERE id = ? AND workspace_id = ?", id, workspace)
	if err == nil && n == 0 {
		return fault.New(fault.NotFound, "")
	}
	return err
}

// SweepResponses deletes what has expired by now. Several nodes may run it at once.
func (s *responseTable) SweepResponses(ctx context.Context, now time.Time) error {
	_, err := s.exec(ctx, "delete expired responses", "DELETE FROM responses WHERE expires_ms <= ?", now.UnixMilli())
	return err
}

// packers compress and decompress stored bytes. Both are safe for concurrent use.
type packers struct {
	zip   *zstd.Encoder
	unzip *zstd.Decoder
}

func newPackers() (p packers, err error) {
	if p.zip, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(2), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithAllLitEntropyCompression(true)); err != nil {
		return p, err
	}
	p.unzip, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(2), zstd.WithDecoderMaxMemory(MaxResponseBytes))
	return p, err
}
