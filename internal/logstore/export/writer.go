package export

import (
	"errors"
	"fmt"
	"io"
	"os"

	"sluice/internal/record"
)

// usualPart is how many bytes are gathered, before they are compressed, until a part is
// full. A row more may stand in it.
const usualPart = 8 << 20

// encoder makes parts of rows. A part is told where in the file it begins.
type encoder interface {
	// add takes the values of a row, one for each column.
	add(values []any) error
	// pending is the size of the part so far, before it is compressed.
	pending() int
	// part is what was added since the last one, as it stands in the file.
	part(begins int64) ([]byte, error)
	// footer is what stands behind the parts of a whole file of so many bytes; it may be
	// empty.
	footer(file io.ReaderAt, size int64) ([]byte, error)
}

// Shape says what is in a file, and how.
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
	maxPartBytes int // bytes of a part
	values       []any
	mark         record.ExportMark // of the parts that are in the file
	next         record.ExportMark // Rows and Cursor with what is pending
}

// write goes on with a file behind a mark, from the beginning when the file is shorter
// than that. What stands behind the mark is cut off.
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

// add takes a row. It is in the file once cut was called.
func (w *writer) add(a *record.Attempt) error {
	for i := range w.columns {
		w.values[i] = w.columns[i].Value(a)
	}
	w.next.Rows, w.next.Cursor = w.next.Rows+1, record.CursorAt(a.Started, a.ID)
	return w.encoder.add(w.values)
}

// full reports whether the part should be cut.
func (w *writer) full() bool { return w.encoder.pending() >= w.maxPartBytes }

// cut puts what was added into the file and on the disk, and returns the mark behind it.
// After an error the writer is of no use.
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

// finish writes what stands behind the last part, and returns the size of the file.
func (w *writer) finish() (int64, error) {
	end, err := w.encoder.footer(w.file, w.mark.Bytes)
	if err != nil {
		return 0, fmt.Errorf("complete file of export %s: %w", w.id, err)
	}
	return w.mark.Bytes + int64(len(end)), w.append(end)
}

// append writes behind the mark.
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
