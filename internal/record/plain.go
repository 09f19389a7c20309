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
func (b Body) Plain(most int64) []byte {
	var r io.Reader
	var err error
	switch src := bytes.NewReader(b.Bytes); strings.ToLower(strings.TrimSpace(b.Encoding)) {
	case "gzip", "x-gzip":
		r, err = gzip.NewReader(src)
	case "deflate":
		r, err = zlib.NewReader(src)
	case "br":
		r = brotli.NewReader(src)
	case "zstd":
		var d *zstd.Decoder
		if d, err = zstd.NewReader(src, zstd.WithDecoderMaxMemory(64<<20), zstd.WithDecoderConcurrency(1)); err == nil {
			defer d.Close()
			r = d
		}
	default:
		return b.Bytes
	}
	if err != nil {
		return b.Bytes
	}
	plain, err := io.ReadAll(io.LimitReader(r, most))
	if err != nil && len(plain) == 0 {
		return b.Bytes
	}
	return plain
}
