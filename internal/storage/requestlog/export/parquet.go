package export

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"

	"sluice/internal/domain/record"
)

// table writes Apache Parquet. Each part is a complete Parquet file that contains its start
// offset; the footer at the end of the file lists the row groups of all parts.
type table struct {
	columns []record.ExportColumn
	options []parquet.WriterOption
	rows    []parquet.Row
	size    int
}

// beginKey is the metadata key of the offset at which a part begins.
const beginKey = "sluice.part"

func newParquet(s Shape) *table {
	options := []parquet.WriterOption{schemaOf(s.Columns), parquet.CreatedBy("sluice", "", "")}
	switch s.Compression {
	case record.ExportGzip:
		options = append(options, parquet.Compression(&parquet.Gzip))
	case record.ExportZstd:
		options = append(options, parquet.Compression(&parquet.Zstd))
	case record.ExportPlain:
		options = append(options, parquet.Compression(&parquet.Uncompressed))
	}
	return &table{columns: s.Columns, options: options}
}

// group is the schema of a row: like parquet.Group, which sorts its fields by name, but in the
// requested order.
type group struct {
	parquet.Group
	fields []parquet.Field
}

// Fields lists the columns.
func (g group) Fields() []parquet.Field { return g.fields }

func schemaOf(columns []record.ExportColumn) *parquet.Schema {
	g := group{Group: make(parquet.Group, len(columns))}
	for _, c := range columns {
		g.Group[c.Name] = parquet.Optional(nodeOf(c.Type))
	}
	byName := make(map[string]parquet.Field, len(columns))
	for _, f := range g.Group.Fields() {
		byName[f.Name()] = f
	}
	for _, c := range columns {
		g.fields = append(g.fields, byName[c.Name])
	}
	return parquet.NewSchema("log", g)
}

func nodeOf(t record.ExportType) parquet.Node {
	switch t {
	case record.ExportCount:
		return parquet.Leaf(parquet.Int64Type)
	case record.ExportAmount:
		return parquet.Leaf(parquet.DoubleType)
	case record.ExportFlag:
		return parquet.Leaf(parquet.BooleanType)
	case record.ExportTime:
		return parquet.Timestamp(parquet.Millisecond)
	case record.ExportJSON:
		return parquet.JSON()
	case record.ExportText:
	}
	return parquet.String()
}

func (t *table) add(values []any) error {
	row := make(parquet.Row, len(values))
	for i, v := range values {
		cell, err := valueOf(v)
		if err != nil {
			return fmt.Errorf("encode %s: %w", t.columns[i].Name, err)
		}
		level := 1
		if cell.IsNull() {
			level = 0
		}
		row[i] = cell.Level(0, level, i)
		t.size += 16
		if k := cell.Kind(); k == parquet.ByteArray {
			t.size += len(cell.ByteArray())
		}
	}
	t.rows = append(t.rows, row)
	return nil
}

func valueOf(v any) (parquet.Value, error) {
	switch v := v.(type) {
	case nil:
		return parquet.NullValue(), nil
	case string:
		return parquet.ByteArrayValue([]byte(strings.ToValidUTF8(v, "\ufffd"))), nil
	case int64:
		return parquet.Int64Value(v), nil
	case float64:
		return parquet.DoubleValue(v), nil
	case bool:
		return parquet.BooleanValue(v), nil
	case time.Time:
		return parquet.Int64Value(v.UnixMilli()), nil
	case json.RawMessage:
		var b bytes.Buffer
		err := json.Compact(&b, v)
		return parquet.ByteArrayValue(b.Bytes()), err
	}
	return parquet.Value{}, fmt.Errorf("no column for a value of type %T", v)
}

func (t *table) pending() int { return t.size }

func (t *table) part(begins int64) ([]byte, error) {
	var out bytes.Buffer
	w := parquet.NewWriter(&out, append(t.options, parquet.KeyValueMetadata(beginKey, strconv.FormatInt(begins, 10)))...)
	if _, err := w.WriteRows(t.rows); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	clear(t.rows)
	t.rows, t.size = t.rows[:0], 0
	return out.Bytes(), nil
}

func (t *table) footer(file io.ReaderAt, size int64) ([]byte, error) {
	if size == 0 { // no rows: the file is one part without rows
		return t.part(0)
	}
	return footerOf(file, size)
}
