package bodies

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/s2"
)

// scrubbed is what is done to a file so that it holds nothing but what is kept. Every
// block stays where it is: a row that is kept knows its place. What is not kept becomes
// zeros before it is encoded, so the block becomes shorter, and zeros fill the room up to
// the next. A block of which nothing is kept is zeros alone. put writes what is left; what
// it does not write shall read as zeros.
func scrubbed(from io.ReaderAt, size int64, kept []Span, put func(block []byte, at int64) error) error {
	spans, whole := newByBlock(kept), error(nil)
	for at := int64(0); at < size; {
		h, skip, err := nextBlock(from, at, size)
		if err != nil {
			return fmt.Errorf("at %d: %w", at, err)
		}
		if at += skip; at == size { // zeros up to the end
			break
		}
		if h.raw == 0 { // no block: nobody knows where the next one is
			return errors.Join(fmt.Errorf("%w at %d: no block is there", ErrWhole, at), copied(from, at, size-at, put))
		}
		if live := spans.of(at); len(live) > 0 {
			b, err := scrubBlock(from, at, h, live)
			if err == nil {
				err = put(b, at)
			} else {
				whole = fmt.Errorf("%w at %d: %w", ErrWhole, at, err)
				err = copied(from, at, h.size(), put)
			}
			if err != nil {
				return fmt.Errorf("at %d: %w", at, err)
			}
		}
		at += h.size()
	}
	return whole
}

// copied puts bytes as they are.
func copied(from io.ReaderAt, at, size int64, put func([]byte, int64) error) error {
	b := make([]byte, size)
	if _, err := from.ReadAt(b, at); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return put(b, at)
}

// nextBlock finds the next block from an offset on: skip zeros lie before it. The header
// is zero when something else is there, or the end.
func nextBlock(from io.ReaderAt, at, size int64) (h header, skip int64, err error) {
	buf := make([]byte, 64<<10)
	start := at
	for at < size {
		n, err := from.ReadAt(buf[:min(int64(len(buf)), size-at)], at)
		if err != nil && !errors.Is(err, io.EOF) {
			return header{}, 0, err
		}
		if n == 0 {
			return header{}, 0, io.ErrUnexpectedEOF
		}
		zeros := n - len(bytes.TrimLeft(buf[:n], "\x00"))
		if at += int64(zeros); zeros == n {
			continue
		}
		if size-at < blockHeader {
			return header{}, at - start, nil
		}
		if _, err := from.ReadAt(buf[:blockHeader], at); err != nil {
			return header{}, 0, err
		}
		h, err := headerOf(buf)
		if err != nil || h.size() > size-at {
			h = header{}
		}
		return h, at - start, nil
	}
	return header{}, size - start, nil
}

// scrubBlock makes a block anew of which spans are kept.
func scrubBlock(from io.ReaderAt, at int64, h header, live []Span) ([]byte, error) {
	raw, rest, err := readBlock(from, at)
	if err != nil {
		return nil, err
	}
	clean := make([]byte, len(raw))
	for _, s := range live {
		end, err := s.extent(raw, rest)
		if err != nil {
			return nil, err
		}
		copy(clean[s.At:end], raw[s.At:])
	}
	for _, encode := range [...]func(dst, src []byte) []byte{s2.Encode, s2.EncodeBetter, s2.EncodeBest} {
		if b := blockWith(encode, clean, rest); int64(len(b)) <= h.size() {
			return b, nil
		}
	}
	return nil, errors.New("block becomes larger without what is due")
}
