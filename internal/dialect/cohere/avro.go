package cohere

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"encoding/json"
	"io"

	"sluice/internal/fault"
)

// Limits of a block of rows: its size unpacked, and how much longer than that it may be
// as JSON, where a number of 4 bytes takes up to 16.
const (
	avroBlockMax  = 64 << 20
	avroJSONTimes = 16
	avroJSONMin   = 64 << 10
)

// avroMagic begins every Avro object container file.
var avroMagic = []byte("Obj\x01")

// readAvro calls each with every row of an Avro object container file, as a JSON
// object; it is valid during the call. Blocks may be packed by deflate. What is no such
// file is fault.UpstreamInvalid.
// Source: https://avro.apache.org/docs/1.11.1/specification/#object-container-files, read 2026-11.
func readAvro(b []byte, each func(row []byte)) error {
	r := &avroReader{b: b}
	if !bytes.HasPrefix(b, avroMagic) {
		return r.fail("it does not begin as one")
	}
	r.b = b[len(avroMagic):]
	head, err := r.header()
	if err != nil {
		return err
	}
	var row []byte
	for len(r.b) > 0 {
		rows, n, err := r.block(head)
		if err != nil {
			return err
		}
		for range n {
			left := len(rows.b)
			if row, err = rows.value(row[:0], head.schema, 0); err != nil {
				return err
			}
			if len(rows.b) == left {
				return r.fail("a row is empty")
			}
			rows.room -= len(row)
			each(row)
		}
		if len(rows.b) > 0 {
			return r.fail("a block is longer than its rows")
		}
	}
	return nil
}

// avroHeader is what the head of a file says.
type avroHeader struct {
	schema *avroType
	codec  string
	sync   []byte // ends each block
}

// avroReader takes values off the front of b.
type avroReader struct {
	b    []byte
	room int // for JSON: types may make much of few bytes
}

func (r *avroReader) fail(why string) error {
	return fault.New(fault.UpstreamInvalid, "the provider's dataset is no Avro file that can be read: "+why)
}

func (r *avroReader) header() (*avroHeader, error) {
	h := &avroHeader{codec: "null"}
	var schema []byte
	for {
		n, err := r.blockCount()
		if err != nil {
			return nil, err
		}
		if n == 0 {
			break
		}
		for range n {
			key, err := r.bytes()
			if err != nil {
				return nil, err
			}
			val, err := r.bytes()
			if err != nil {
				return nil, err
			}
			switch string(key) {
			case "avro.schema":
				schema = val
			case "avro.codec":
				h.codec = string(val)
			}
		}
	}
	var err error
	if h.sync, err = r.take(16); err != nil {
		return nil, err
	}
	var decoded any
	if err := json.Unmarshal(schema, &decoded); err != nil {
		return nil, r.fail("its schema is broken")
	}
	if h.schema = compile(decoded, map[string]*avroType{}, 0); h.schema == nil || h.schema.kind != "record" {
		return nil, r.fail("its schema is none of rows")
	}
	return h, nil
}

// block takes the next block and returns a reader of its rows, and how many they are.
func (r *avroReader) block(h *avroHeader) (*avroReader, int, error) {
	n, err := r.long()
	if err != nil {
		return nil, 0, err
	}
	data, err := r.bytes()
	if err != nil {
		return nil, 0, err
	}
	mark, err := r.take(16)
	if err != nil {
		return nil, 0, err
	}
	if !bytes.Equal(mark, h.sync) {
		return nil, 0, r.fail("a block does not end as it should")
	}
	switch h.codec {
	case "null":
	case "deflate":
		data, err = io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(data)), avroBlockMax+1))
		if err != nil || len(data) > avroBlockMax {
			return nil, 0, r.fail("a block cannot be unpacked")
		}
	default:
		return nil, 0, r.fail("its blocks are packed by a codec that is not known")
	}
	if n < 0 || n > int64(len(data)) {
		return nil, 0, r.fail("a block counts more rows than it can hold")
	}
	return &avroReader{b: data, room: avroJSONTimes*len(data) + avroJSONMin}, int(n), nil
}

// long takes a whole number, zigzag and of variable length.
func (r *avroReader) long() (int64, error) {
	v, n := binary.Varint(r.b)
	if n <= 0 {
		return 0, r.fail("it is cut short")
	}
	r.b = r.b[n:]
	return v, nil
}

// take takes n bytes.
func (r *avroReader) take(n int64) ([]byte, error) {
	if n < 0 || n > int64(len(r.b)) {
		return nil, r.fail("it is cut short")
	}
	out := r.b[:n]
	r.b = r.b[n:]
	return out, nil
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
	if err == nil && (n < 0 || n > int64(len(r.b))) {
		err = r.fail("it is cut short")
	}
	return n, err
}
