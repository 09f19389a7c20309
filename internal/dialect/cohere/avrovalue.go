package cohere

import (
	"encoding/binary"
	"math"
	"strconv"

	"sluice/internal/dialect/media"
	"sluice/internal/kernel/jsonedit"
)

// value reads a value of type t and appends it as JSON. Numbers that JSON does not support become
// null, and bytes become base64.
func (r *avroReader) value(dst []byte, t *avroType, depth int) ([]byte, error) {
	if depth > avroDepth || !r.hasCapacity(len(dst)) {
		return dst, r.fail("a value is nested too deeply or is too large")
	}
	switch t.kind {
	case "null":
		return append(dst, "null"...), nil
	case "boolean":
		b, err := r.take(1)
		return strconv.AppendBool(dst, err == nil && b[0] != 0), err
	case "int", "long":
		n, err := r.long()
		return strconv.AppendInt(dst, n, 10), err
	case "float":
		b, err := r.take(4)
		if err != nil {
			return dst, err
		}
		return appendFloat(dst, float64(math.Float32frombits(binary.LittleEndian.Uint32(b))), 32), nil
	case "double":
		b, err := r.take(8)
		if err != nil {
			return dst, err
		}
		return appendFloat(dst, math.Float64frombits(binary.LittleEndian.Uint64(b)), 64), nil
	case "string":
		b, err := r.bytes()
		return jsonedit.AppendQuoted(dst, string(b)), err
	case "bytes":
		b, err := r.bytes()
		return jsonedit.AppendQuoted(dst, media.Base64(b)), err
	case "fixed":
		b, err := r.take(t.size)
		return jsonedit.AppendQuoted(dst, media.Base64(b)), err
	case "enum":
		return r.enum(dst, t)
	case "union":
		return r.union(dst, t, depth)
	case "record":
		return r.record(dst, t, depth)
	default:
		return r.items(dst, t, depth)
	}
}

func appendFloat(dst []byte, f float64, bits int) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return append(dst, "null"...)
	}
	return strconv.AppendFloat(dst, f, 'g', -1, bits)
}

func (r *avroReader) enum(dst []byte, t *avroType) ([]byte, error) {
	n, err := r.long()
	if err == nil && (n < 0 || n >= int64(len(t.symbols))) {
		err = r.fail("unknown enum value")
	}
	if err != nil {
		return dst, err
	}
	return jsonedit.AppendQuoted(dst, t.symbols[n]), nil
}

func (r *avroReader) union(dst []byte, t *avroType, depth int) ([]byte, error) {
	n, err := r.long()
	if err == nil && (n < 0 || n >= int64(len(t.branches))) {
		err = r.fail("unknown enum value")
	}
	if err != nil {
		return dst, err
	}
	return r.value(dst, t.branches[n], depth+1)
}

func (r *avroReader) record(dst []byte, t *avroType, depth int) (_ []byte, err error) {
	dst = append(dst, '{')
	for i, f := range t.fields {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(jsonedit.AppendQuoted(dst, f.name), ':')
		if dst, err = r.value(dst, f.typ, depth+1); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}

// items reads the blocks of an array or a map.
func (r *avroReader) items(dst []byte, t *avroType, depth int) ([]byte, error) {
	brackets := "[]"
	if t.kind == "map" {
		brackets = "{}"
	}
	dst = append(dst, brackets[0])
	for first := true; ; {
		n, err := r.blockCount()
		if err != nil {
			return dst, err
		}
		if n == 0 {
			return append(dst, brackets[1]), nil
		}
		for ; n > 0; n-- {
			if !first {
				dst = append(dst, ',')
			}
			first = false
			if dst, err = r.item(dst, t, depth); err != nil {
				return dst, err
			}
		}
	}
}

func (r *avroReader) item(dst []byte, t *avroType, depth int) ([]byte, error) {
	if t.kind == "map" {
		key, err := r.bytes()
		if err != nil {
			return dst, err
		}
		dst = append(jsonedit.AppendQuoted(dst, string(key)), ':')
	}
	return r.value(dst, t.items, depth+1)
}
