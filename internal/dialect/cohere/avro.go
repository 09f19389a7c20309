package cohere

import (
	"bufio"
	"bytes"
	"compress/flate"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"

	"sluice/internal/dialect"
	"sluice/internal/fault"
)

// Limits of a file: its head; a block of rows, packed and unpacked; and how much longer
// than it came a block may be as JSON, where a number of 4 bytes takes up to 16. A row, as
// JSON, and each text in it is limited as a line is.
const (
	maxAvroHeaderBytes = 1 << 20
	maxAvroBlockBytes  = 64 << 20
	avroJSONTimes      = 16
	avroJSONMin        = 64 << 10
)

// avroMagic begins every Avro object container file.
const avroMagic = "Obj\x01"

// readAvro is a reader of what line appends of every row of Avro object container files
// that follow each other in src: the row is a JSON object, valid during the call. Blocks
// may be packed by deflate. A row is held at a time, whatever the size of the files. What
// is no such file is fault.UpstreamInvalid.
// Source: https://avro.apache.org/docs/1.11.1/specification/#object-container-files, read 2026-11.
func readAvro(src io.Reader, line func(dst, row []byte) []byte) io.Reader {
	f := &avroFile{all: avroReader{src: bufio.NewReaderSize(src, avroBuffer)}, line: line}
	return dialect.ChunkReader(f.next)
}

const avroBuffer = 32 << 10

// avroFile reads the rows of files one by one.
type avroFile struct {
	all  avroReader
	head *avroHeader // of the file; nil before the first
	line func(dst, row []byte) []byte

	block *io.LimitedReader // the block, as it stands in the file; nil between blocks
	rows  avroReader        // the block unpacked
	left  int64             // rows of it
	made  int               // bytes of JSON of it
	row   []byte
}

// avroHeader is what the head of a file says.
type avroHeader struct {
	schema *avroType
	codec  string
	sync   []byte // ends each block
}

// next appends what the next row is, or nothing at the end of a block.
func (f *avroFile) next(dst []byte) (_ []byte, err error) {
	switch {
	case f.block == nil:
		return dst, f.begin()
	case f.left == 0:
		return dst, f.end()
	}
	f.left--
	before := f.rows.taken
	f.rows.hasCapacity = func(n int) bool {
		return n <= dialect.MaxLineBytes && f.made+n <= avroJSONTimes*f.rows.taken+avroJSONMin
	}
	if f.row, err = f.rows.value(f.row[:0], f.head.schema, 0); err != nil {
		return dst, err
	}
	if f.rows.taken == before {
		return dst, f.rows.fail("a row is empty")
	}
	f.made += len(f.row)
	return f.line(dst, f.row), nil
}

// begin begins the next block, and before that the next file where one begins. It is
// io.EOF behind the last.
func (f *avroFile) begin() error {
	begins, err := f.all.src.Peek(len(avroMagic))
	if string(begins) == avroMagic { // a block cannot begin so: it would have -40 rows
		f.head, err = f.all.header()
		return err
	}
	switch {
	case f.head == nil && (err == nil || errors.Is(err, io.EOF)):
		return f.all.fail("invalid file signature")
	case len(begins) == 0:
		return err
	}
	if f.left, err = f.all.long(); err != nil {
		return err
	}
	size, err := f.all.long()
	if err != nil {
		return err
	}
	if f.left < 0 || size < 0 || size > maxAvroBlockBytes {
		return f.all.fail("invalid block size")
	}
	f.block = &io.LimitedReader{R: f.all.src, N: size}
	f.made = 0
	f.rows = avroReader{src: bufio.NewReaderSize(f.block, avroBuffer)}
	if f.head.codec == "deflate" {
		f.rows.src.Reset(&io.LimitedReader{R: flate.NewReader(bufio.NewReader(f.block)), N: maxAvroBlockBytes})
	}
	return nil
}

