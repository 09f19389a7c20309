package record

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"io"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// Plain is a kept body without its content encoding, at most so many bytes. What is cut
// off in the middle comes as far as it goes, and what cannot be read at all as it is.
func (b Body) Plain(maxBytes int64) []byte {
	r := Uncode(bytes.NewReader(b.Bytes), b.Encoding)
	if r == nil {
		return b.Bytes
	}
	defer r.Close()
	plain, err := io.ReadAll(io.LimitReader(r, maxBytes))
	if err != nil && len(plain) == 0 {
		return b.Bytes
	}
	return plain
}

// Uncoded is a body without its content encoding. It belongs to one goroutine.
type Uncoded struct {
	src  io.Reader
	make func(io.Reader) (io.Reader, error)
	r    io.Reader // nil before the first Read
	err  error     // of making it
}

// Uncode takes an encoding off r as a Content-Encoding line names it, nil when that is not
// known. Nothing is read before the first Read; what has come is delivered without waiting
// for more. Who asked for it closes it; r stays the caller's.
func Uncode(r io.Reader, encoding string) *Uncoded {
	u := &Uncoded{src: r}
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "gzip", "x-gzip":
		u.make = func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }
	case "deflate":
		u.make = func(r io.Reader) (io.Reader, error) { return zlib.NewReader(r) }
	case "br":
		u.make = func(r io.Reader) (io.Reader, error) { return brotli.NewReader(r), nil }
	case "zstd":
		u.make = func(r io.Reader) (io.Reader, error) {
			return zstd.NewReader(r, zstd.WithDecoderMaxMemory(64<<20), zstd.WithDecoderConcurrency(1))
		}
	default:
		return nil
	}
	return u
}

// Read implements io.Reader. Errors of the source come as they are, but for an early end,
// which is io.ErrUnexpectedEOF; others say what is malformed.
func (u *Uncoded) Read(p []byte) (int, error) {
	if u.r == nil && u.err == nil {
		u.r, u.err = u.make(u.src)
	}
	if u.err != nil {
		return 0, u.err
	}
	return u.r.Read(p)
}

// Close gives back what decoding took.
func (u *Uncoded) Close() {
	if d, ok := u.r.(*zstd.Decoder); ok {
		d.Close()
	}
}
