package export

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// parquetMagic ends a Parquet file, after the length of its footer in four bytes.
const (
	parquetMagic = "PAR1"
	tailBytes    = 8

	maxFooter = 64 << 20 // bytes of the footer of a part
)

// errFooter reports that a file does not consist of parts that this package writes.
var errFooter = errors.New("cannot read the parts of the file")

// footerOf returns the footer that joins the parts of a file of the given size, to be appended.
// It is empty for one part, whose own footer suffices. It omits the indexes of pages, because
// they are valid only within a part.
// Source: https://parquet.apache.org/docs/file-format, 2025.
func footerOf(file io.ReaderAt, size int64) ([]byte, error) {
	footer, begins, err := readFooter(file, size)
	if err != nil || begins == 0 {
		return nil, err
	}
	parts := [][]format.RowGroup{shiftOffsets(footer.RowGroups, begins)}
	for begins > 0 {
		var part format.FileMetaData
		if part, begins, err = readFooter(file, begins); err != nil {
			return nil, err
		}
		footer.NumRows += part.NumRows
		parts = append(parts, shiftOffsets(part.RowGroups, begins))
	}
	slices.Reverse(parts)
	footer.RowGroups, footer.KeyValueMetadata = slices.Concat(parts...), nil
	if len(footer.RowGroups) > math.MaxInt16 {
		return nil, fmt.Errorf("%d row groups exceed the maximum of a Parquet file", len(footer.RowGroups))
	}
	for i := range footer.RowGroups {
		footer.RowGroups[i].Ordinal = int16(i)
	}
	out, err := thrift.Marshal(new(thrift.CompactProtocol), &footer)
	if err != nil {
		return nil, err
	}
	return append(binary.LittleEndian.AppendUint32(out, uint32(len(out))), parquetMagic...), nil
}

// readFooter reads the footer of the part that ends at an offset, and the part's start.
func readFooter(file io.ReaderAt, end int64) (meta format.FileMetaData, begins int64, err error) {
	tail := make([]byte, tailBytes)
	if end < tailBytes {
		return meta, 0, errFooter
	}
	if _, err := file.ReadAt(tail, end-tailBytes); err != nil {
		return meta, 0, err
	}
	n := int64(binary.LittleEndian.Uint32(tail))
	if string(tail[4:]) != parquetMagic || n > min(end-tailBytes, maxFooter) {
		return meta, 0, errFooter
	}
	raw := make([]byte, n)
	if _, err := file.ReadAt(raw, end-tailBytes-n); err != nil {
		return meta, 0, err
	}
	if err := thrift.Unmarshal(new(thrift.CompactProtocol), raw, &meta); err != nil {
		return meta, 0, fmt.Errorf("%w: %w", errFooter, err)
	}
	for _, kv := range meta.KeyValueMetadata {
		if kv.Key == beginKey {
			begins, err = strconv.ParseInt(kv.Value, 10, 64)
			if err != nil || begins < 0 || begins >= end {
				return meta, 0, errFooter
			}
			return meta, begins, nil
		}
	}
	return meta, 0, errFooter
}

// shiftOffsets returns row groups with their offsets increased.
func shiftOffsets(groups []format.RowGroup, by int64) []format.RowGroup {
	shift := func(offset *int64) {
		if *offset > 0 {
			*offset += by
		}
	}
	for i := range groups {
		shift(&groups[i].FileOffset)
		for j := range groups[i].Columns {
			c := &groups[i].Columns[j]
			c.OffsetIndexOffset, c.OffsetIndexLength, c.ColumnIndexOffset, c.ColumnIndexLength = 0, 0, 0, 0
			shift(&c.FileOffset)
			shift(&c.MetaData.DataPageOffset)
			shift(&c.MetaData.IndexPageOffset)
			shift(&c.MetaData.DictionaryPageOffset)
		}
	}
	return groups
}
