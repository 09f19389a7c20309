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

// Plain returns a stored body without its content encoding, at most maxBytes. A truncated body
// is decoded as far as possible; a body that cannot be decoded is returned unchanged.
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
	err  error     // from creating the decoder
}

// Uncode removes an encoding, named as in a Content-Encoding line, from r. It returns nil if
// the encoding is unknown. Nothing is read before the first Read; available data is returned
// without waiting for more. The caller closes the result and still owns r.
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

// Read implements io.Reader. Errors of the source are returned unchanged, except an early end,
// which is io.ErrUnexpectedEOF; others describe what is malformed.
func (u *Uncoded) Read(p []byte) (int, error) {
	if u.r == nil && u.err == nil {
		u.r, u.err = u.make(u.src)
	}
	if u.err != nil {
		return 0, u.err
	}
	return u.r.Read(p)
}

// Close releases the resources of the decoder.
func (u *Uncoded) Close() {
	if d, ok := u.r.(*zstd.Decoder); ok {
		d.Close()
	}
}
