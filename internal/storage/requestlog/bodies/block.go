package bodies

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"

	"github.com/klauspost/compress/s2"
)

// A block is a header of four little-endian 32-bit integers and the encoded bytes:
//
//	magic, length before encoding, length after, crc32c of the encoded bytes
//
// The encoding is an S2 block, which takes about 1 µs for the bodies of a chat.
const (
	blockMagic  = 0x32424c53 // "SLB2"
	blockNoRest = 0x31424c53 // "SLB1": records have no rest
	blockHeader = 16
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// appendBlock appends the block of raw to a slice.
func appendBlock(to, raw []byte) ([]byte, error) {
	start, maxEncoded := len(to), s2.MaxEncodedLen(len(raw))
	if maxEncoded < 0 {
		return to, errors.New("encode bodies: block is too large")
	}
	to = slices.Grow(to, blockHeader+maxEncoded)[:start+blockHeader+maxEncoded]
	encoded := s2.Encode(to[start+blockHeader:], raw)
	h := header{raw: uint32(len(raw)), encoded: uint32(len(encoded)), checksum: crc32.Checksum(encoded, castagnoli), rest: true}
	h.put(to[start:])
	return to[:start+blockHeader+len(encoded)], nil
}

// blockWith returns the block of raw, encoded in one of the ways that decode reads.
func blockWith(encode func(dst, src []byte) []byte, raw []byte, rest bool) []byte {
	encoded := encode(nil, raw)
	h := header{raw: uint32(len(raw)), encoded: uint32(len(encoded)), checksum: crc32.Checksum(encoded, castagnoli), rest: rest}
	b := make([]byte, blockHeader, blockHeader+len(encoded))
	h.put(b)
	return append(b, encoded...)
}

// header is the header of a block.
type header struct {
	raw, encoded, checksum uint32
	rest                   bool // records have a rest
}

func (h header) put(to []byte) {
	magic := uint32(blockNoRest)
	if h.rest {
		magic = blockMagic
	}
	binary.LittleEndian.PutUint32(to, magic)
	binary.LittleEndian.PutUint32(to[4:], h.raw)
	binary.LittleEndian.PutUint32(to[8:], h.encoded)
	binary.LittleEndian.PutUint32(to[12:], h.checksum)
}

// size returns the size of the block with its header, in bytes.
func (h header) size() int64 { return blockHeader + int64(h.encoded) }

// headerOf parses a header; it rejects invalid ones.
func headerOf(b []byte) (header, error) {
	if [blockHeader]byte(b[:blockHeader]) == ([blockHeader]byte{}) {
		return header{}, ErrGone // the block was deleted
	}
	magic := binary.LittleEndian.Uint32(b)
	h := header{binary.LittleEndian.Uint32(b[4:]), binary.LittleEndian.Uint32(b[8:]), binary.LittleEndian.Uint32(b[12:]), magic == blockMagic}
	if !h.rest && magic != blockNoRest || h.raw > maxBodies || int(h.encoded) > s2.MaxEncodedLen(int(h.raw)) {
		return header{}, fmt.Errorf("%w: the block header is invalid", ErrDamaged)
	}
	return h, nil
}

// decode returns the bytes from which a block was made.
func (h header) decode(encoded []byte) ([]byte, error) {
	if crc32.Checksum(encoded, castagnoli) != h.checksum {
		return nil, ErrDamaged
	}
	if n, err := s2.DecodedLen(encoded); err != nil || n != int(h.raw) {
		return nil, fmt.Errorf("%w: the block length is wrong", ErrDamaged)
	}
	return s2.Decode(nil, encoded)
}

// readBlock returns the decoded bytes of a block, and whether its records have a rest.
func readBlock(from io.ReaderAt, offset int64) (raw []byte, rest bool, err error) {
	var b [blockHeader]byte
	if _, err := from.ReadAt(b[:], offset); err != nil {
		return nil, false, cutOff(err)
	}
	h, err := headerOf(b[:])
	if err != nil {
		return nil, false, err
	}
	encoded := make([]byte, h.encoded)
	if _, err := from.ReadAt(encoded, offset+blockHeader); err != nil {
		return nil, false, cutOff(err)
	}
	raw, err = h.decode(encoded)
	return raw, h.rest, err
}

// cutOff adds ErrDamaged to the error of a read that reached the end of the file.
func cutOff(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return err
}
