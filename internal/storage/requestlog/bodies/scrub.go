package bodies

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/s2"
)

// scrubbed writes the content of a file that contains only what is retained. Every block stays at
// its offset, because retained rows refer to it. Bodies that are not retained become zeros before
// encoding, so the block becomes shorter, and zeros fill the gap to the next block. A block
// without retained bodies becomes zeros. put writes the remaining parts; what it does not write
// must read as zeros.
func scrubbed(from io.ReaderAt, size int64, retained []Span, put func(block []byte, offset int64) error) error {
	spans, partial := newByBlock(retained), error(nil)
	for offset := int64(0); offset < size; {
		h, skip, err := nextBlock(from, offset, size)
		if err != nil {
			return fmt.Errorf("at %d: %w", offset, err)
		}
		if offset += skip; offset == size { // zeros up to the end
			break
		}
		if h.raw == 0 { // not a block: the position of the next one is unknown
			return errors.Join(fmt.Errorf("%w at %d: the block header is invalid", ErrPartial, offset), copied(from, offset, size-offset, put))
		}
		if live := spans.spansOf(offset); len(live) > 0 {
			b, err := scrubBlock(from, offset, h, live)
			if err == nil {
				err = put(b, offset)
			} else {
				partial = fmt.Errorf("%w at %d: %w", ErrPartial, offset, err)
				err = copied(from, offset, h.size(), put)
			}
			if err != nil {
				return fmt.Errorf("at %d: %w", offset, err)
			}
		}
		offset += h.size()
	}
	return partial
}

// copied copies bytes unchanged.
func copied(from io.ReaderAt, offset, size int64, put func([]byte, int64) error) error {
	b := make([]byte, size)
	if _, err := from.ReadAt(b, offset); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return put(b, offset)
}

// nextBlock finds the next block from an offset. skip is the number of zeros before it. The
// header is zero at the end, or if the bytes are not a block.
func nextBlock(from io.ReaderAt, offset, size int64) (h header, skip int64, err error) {
	buf := make([]byte, 64<<10)
	start := offset
	for offset < size {
		n, err := from.ReadAt(buf[:min(int64(len(buf)), size-offset)], offset)
		if err != nil && !errors.Is(err, io.EOF) {
			return header{}, 0, err
		}
		if n == 0 {
			return header{}, 0, io.ErrUnexpectedEOF
		}
		zeros := n - len(bytes.TrimLeft(buf[:n], "\x00"))
		if offset += int64(zeros); zeros == n {
			continue
		}
		if size-offset < blockHeader {
			return header{}, offset - start, nil
		}
		if _, err := from.ReadAt(buf[:blockHeader], offset); err != nil {
			return header{}, 0, err
		}
		h, err := headerOf(buf)
		if err != nil || h.size() > size-offset {
			h = header{}
		}
		return h, offset - start, nil
	}
	return header{}, size - start, nil
}

// scrubBlock encodes a block with only the live spans.
func scrubBlock(from io.ReaderAt, offset int64, h header, live []Span) ([]byte, error) {
	raw, rest, err := readBlock(from, offset)
	if err != nil {
		return nil, err
	}
	clean := make([]byte, len(raw))
	for _, s := range live {
		end, err := s.extent(raw, rest)
		if err != nil {
			return nil, err
		}
		copy(clean[s.Offset:end], raw[s.Offset:])
	}
	for _, encode := range [...]func(dst, src []byte) []byte{s2.Encode, s2.EncodeBetter, s2.EncodeBest} {
		if b := blockWith(encode, clean, rest); int64(len(b)) <= h.size() {
			return b, nil
		}
	}
	return nil, errors.New("the block would become larger without the expired bodies")
}
