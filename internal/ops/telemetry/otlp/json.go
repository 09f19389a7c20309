package otlp

import (
	"encoding/base64"
	"encoding/hex"

	collecttrace "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	trace "go.opentelemetry.io/proto/slim/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// marshalJSON encodes a message as OTLP does: enumerations as numbers, ids in hex. JSON encodes
// bytes in base64, and hex digits are valid base64. So ids are replaced by the bytes whose base64
// is their hex form.
// Source: https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding.
func marshalJSON(m proto.Message) ([]byte, error) {
	if t, ok := m.(*collecttrace.ExportTraceServiceRequest); ok {
		t = proto.CloneOf(t)
		if err := eachID(t, toDigits); err != nil {
			return nil, err
		}
		m = t
	}
	return protojson.MarshalOptions{UseEnumNumbers: true}.Marshal(m)
}

func unmarshalJSON(b []byte, into proto.Message) error {
	if len(b) == 0 {
		return nil
	}
	return protojson.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(b, into)
}

// toDigits returns the bytes whose base64 is the hex form of id.
func toDigits(id []byte) ([]byte, error) {
	return base64.StdEncoding.DecodeString(hex.EncodeToString(id))
}

// eachID changes every id of the spans.
func eachID(m *collecttrace.ExportTraceServiceRequest, change func([]byte) ([]byte, error)) error {
	for _, r := range m.GetResourceSpans() {
		for _, s := range r.GetScopeSpans() {
			for _, span := range s.GetSpans() {
				if err := changeIDs(span, change); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func changeIDs(s *trace.Span, change func([]byte) ([]byte, error)) (err error) {
	fields := []*[]byte{&s.TraceId, &s.SpanId, &s.ParentSpanId}
	for _, l := range s.GetLinks() {
		fields = append(fields, &l.TraceId, &l.SpanId)
	}
	for _, f := range fields {
		if *f, err = change(*f); err != nil {
			return err
		}
	}
	return nil
}
