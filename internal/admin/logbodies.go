package admin

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/base64"
	"encoding/json"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"sluice/internal/record"
)

// maxShown bounds a body in an answer, in bytes after decompression.
const maxShown = 4 << 20

// readable is a kept body as an answer shows it: JSON as it is, text as a string,
// anything else in base64 behind its type ("data:audio/mpeg;base64,…"). It is nil
// when nothing was kept.
func readable(b record.Body) any {
	if len(b.Bytes) == 0 {
		return nil
	}
	plain := expand(b)
	switch {
	case json.Valid(plain):
		return json.RawMessage(plain)
	case utf8.Valid(plain):
		return string(plain)
	}
	kind, _, _ := strings.Cut(b.Type, ";")
	return "data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(plain)
}

// expand undoes the content encoding. What is cut off in the middle is shown as far
// as it goes, and what cannot be read at all as it is.
func expand(b record.Body) []byte {
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
	plain, err := io.ReadAll(io.LimitReader(r, maxShown))
	if err != nil && len(plain) == 0 {
		return b.Bytes
	}
	return plain
}
