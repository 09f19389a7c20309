package duckdb

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"
	"unsafe"

	duckdb "github.com/duckdb/duckdb-go/v2"
	"github.com/duckdb/duckdb-go/v2/mapping"
)

// appender appends rows to a table, value by value in the order of its columns. Values go
// directly into the memory of the database, in chunks of 2,048 rows. It must be closed.
type appender struct {
	link     *link
	table    string
	kinds    []mapping.Type
	appender mapping.Appender
	chunk    mapping.DataChunk
	vectors  []mapping.Vector
	data     []unsafe.Pointer // of the vectors
	row, col int
	err      error
}

// newSheet starts to append to a table whose columns have these types.
func newSheet(l *link, table string, kinds []mapping.Type) (*appender, error) {
	s := &appender{link: l, table: table, kinds: kinds, vectors: make([]mapping.Vector, len(kinds)), data: make([]unsafe.Pointer, len(kinds))}
	if mapping.AppenderCreateExt(l.conn, "", "", table, &s.appender) == mapping.StateError {
		err := s.failure()
		mapping.AppenderDestroy(&s.appender)
		return nil, err
	}
	types := make([]mapping.LogicalType, len(kinds))
	for i, kind := range kinds {
		types[i] = mapping.CreateLogicalType(kind)
		defer mapping.DestroyLogicalType(&types[i])
	}
	s.chunk = mapping.CreateDataChunk(types)
	s.locate()
	return s, nil
}

// failure returns the error of the appender.
func (s *appender) failure() error {
	data := mapping.AppenderErrorData(s.appender)
	defer mapping.DestroyErrorData(&data)
	return fmt.Errorf("write log %s: %w", s.table, &duckdb.Error{Type: duckdb.ErrorType(mapping.ErrorDataErrorType(data)), Msg: mapping.ErrorDataMessage(data)})
}

// locate finds the memory of the columns of an empty chunk.
func (s *appender) locate() {
	for i := range s.vectors {
		s.vectors[i] = mapping.DataChunkGetVector(s.chunk, mapping.IdxT(i))
		s.data[i] = mapping.VectorGetData(s.vectors[i])
	}
	s.row = 0
}

// next returns the column to write; -1 if its type differs, which fails the row.
func (s *appender) next(kind mapping.Type) int {
	col := s.col
	s.col++
	if col >= len(s.kinds) || s.kinds[col] != kind {
		s.err = fmt.Errorf("write log %s: column %d has another type", s.table, col)
		return -1
	}
	return col
}

func put[T any](s *appender, kind mapping.Type, v T) {
	if col := s.next(kind); col >= 0 {
		*(*T)(unsafe.Add(s.data[col], uintptr(s.row)*unsafe.Sizeof(v))) = v
	}
}

func (s *appender) int32(v int32)   { put(s, mapping.TypeInteger, v) }
func (s *appender) int64(v int64)   { put(s, mapping.TypeBigInt, v) }
func (s *appender) uint32(v uint32) { put(s, mapping.TypeUInteger, v) }
func (s *appender) bool(v bool)     { put(s, mapping.TypeBoolean, v) }

// time writes a time in microseconds.
func (s *appender) time(v time.Time) { put(s, mapping.TypeTimestamp, v.UnixMicro()) }

// key writes a key as a number of 128 bits, the lower 64 bits first and the highest bit inverted,
// so that it sorts like its text.
func (s *appender) key(v duckdb.UUID) {
	low, high := binary.BigEndian.Uint64(v[8:]), binary.BigEndian.Uint64(v[:8])
	put(s, mapping.TypeUUID, [2]uint64{low, high ^ 1<<63})
}

// text copies v.
func (s *appender) text(v string) {
	if v == "" {
		put(s, mapping.TypeVarchar, [2]uint64{}) // a length of zero, and the space of short strings
		return
	}
	if col := s.next(mapping.TypeVarchar); col >= 0 {
		mapping.VectorAssignStringElementLen(s.vectors[col], mapping.IdxT(s.row), unsafe.Slice(unsafe.StringData(v), len(v)))
	}
}

// null writes NULL for a value of a type.
func (s *appender) null(kind mapping.Type) {
	if col := s.next(kind); col >= 0 {
		mapping.VectorEnsureValidityWritable(s.vectors[col])
		mapping.ValiditySetRowInvalid(mapping.VectorGetValidity(s.vectors[col]), mapping.IdxT(s.row))
	}
}

// end ends a row.
func (s *appender) end() error {
	if s.col != len(s.kinds) && s.err == nil {
		s.err = fmt.Errorf("write log %s: %d columns, want %d", s.table, s.col, len(s.kinds))
	}
	if s.err != nil {
		return s.err
	}
	s.col = 0
	if s.row++; s.row < int(mapping.VectorSize()) {
		return nil
	}
	return s.flush()
}

// flush passes the rows of the chunk to the appender.
func (s *appender) flush() error {
	if s.row == 0 {
		return nil
	}
	mapping.DataChunkSetSize(s.chunk, mapping.IdxT(s.row))
	if s.link.do(func() mapping.State { return mapping.AppendDataChunk(s.appender, s.chunk) }) == mapping.StateError {
		return s.failure()
	}
	mapping.DataChunkReset(s.chunk)
	s.locate()
	return nil
}

// close adds all rows to the transaction. If commit is false it discards the rows that are not
// added yet.
func (s *appender) close(commit bool) (err error) {
	if commit {
		flush := func() mapping.State { return mapping.AppenderFlush(s.appender) }
		if err = s.flush(); err == nil && s.link.do(flush) == mapping.StateError {
			err = s.failure()
		}
	}
	if !commit || err != nil {
		if mapping.AppenderClear(s.appender) == mapping.StateError {
			err = errors.Join(err, s.failure())
		}
	}
	mapping.DestroyDataChunk(&s.chunk)
	if mapping.AppenderDestroy(&s.appender) == mapping.StateError {
		err = errors.Join(err, fmt.Errorf("write log %s: cannot close the appender", s.table))
	}
	return err
}
