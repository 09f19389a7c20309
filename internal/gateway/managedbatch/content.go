package managedbatch

import (
	"context"
	"fmt"
	"io"

	"sluice/internal/dialect/uploads"
	"sluice/internal/domain/batch"
)

// seal returns a part of a file as it is stored.
func (s *Service) seal(fileID string, number int, plain []byte) ([]byte, error) {
	return s.Box.Seal(plain, batch.ChunkContext(fileID, number))
}

// saveContent stores the content of a file in parts, and sets its size.
func (s *Service) saveContent(ctx context.Context, f *batch.File, content io.Reader) error {
	buf := make([]byte, batch.ChunkBytes)
	for {
		n, err := io.ReadFull(content, buf)
		if n > 0 {
			data, sealErr := s.seal(f.ID, f.Chunks, buf[:n])
			if sealErr != nil {
				return sealErr
			}
			if err := s.Store.AddChunk(ctx, batch.Chunk{FileID: f.ID, Number: f.Chunks, Expires: f.Expires, Data: data}); err != nil {
				return err
			}
			f.Chunks++
			f.Bytes += int64(n)
		}
		switch err {
		case nil:
		case io.EOF, io.ErrUnexpectedEOF:
			return nil
		default:
			return err
		}
	}
}

// open returns a reader of the content of a file. It reads one part at a time.
func (s *Service) open(ctx context.Context, f *batch.File) io.Reader {
	next := 0
	return uploads.ChunkReader(func(dst []byte) ([]byte, error) {
		if next == f.Chunks {
			return dst, io.EOF
		}
		data, err := s.Store.FindChunk(ctx, f.ID, next)
		if err != nil {
			return dst, err
		}
		plain, err := s.Box.Open(data, batch.ChunkContext(f.ID, next))
		if err != nil {
			return dst, fmt.Errorf("part %d of file %s: %w", next, f.ID, err)
		}
		next++
		return append(dst, plain...), nil
	})
}

// grow adds lines to a result file of a batch: its parts are stored with the change of the batch.
func (s *Service) grow(b *batch.Batch, r *batch.Result, lines []byte, count int64, added *batch.Added) error {
	if len(lines) == 0 {
		return nil
	}
	if r.FileID == "" {
		r.FileID = newFileID()
	}
	r.Lines += count
	r.Bytes += int64(len(lines))
	for len(lines) > 0 {
		n := min(len(lines), batch.ChunkBytes)
		data, err := s.seal(r.FileID, r.Chunks, lines[:n])
		if err != nil {
			return err
		}
		added.Chunks = append(added.Chunks, batch.Chunk{FileID: r.FileID, Number: r.Chunks, Expires: b.Times.Expires.Add(s.Retention), Data: data})
		r.Chunks++
		lines = lines[n:]
	}
	return nil
}
