package upstream

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/andybalholm/brotli"
)

// bodyFaults are answers whose status is good and whose body is not, or is odd
// though valid.
var bodyFaults = map[string]fault{
	"garbage-json": {does: "answers 200 with JSON that breaks off", make: func(Response, argument) Response {
		return JSON(200, []byte(`{"id":"chatcmpl-1","object":"chat.completion","choices":[{"index":0,`))
	}},
	"not-object": {does: "answers 200 with a JSON array", make: func(Response, argument) Response {
		return JSON(200, []byte(`["not","an","object"]`))
	}},
	"html": {does: "answers 200 with a web page", make: func(Response, argument) Response {
		return Text(200, "text/html; charset=utf-8", page)
	}},
	"plain": {does: "answers 200 with plain text", make: func(Response, argument) Response {
		return Text(200, "text/plain", "OK")
	}},
	"empty": {does: "answers 200 with content type JSON and no body", make: func(Response, argument) Response {
		return JSON(200, []byte{})
	}},
	"no-content": {does: "answers 204", make: func(Response, argument) Response {
		return Response{Status: http.StatusNoContent}
	}},
	"deep-json": {does: "answers 200 with JSON nested @ deep (100000)", def: argument{n: 100000}, make: func(_ Response, a argument) Response {
		return JSON(200, []byte(`{"a":`+strings.Repeat("[", a.n)+strings.Repeat("]", a.n)+`}`))
	}},
	"error-200": {does: "answers 200 with OpenAI's error body", make: func(Response, argument) Response {
		r := statusResponse(500)
		r.Status = 200
		return r
	}},
	"wrong-type": {does: "answers its JSON as text/plain", make: func(ok Response, _ argument) Response {
		ok.Header = []Field{{"Content-Type", "text/plain"}}
		return ok
	}},
	"odd-json": {does: "answers the right JSON with odd white space, escapes, numbers and unknown and doubled members", make: func(ok Response, _ argument) Response {
		ok.Chunks = []Chunk{{Bytes: odd(ok.body())}}
		return ok
	}},
	"gzip": {does: "compresses the body with gzip", make: func(ok Response, _ argument) Response {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		_, _ = w.Write(ok.body())
		_ = w.Close() // a buffer takes everything
		return ok.encoded("gzip", b.Bytes())
	}},
	"brotli": {does: "compresses the body with brotli", make: func(ok Response, _ argument) Response {
		var b bytes.Buffer
		w := brotli.NewWriter(&b)
		_, _ = w.Write(ok.body())
		_ = w.Close() // a buffer takes everything
		return ok.encoded("br", b.Bytes())
	}},
	"binary": {does: "answers every byte value four times as an octet stream", make: func(Response, argument) Response {
		return Text(200, "application/octet-stream", strings.Repeat(allBytes(), 4))
	}},
	"huge": {does: "answers @ MiB (64) of JSON white space before an object", def: argument{n: 64}, make: func(_ Response, a argument) Response {
		return Response{
			Header: []Field{{"Content-Type", "application/json"}},
			Chunks: []Chunk{{Bytes: bytes.Repeat([]byte{' '}, 64<<10), Times: 16 * a.n}, {Bytes: []byte("{}")}},
		}
	}},
}

func (r Response) encoded(coding string, body []byte) Response {
	r.Chunks = []Chunk{{Bytes: body}}
	return r.with(Field{"Content-Encoding", coding}, Field{"Vary", "Accept-Encoding"})
}

// odd is the same JSON object, written as nobody writes it, with further members.
func odd(b []byte) []byte {
	var out bytes.Buffer
	if json.Indent(&out, b, " ", "\t ") != nil {
		return b
	}
	more := "{ \"x_esc\" :\t\"\\u00e9\\/\\ud83d\\ude00\" ,\r\n\"x_num\":1.50E+2 , \"x_dup\":1,\"x_dup\":2, \"x_big\":12345678901234567890,\n"
	return append([]byte("\r\n \t"+more), append(bytes.TrimPrefix(out.Bytes(), []byte("{")), " \n\r\n"...)...)
}

func allBytes() string {
	b := make([]byte, 256)
	for i := range b {
		b[i] = byte(i)
	}
	return string(b)
}