// end ends a block: it has nothing behind its rows, and the mark follows it.
func (f *avroFile) end() error {
	if _, err := f.rows.src.ReadByte(); err == nil {
		return f.rows.fail("a block is longer than its rows")
	} else if !errors.Is(err, io.EOF) {
		return f.rows.ended(err)
	}
	if f.block.N > 0 {
		return f.rows.fail("a block is shorter than its declared size")
	}
	f.block = nil
	mark, err := f.all.take(int64(len(f.head.sync)))
	if err == nil && !bytes.Equal(mark, f.head.sync) {
		err = f.all.fail("invalid end of a block")
	}
	return err
}

// avroReader takes values off a file, or off a block of it.
type avroReader struct {
	src         *bufio.Reader
	taken       int              // bytes so far
	text        bytes.Buffer     // what was taken last
	hasCapacity func(n int) bool // whether a row may be JSON of n bytes: types may make much of few bytes
}

func (r *avroReader) fail(why string) error {
	return fault.New(fault.UpstreamInvalid, "cannot read the provider's dataset as an Avro file: "+why)
}

// ended is the fault of a file that ends, or cannot be unpacked, where more must follow; an
// error of the connection stays what it is.
func (r *avroReader) ended(err error) error {
	var corrupt flate.CorruptInputError
	switch {
	case errors.As(err, &corrupt):
		return r.fail("cannot decompress a block")
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return r.fail("unexpected end of file")
	}
	return err
}

func (r *avroReader) header() (*avroHeader, error) {
	h := &avroHeader{codec: "null"}
	var schema []byte
	if _, err := r.take(int64(len(avroMagic))); err != nil {
		return nil, err
	}
	for before := r.taken; ; {
		n, err := r.blockCount()
		if err != nil {
			return nil, err
		}
		if n == 0 {
			break
		}
		for ; n > 0; n-- {
			name, err := r.bytes()
			if err != nil {
				return nil, err
			}
			key := string(name)
			val, err := r.bytes()
			switch {
			case err != nil:
				return nil, err
			case r.taken-before > maxAvroHeaderBytes:
				return nil, r.fail("the header is too long")
			case key == "avro.schema":
				schema = bytes.Clone(val)
			case key == "avro.codec":
				h.codec = string(val)
			}
		}
	}
	if h.codec != "null" && h.codec != "deflate" {
		return nil, r.fail("unknown compression codec")
	}
	mark, err := r.take(16)
	if err != nil {
		return nil, err
	}
	h.sync = bytes.Clone(mark)
	var decoded any
	if err := json.Unmarshal(schema, &decoded); err != nil {
		return nil, r.fail("invalid schema")
	}
	if h.schema = compile(decoded, map[string]*avroType{}, 0); h.schema == nil || h.schema.kind != "record" {
		return nil, r.fail("its schema is not a record")
	}
	return h, nil
}

// ReadByte takes a byte.
func (r *avroReader) ReadByte() (byte, error) {
	b, err := r.src.ReadByte()
	if err == nil {
		r.taken++
	}
	return b, err
}

// long takes a whole number, zigzag and of variable length.
func (r *avroReader) long() (int64, error) {
	before := r.taken
	v, err := binary.ReadVarint(r)
	if err != nil && r.taken-before == binary.MaxVarintLen64 {
		return 0, r.fail("a number is too long")
	}
	if err != nil {
		return 0, r.ended(err)
	}
	return v, nil
}

// take takes n bytes, which are valid until the next.
func (r *avroReader) take(n int64) ([]byte, error) {
	if n < 0 || n > dialect.MaxLineBytes {
		return nil, r.fail("a string is too long")
	}
	r.text.Reset()
	got, err := io.CopyN(&r.text, r.src, n)
	if r.taken += int(got); err != nil {
		return nil, r.ended(err)
	}
	return r.text.Bytes(), nil
}

// bytes takes a length and so many bytes.
func (r *avroReader) bytes() ([]byte, error) {
	n, err := r.long()
	if err != nil {
		return nil, err
	}
	return r.take(n)
}

// blockCount takes the count of the next run of an array's or map's items, 0 at its
// end. A negative one is followed by the run's size, which does not matter here.
func (r *avroReader) blockCount() (int64, error) {
	n, err := r.long()
	if n < 0 && err == nil {
		n = -n
		_, err = r.long()
	}
	if err == nil && n < 0 {
		err = r.fail("invalid item count")
	}
	return n, err
}
