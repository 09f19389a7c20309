package otlp

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
)

// A message of gRPC has a byte that says whether it is compressed and four of length
// before it; its status stands in the trailers, or in the headers when there is no message.
// Source: https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md.
const framePrefix = 5

// framed fills in the prefix of a compressed message, for which room was left.
func framed(b []byte) []byte {
	b[0] = 1
	binary.BigEndian.PutUint32(b[1:framePrefix], uint32(len(b)-framePrefix))
	return b
}

var errFrame = errors.New("no message of gRPC")

// unframed is the message in a frame; nothing at all counts as an empty one.
func unframed(b []byte) ([]byte, error) {
	if len(b) == 0 {
		return nil, nil
	}
	if len(b) < framePrefix || int64(binary.BigEndian.Uint32(b[1:framePrefix])) != int64(len(b)-framePrefix) {
		return nil, errFrame
	}
	if b[0] == 0 {
		return b[framePrefix:], nil
	}
	z, err := gzip.NewReader(bytes.NewReader(b[framePrefix:]))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(z, maxAnswer))
}

// Statuses of gRPC after which a message may be sent again.
// Source: https://opentelemetry.io/docs/specs/otlp/#failures.
var mayComeAgain = map[string]bool{
	"1":  true, // cancelled
	"4":  true, // deadline exceeded
	"8":  true, // resource exhausted
	"10": true, // aborted
	"11": true, // out of range
	"14": true, // unavailable
	"15": true, // data loss
}

// refusedOverGRPC is nil when the status is that of success.
func refusedOverGRPC(resp *http.Response) *refusal {
	status := cmp.Or(resp.Trailer.Get("Grpc-Status"), resp.Header.Get("Grpc-Status"))
	if status == "0" {
		return nil
	}
	said, _ := url.PathUnescape(cmp.Or(resp.Trailer.Get("Grpc-Message"), resp.Header.Get("Grpc-Message"))) // what cannot be read is left out
	return &refusal{text: "gRPC status " + strconv.Quote(status) + ": " + clip([]byte(said)), again: mayComeAgain[status]}
}
