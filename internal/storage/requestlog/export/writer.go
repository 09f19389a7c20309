package export

import (
	"errors"
	"fmt"
	"io"
	"os"

	"sluice/internal/domain/record"
)

// usualPart is the size of a part in bytes, before compression. One more row may exceed it.
const usualPart = 8 << 20

// encoder makes parts of rows. part receives the part's offset in the file.
type encoder interface {
	// add adds the values of a row, one for each column.
	add(values []any) error
	// pending returns the size of the current part before compression.
	pending() int
	// part returns the encoded rows since the last part, as written to the file.
	part(begins int64) ([]byte, error)
	// footer returns what follows the parts of a complete file of the given size; it may be
	// empty.
	footer(file io.ReaderAt, size int64) ([]byte, error)
}

// Shape defines the content and the format of a file.
type Shape struct {
	Columns     []record.ExportColumn
	Format      record.ExportFormat
	Compression record.ExportCompression
}

func (s Shape) encoder() encoder {
	if s.Format == record.ExportParquet {
		return newParquet(s)
	}
	return &lines{columns: s.Columns, compression: s.Compression}
}

// writer writes one file. It belongs to one goroutine, and must be closed.
type writer struct {
	id           string
	files        *Files
	file         *os.File
	columns      []record.ExportColumn
	encoder      encoder
	maxPartBytes int // in bytes
	values       []any
	mark         record.ExportMark // of the parts in the file
	next         record.ExportMark // Rows and Cursor including the pending rows
}

// write continues a file after a mark, or from the beginning if the file is shorter than the
// mark. It truncates what follows the mark.
func (f *Files) write(id string, s Shape, mark record.ExportMark, maxBytes int) (*writer, error) {
	file, err := os.OpenFile(f.path(id), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open file of export %s: %w", id, err)
	}
	w := &writer{id: id, files: f, file: file, columns: s.Columns, encoder: s.encoder(), maxPartBytes: maxBytes, values: make([]any, len(s.Columns))}
	info, err := file.Stat()
	if err == nil && info.Size() < mark.Bytes {
		mark = record.ExportMark{}
	}
	if err == nil {
		err = file.Truncate(mark.Bytes)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open file of export %s: %w", id, err), file.Close())
	}
	f.shrank(id, mark.Bytes)
	w.mark, w.next = mark, mark
	return w, nil
}

// add adds a row. The row is in the file after the next cut.
func (w *writer) add(a *record.Attempt) error {
	for i := range w.columns {
		w.values[i] = w.columns[i].Value(a)
	}
	w.next.Rows, w.next.Cursor = w.next.Rows+1, record.CursorAt(a.Started, a.ID)
	return w.encoder.add(w.values)
}

// full reports whether the part should be cut.
func (w *writer) full() bool { return w.encoder.pending() >= w.maxPartBytes }

// cut writes the added rows to the file and the disk, and returns the mark after them. After an
// error the writer is unusable.
func (w *writer) cut() (record.ExportMark, error) {
	if w.next.Rows == w.mark.Rows {
		return w.mark, nil
	}
	part, err := w.encoder.part(w.mark.Bytes)
	if err != nil {
		return w.mark, fmt.Errorf("encode part of export %s: %w", w.id, err)
	}
	if err := w.append(part); err != nil {
		return w.mark, err
	}
	w.next.Bytes = w.mark.Bytes + int64(len(part))
	w.mark = w.next
	return w.mark, nil
}

// finish writes the footer after the last part, and returns the size of the file.
func (w *writer) finish() (int64, error) {
	end, err := w.encoder.footer(w.file, w.mark.Bytes)
	if err != nil {
		return 0, fmt.Errorf("complete file of export %s: %w", w.id, err)
	}
	return w.mark.Bytes + int64(len(end)), w.append(end)
}

// append writes after the mark.
func (w *writer) append(b []byte) error {
	if err := w.files.grow(w.id, w.mark.Bytes+int64(len(b))); err != nil {
		return err
	}
	_, err := w.file.WriteAt(b, w.mark.Bytes)
	if err == nil {
		err = w.file.Sync()
	}
	if err != nil {
		return fmt.Errorf("write file of export %s: %w", w.id, err)
	}
	return nil
}

func (w *writer) close() error { return w.file.Close() }
