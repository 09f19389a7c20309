package export

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"sluice/internal/domain/record"
)

// lines writes each object on a line. Compressed parts follow each other: a file of gzip members,
// or of zstd frames, reads as one stream.
type lines struct {
	columns     []record.ExportColumn
	compression record.ExportCompression
	buf         bytes.Buffer
}

// stampForm is the format of times in lines: 2026-11-20T10:00:00.000Z.
const stampForm = "2006-01-02T15:04:05.000Z"

func (l *lines) add(values []any) error {
	l.buf.WriteByte('{')
	e := json.NewEncoder(&l.buf)
	e.SetEscapeHTML(false)
	for i, v := range values {
		if i > 0 {
			l.buf.WriteByte(',')
		}
		fmt.Fprintf(&l.buf, "%q:", l.columns[i].Name)
		if t, ok := v.(time.Time); ok {
			v = t.UTC().Format(stampForm)
		}
		if err := e.Encode(v); err != nil {
			return fmt.Errorf("encode %s: %w", l.columns[i].Name, err)
		}
		l.buf.Truncate(l.buf.Len() - 1) // Encode adds a line break
	}
	l.buf.WriteString("}\n")
	return nil
}

func (l *lines) pending() int { return l.buf.Len() }

func (l *lines) part(int64) ([]byte, error) {
	plain := l.buf.Bytes()
	defer l.buf.Reset() // the result is written to the file before the next row arrives
	var out bytes.Buffer
	var w io.WriteCloser
	var err error
	switch l.compression {
	case record.ExportGzip:
		w = gzip.NewWriter(&out)
	case record.ExportZstd:
		w, err = zstd.NewWriter(&out, zstd.WithEncoderConcurrency(1))
	case record.ExportPlain:
		return plain, nil
	}
	if err != nil {
		return nil, err
	}
	_, err = w.Write(plain)
	err = errors.Join(err, w.Close())
	return out.Bytes(), err
}

func (l *lines) footer(_ io.ReaderAt, size int64) ([]byte, error) {
	if size == 0 { // no rows: an empty compressed stream is not zero bytes
		return l.part(0)
	}
	return nil, nil
}
