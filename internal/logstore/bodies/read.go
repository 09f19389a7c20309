package bodies

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"

	"github.com/klauspost/compress/s2"
)

// ErrGone is returned by Read when the file was deleted.
var ErrGone = errors.New("bodies are no longer kept")

// Read returns the two bodies of a record, nil where there is none. The caller
// owns them.
func (f *Files) Read(ref Ref) (request, response []byte, err error) {
	if ref.Request == 0 && ref.Response == 0 {
		return nil, nil, nil
	}
	file, err := os.Open(f.path(ref.File))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil, ErrGone
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read bodies: %w", err)
	}
	defer func() { _ = file.Close() }() // read only: nothing to lose
	raw, err := readBlock(file, ref.Block)
	if err != nil {
		return nil, nil, fmt.Errorf("read bodies at %d in file %d: %w", ref.Block, ref.File, err)
	}
	at, middle := uint64(ref.At), uint64(ref.At)+uint64(ref.Request)
	end := middle + uint64(ref.Response)
	if end > uint64(len(raw)) {
		return nil, nil, fmt.Errorf("read bodies at %d in file %d: block ends before them", ref.Block, ref.File)
	}
	return part(raw[at:middle]), part(raw[middle:end]), nil
}

// part copies a body out of its block, so that a kept body does not keep the block.
func part(b []byte) []byte { return append([]byte(nil), b...) }

// readBlock returns the bytes of a block as they were before encoding.
func readBlock(file *os.File, offset int64) ([]byte, error) {
	var h [blockHeader]byte
	if _, err := file.ReadAt(h[:], offset); err != nil {
		return nil, err
	}
	size, encodedSize := binary.LittleEndian.Uint32(h[4:]), binary.LittleEndian.Uint32(h[8:])
	if binary.LittleEndian.Uint32(h[:]) != blockMagic || size > maxBodies || int(encodedSize) > s2.MaxEncodedLen(int(size)) {
		return nil, errors.New("no block here")
	}
	encoded := make([]byte, encodedSize)
	if _, err := file.ReadAt(encoded, offset+blockHeader); err != nil {
		return nil, err
	}
	if crc32.Checksum(encoded, castagnoli) != binary.LittleEndian.Uint32(h[12:]) {
		return nil, errors.New("block is damaged")
	}
	if n, err := s2.DecodedLen(encoded); err != nil || n != int(size) {
		return nil, errors.New("block has another length than it says")
	}
	return s2.Decode(nil, encoded)
}
