package cohere

import (
	"bufio"
	"bytes"
	"compress/flate"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"

	"sluice/internal/dialect/uploads"
	"sluice/internal/kernel/fault"
)

// Limits of a file: its header, and a block of rows before and after decompression. The JSON of
// a block may be avroJSONTimes as long as its decompressed bytes plus avroJSONMin, because a
// number of 4 bytes becomes up to 16 bytes of JSON. The JSON of a row and each string in it may
// have uploads.MaxLineBytes.
const (
	maxAvroHeaderBytes = 1 << 20
	maxAvroBlockBytes  = 64 << 20
	avroJSONTimes      = 16
	avroJSONMin        = 64 << 10
)

// avroMagic is the start of every Avro object container file.
const avroMagic = "Obj\x01"

// readAvro returns a reader of translated rows. src contains one or more Avro object container
// files in sequence. For every row, line appends its translation to dst; row is a JSON object and
// valid only during the call. Blocks may be compressed with deflate. Only one row is in memory at
// a time, whatever the size of the files. Data that is not a valid file is fault.UpstreamInvalid.
// Source: https://avro.apache.org/docs/1.11.1/specification/#object-container-files, read 2026-11.
func readAvro(src io.Reader, line func(dst, row []byte) []byte) io.Reader {
	f := &avroFile{all: avroReader{src: bufio.NewReaderSize(src, avroBuffer)}, line: line}
	return uploads.ChunkReader(f.next)
}

const avroBuffer = 32 << 10

// avroFile reads the rows of files one by one.
type avroFile struct {
	all  avroReader
	head *avroHeader // header of the current file; nil before the first
	line func(dst, row []byte) []byte

	block *io.LimitedReader // the raw block in the file; nil between blocks
	rows  avroReader        // the decompressed block
	left  int64             // rows left in the block
	made  int               // bytes of JSON produced from the block
	row   []byte
}

// avroHeader is the parsed header of a file.
type avroHeader struct {
	schema *avroType
	codec  string
	sync   []byte // marker at the end of each block
}

// next appends the translation of the next row. It appends nothing at the end of a block.
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
		return n <= uploads.MaxLineBytes && f.made+n <= avroJSONTimes*f.rows.taken+avroJSONMin
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

// begin reads the start of the next block, or the header of the next file. After the last file it
// returns io.EOF.
func (f *avroFile) begin() error {
	begins, err := f.all.src.Peek(len(avroMagic))
	if string(begins) == avroMagic { // a block cannot start like this: its row count would be -40
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

// end finishes a block: no data may follow its rows, and the sync marker follows the block.
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

// avroReader reads values from a file or from a block of it.
type avroReader struct {
	src         *bufio.Reader
	taken       int              // bytes read so far
	text        bytes.Buffer     // result of the last take
	hasCapacity func(n int) bool // reports whether the JSON of a row may have n bytes; some types produce much JSON from few bytes
}

func (r *avroReader) fail(why string) error {
	return fault.New(fault.UpstreamInvalid, "cannot read the provider's dataset as an Avro file: "+why)
}

// ended translates a read error where more data must follow. The end of the file and corrupt
// compression become fault.UpstreamInvalid. A connection error is returned unchanged.
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

// ReadByte reads one byte and counts it.
func (r *avroReader) ReadByte() (byte, error) {
	b, err := r.src.ReadByte()
	if err == nil {
		r.taken++
	}
	return b, err
}

// long reads an integer: a zigzag varint.
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

// take reads n bytes. They are valid until the next call.
func (r *avroReader) take(n int64) ([]byte, error) {
	if n < 0 || n > uploads.MaxLineBytes {
		return nil, r.fail("a string is too long")
	}
	r.text.Reset()
	got, err := io.CopyN(&r.text, r.src, n)
	if r.taken += int(got); err != nil {
		return nil, r.ended(err)
	}
	return r.text.Bytes(), nil
}

// bytes reads a length and that many bytes.
func (r *avroReader) bytes() ([]byte, error) {
	n, err := r.long()
	if err != nil {
		return nil, err
	}
	return r.take(n)
}

// blockCount reads the number of items in the next block of an array or map; 0 marks the end. A
// negative count is followed by the size of the block, which is ignored here.
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
