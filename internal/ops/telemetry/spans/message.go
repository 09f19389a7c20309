package spans

import (
	"compress/gzip"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io"
	"mime"
	"net/http"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"sluice/internal/kernel/fault"
)

// Limits of a message.
const (
	maxBytes    = 4 << 20 // on the wire and decompressed
	maxDepth    = 64      // of messages in messages: values in lists of values
	readTimeout = 30 * time.Second
)

// message is a received message, not decoded yet.
type message struct {
	bytes []byte
	json  bool
}

// The formats of a message.
const (
	typeJSON     = "application/json"
	typeProtobuf = "application/x-protobuf"
)

func mediaType(r *http.Request) string {
	typ, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")) // an unreadable value matches neither format
	return typ
}

func (m *message) contentType() string {
	if m.json {
		return typeJSON
	}
	return typeProtobuf
}

// receive reads a complete body. Errors: fault.UnsupportedMedia, fault.TooLarge,
// fault.InvalidRequest.
func receive(w http.ResponseWriter, r *http.Request, now time.Time) (*message, error) {
	typ := mediaType(r)
	m := &message{json: typ == typeJSON}
	if !m.json && typ != typeProtobuf {
		return nil, fault.New(fault.UnsupportedMedia, "content type must be "+typeProtobuf+" or "+typeJSON).WithParam("content-type")
	}
	_ = http.NewResponseController(w).SetReadDeadline(now.Add(readTimeout)) // a writer without support has its own deadline
	body := io.Reader(http.MaxBytesReader(w, r.Body, maxBytes))
	switch r.Header.Get("Content-Encoding") {
	case "", "identity":
	case "gzip":
		z, err := gzip.NewReader(body)
		if err != nil {
			return nil, unreadable(err)
		}
		body = z
	default:
		return nil, fault.New(fault.UnsupportedMedia, "only gzip is supported as content-encoding").WithParam("content-encoding")
	}
	b, err := io.ReadAll(io.LimitReader(body, maxBytes+1))
	if err != nil {
		return nil, unreadable(err)
	}
	if len(b) > maxBytes {
		return nil, tooLarge()
	}
	m.bytes = b
	return m, nil
}

func tooLarge() error {
	return fault.Newf(fault.TooLarge, "an OTLP message must not exceed %d bytes, also decompressed; send fewer spans at a time, or shorter attributes", maxBytes)
}

func unreadable(err error) error {
	if large := (*http.MaxBytesError)(nil); errors.As(err, &large) {
		return tooLarge()
	}
	return fault.New(fault.InvalidRequest, "cannot read the complete body").WithCause(err)
}

// decode decodes the message; it ignores unknown fields, as OTLP requires.
func (m *message) decode(into proto.Message) error {
	var err error
	if m.json {
		err = protojson.UnmarshalOptions{DiscardUnknown: true, RecursionLimit: maxDepth}.Unmarshal(m.bytes, into)
	} else {
		err = proto.UnmarshalOptions{DiscardUnknown: true, RecursionLimit: maxDepth}.Unmarshal(m.bytes, into)
	}
	m.bytes = nil
	if err != nil {
		return fault.Newf(fault.InvalidRequest, "the body is not an OTLP message, or its values are nested in more than %d others", maxDepth).WithCause(err)
	}
	return nil
}

// encode encodes a response in the format of the message.
func (m *message) encode(response proto.Message) []byte {
	marshal := proto.Marshal
	if m.json {
		marshal = protojson.Marshal
	}
	b, _ := marshal(response) // a number and a fixed string: cannot fail
	return b
}

// id returns an id as hex digits: empty for an absent one, false for one that is not n bytes
// long, and empty and false for zeros. JSON has ids in hex, which were decoded as base64.
func (m *message) id(b []byte, n int) (digits string, ok bool) {
	if len(b) == 0 {
		return "", true
	}
	digits = hex.EncodeToString(b)
	if m.json {
		digits = base64.StdEncoding.EncodeToString(b)
		plain, err := hex.DecodeString(digits)
		if err != nil {
			return digits, false
		}
		b, digits = plain, hex.EncodeToString(plain)
	}
	for _, c := range b {
		if c != 0 {
			return digits, len(b) == n
		}
	}
	return "", false
}
