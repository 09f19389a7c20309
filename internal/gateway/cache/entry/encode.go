package entry

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"time"

	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/varint"
	"sluice/internal/kernel/wire"
)

// ErrCorrupt is wrapped by the error of every entry that cannot be decoded.
var ErrCorrupt = errors.New("the cache entry is corrupt")

// Limits of an encoded entry.
const (
	MaxBytes      = 64 << 20 // of a complete entry
	maxHeaders    = 64
	maxGuardrails = 256
)

// version is the first byte of every encoded entry.
const version = 1

var checksums = crc32.MakeTable(crc32.Castagnoli)

// numbers returns the numbers of an entry in their order on the wire. Further ones are added at
// the end.
func (e *Entry) numbers() []uint64 {
	n := []uint64{uint64(e.Status), uint64(e.CostNano), uint64(e.Latency), varint.Nanos(e.Created), varint.Nanos(e.Expires)}
	return append(n, flag(e.Usage.Reported), math.Float64bits(e.Usage.AudioSeconds))
}

func flag(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

const numberCount = 7

// texts returns the single texts in their order on the wire. Further ones are added at the end.
func (e *Entry) texts() []*string {
	t, u := &e.Tags, &e.Usage
	return []*string{
		(*string)(&e.Endpoint), &e.ContentType, &e.Provider, &e.Model, &e.Matched,
		&t.Organisation, &t.Workspace, &t.APIKey, &t.Namespace, &t.Config, &t.Model,
		&u.SearchContext, &u.Tier, &u.Region, &u.CodeMemory,
	}
}

// counts returns the counts of a usage in their order on the wire.
func counts(u *llm.Usage) []*int64 {
	list := []*int64{
		&u.InputTokens, &u.OutputTokens, &u.TotalTokens, &u.CachedTokens, &u.CacheWriteTokens, &u.CacheHourTokens,
		&u.ReasoningTokens, &u.InputAudioTokens, &u.OutputAudioTokens, &u.InputImageTokens, &u.OutputImageTokens,
		&u.CachedAudioTokens, &u.CachedImageTokens, &u.FreeInputTokens, &u.FreeOutputTokens, &u.SearchUnits,
		&u.FileSearches, &u.CodeSessions, &u.Pages, &u.CitationTokens, &u.CostNano,
	}
	for i := range u.Units {
		list = append(list, &u.Units[i])
	}
	return list
}

// Append appends the binary form of the entry to dst:
//
//	version, numbers, texts, counts of the usage, headers, guardrails, body, checksum (4 bytes)
//
// An entry beyond the limits is an error.
func (e *Entry) Append(dst []byte) ([]byte, error) {
	if len(e.Header) > maxHeaders || len(e.Guardrails) > maxGuardrails {
		return nil, fmt.Errorf("the cache entry has %d headers and %d guardrails; at most %d and %d are stored", len(e.Header), len(e.Guardrails), maxHeaders, maxGuardrails)
	}
	if size := e.Size(); size > MaxBytes {
		return nil, fmt.Errorf("the cache entry has %d bytes; at most %d are stored", size, MaxBytes)
	}
	start := len(dst)
	texts := e.texts()
	dst = varint.AppendLists(append(dst, version), e.numbers(), texts)
	dst = varint.AppendTexts(dst, texts)
	usage := counts(&e.Usage)
	dst = append(dst, byte(len(usage)))
	for _, n := range usage {
		dst = varint.Append(dst, uint64(*n))
	}
	dst = varint.Append(dst, uint64(len(e.Header)))
	for _, f := range e.Header {
		dst = appendText(appendText(dst, f.Name), f.Value)
	}
	dst = varint.Append(dst, uint64(len(e.Guardrails)))
	for _, g := range e.Guardrails {
		dst = appendText(dst, g)
	}
	dst = append(varint.Append(dst, uint64(len(e.Body))), e.Body...)
	return binary.BigEndian.AppendUint32(dst, crc32.Checksum(dst[start:], checksums)), nil
}

func appendText(dst []byte, s string) []byte {
	return append(varint.Append(dst, uint64(len(s))), s...)
}

// Decode reads the binary form of an entry. Its Body points into b, which must not change. Any
// other input is an error that wraps ErrCorrupt.
func Decode(b []byte) (*Entry, error) {
	if len(b) > MaxBytes+overhead || len(b) < 5 || b[0] != version {
		return nil, fmt.Errorf("version or length: %w", ErrCorrupt)
	}
	end := len(b) - 4
	if crc32.Checksum(b[:end], checksums) != binary.BigEndian.Uint32(b[end:]) {
		return nil, fmt.Errorf("checksum: %w", ErrCorrupt)
	}
	e, d := new(Entry), &varint.Decoder{Rest: b[1:end], Malformed: ErrCorrupt}
	e.decodeNumbers(d)
	e.decodeTexts(d)
	e.decodeLists(d)
	e.Body = d.Bytes(d.Uvarint())
	return e, d.Err
}

func (e *Entry) decodeNumbers(d *varint.Decoder) {
	var n [numberCount]uint64
	d.Numbers(n[:])
	e.Status, e.CostNano, e.Latency = int(n[0]), int64(n[1]), time.Duration(n[2])
	e.Created, e.Expires = varint.Time(n[3]), varint.Time(n[4])
	e.Usage.Reported, e.Usage.AudioSeconds = n[5] != 0, math.Float64frombits(n[6])
}

func (e *Entry) decodeTexts(d *varint.Decoder) {
	texts := e.texts()
	lengths := make([]uint64, len(texts))
	extra := d.Lengths(lengths)
	for i, n := range lengths {
		*texts[i] = string(d.Bytes(n))
	}
	d.Skip(extra)
}

func (e *Entry) decodeLists(d *varint.Decoder) {
	usage := counts(&e.Usage)
	values := make([]uint64, len(usage))
	d.Numbers(values)
	for i, v := range values {
		*usage[i] = int64(v)
	}
	e.Header = make(wire.Header, 0, decodeCount(d, maxHeaders))
	for range cap(e.Header) {
		name := string(d.Bytes(d.Uvarint()))
		e.Header = append(e.Header, wire.Field{Name: name, Value: string(d.Bytes(d.Uvarint()))})
	}
	e.Guardrails = make([]string, 0, decodeCount(d, maxGuardrails))
	for range cap(e.Guardrails) {
		e.Guardrails = append(e.Guardrails, string(d.Bytes(d.Uvarint())))
	}
}

// decodeCount reads the length of a list. A longer list than permitted is corrupt.
func decodeCount(d *varint.Decoder, limit uint64) int {
	n := d.Uvarint()
	if n > limit {
		d.Fail("list")
		return 0
	}
	return int(n)
}
