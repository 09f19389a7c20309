package otlp

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/protobuf/proto"
)

// framePrefix is the size of the prefix of a gRPC message: one byte that states whether it is
// compressed, and four of length. The status is in the trailers, or in the headers if there is no
// message.
// Source: https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md.
const framePrefix = 5

// framed fills in the prefix of a compressed message, for which b has space.
func framed(b []byte) []byte {
	b[0] = 1
	binary.BigEndian.PutUint32(b[1:framePrefix], uint32(len(b)-framePrefix))
	return b
}

var errFrame = errors.New("not a gRPC message")

// unframed returns the message in a frame; an empty body counts as an empty message.
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
	return io.ReadAll(io.LimitReader(z, maxResponseBytes))
}

// exhausted is the status of a collector that lacks a resource. The message may be sent again
// only if the response states when: a message that is too large has the same status.
const exhausted = "8"

// mayComeAgain lists the gRPC statuses after which a message may be sent again.
// Source: https://opentelemetry.io/docs/specs/otlp/#failures.
var mayComeAgain = map[string]bool{
	"1":  true, // cancelled
	"4":  true, // deadline exceeded
	"10": true, // aborted
	"11": true, // out of range
	"14": true, // unavailable
	"15": true, // data loss
}

// refusedOverGRPC returns nil for a success status.
func refusedOverGRPC(resp *http.Response) *refusal {
	header := func(name string) string { return cmp.Or(resp.Trailer.Get(name), resp.Header.Get(name)) }
	code := header("Grpc-Status")
	if code == "0" {
		return nil
	}
	text, _ := url.PathUnescape(header("Grpc-Message")) // an unreadable text is left out
	after, found := retryDelay(header("Grpc-Status-Details-Bin"))
	return &refusal{
		text: "gRPC status " + strconv.Quote(code) + ": " + clip([]byte(text)), after: after,
		again: mayComeAgain[code] || code == exhausted && found,
	}
}

// retryDelay reads the RetryInfo in the details of a status, which are base64 with or without
// padding; found reports whether there is one. Unreadable details count as absent.
// Source: https://opentelemetry.io/docs/specs/otlp/#otlpgrpc-throttling.
func retryDelay(details string) (after time.Duration, found bool) {
	raw, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(details, "="))
	var s status.Status
	if err != nil || proto.Unmarshal(raw, &s) != nil {
		return 0, false
	}
	for _, d := range s.GetDetails() {
		var info errdetails.RetryInfo
		if d.MessageIs(&info) && d.UnmarshalTo(&info) == nil {
			return info.GetRetryDelay().AsDuration(), true
		}
	}
	return 0, false
}
