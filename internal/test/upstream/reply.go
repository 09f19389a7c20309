package upstream

import (
	"encoding/json"
	"fmt"
	"time"
)

// Response is an answer, or what is sent in place of one. The zero Reply is an empty
// 200. On HTTP/2 the fields marked 1.1 mean nothing; Raw breaks the stream off.
type Response struct {
	Wait    time.Duration // before the first byte
	Interim []int         // statuses of 1xx heads that go ahead, for example 103
	Status  int           // 0 means 200
	Header  []Field       // in this order; no framing lines
	Chunks  []Chunk       // the body
	Trailer []Field       // after a chunked body
	Framing Framing       // 1.1
	Claim   int64         // 1.1: content-length to announce in place of the true one; 0: the true one
	Raw     []byte        // 1.1: bytes in place of the head; the pieces follow without framing
	End     End

	Early     bool          // from ScriptHead: answer before the body is read; it is read afterwards unless End closes
	ReadPause time.Duration // from ScriptHead, 1.1: pause before each 64 KiB of the request's body
}

// Chunk is a part of a body that is written, and flushed, by itself.
type Chunk struct {
	Wait  time.Duration // before it
	Bytes []byte
	Times int // how often; 0 means once
}

func (p Chunk) times() int { return max(p.Times, 1) }

// Framing is how HTTP/1.1 marks the end of a body.
type Framing int

// The framings.
const (
	Length     Framing = iota // content-length
	Chunked                   // a chunk for each piece
	UntilClose                // no mark: the connection ends with the body
)

// End is what happens after the last piece.
type End int

// The ends.
const (
	KeepAlive End = iota // the body is complete, the connection waits for the next request
	Close                // the body is complete, then the connection ends, unannounced
	Cut                  // no final chunk: the connection ends
	Reset                // no final chunk: the connection is reset
	Hang                 // no final chunk: nothing more, until the caller leaves
	Stale                // the body is complete; the next request on the connection is met by a reset
)

// JSON is a reply with a JSON body; v may be raw bytes.
func JSON(status int, v any) Response {
	b, ok := v.([]byte)
	if !ok {
		var err error
		if b, err = json.Marshal(v); err != nil {
			panic(fmt.Sprintf("upstream: reply that is no JSON: %v", err))
		}
	}
	return Text(status, "application/json", string(b))
}

// Text is a reply with a body of some content type.
func Text(status int, contentType, body string) Response {
	return Response{Status: status, Header: []Field{{"Content-Type", contentType}}, Chunks: []Chunk{{Bytes: []byte(body)}}}
}

// Stream is an event stream of the given events, each with its own framing:
// "data: {…}\n\n".
func Stream(events ...string) Response {
	r := Response{Header: []Field{{"Content-Type", "text/event-stream"}}, Framing: Chunked}
	for _, e := range events {
		r.Chunks = append(r.Chunks, Chunk{Bytes: []byte(e)})
	}
	return r
}

// OpenAIError is a reply with an error body in OpenAI's shape.
func OpenAIError(status int, typ, code, message string) Response {
	return JSON(status, map[string]any{"error": map[string]any{"message": message, "type": typ, "param": nil, "code": code}})
}

// body is all pieces in one.
func (r Response) body() []byte {
	var b []byte
	for _, p := range r.Chunks {
		for range p.times() {
			b = append(b, p.Bytes...)
		}
	}
	return b
}

func (r Response) size() int64 {
	var n int64
	for _, p := range r.Chunks {
		n += int64(len(p.Bytes)) * int64(p.times())
	}
	return n
}

// waits reports whether the caller may leave before the answer is out.
func (r Response) waits() bool {
	if r.Wait > 0 || r.End == Hang {
		return true
	}
	for _, p := range r.Chunks {
		if p.Wait > 0 {
			return true
		}
	}
	return false
}

// streams reports whether the reply is an event stream.
func (r Response) streams() bool {
	for _, f := range r.Header {
		if f.Value == "text/event-stream" {
			return true
		}
	}
	return false
}

func (r Response) status() int {
	if r.Status == 0 {
		return 200
	}
	return r.Status
}

// with returns a copy with further header lines.
func (r Response) with(fields ...Field) Response {
	r.Header = append(append([]Field{}, r.Header...), fields...)
	return r
}
