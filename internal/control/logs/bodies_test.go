package logs_test

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/json"
	"io"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"sluice/internal/control/logs"
	"sluice/internal/domain/record"
)

// squeeze compresses a text.
func squeeze(t *testing.T, encoding, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser
	switch encoding {
	case "gzip":
		w = gzip.NewWriter(&b)
	case "deflate":
		w = zlib.NewWriter(&b)
	case "br":
		w = brotli.NewWriter(&b)
	case "zstd":
		z, err := zstd.NewWriter(&b)
		if err != nil {
			t.Fatal(err)
		}
		w = z
	}
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestBodiesAreReadable(t *testing.T) {
	t.Parallel()
	const listJSON = `{"object":"list"}`
	cases := map[string]struct {
		body record.Body
		want string // as JSON
	}{
		"nothing kept":   {record.Body{Type: "application/json"}, `null`},
		"JSON":           {record.Body{Bytes: []byte(listJSON)}, listJSON},
		"event stream":   {record.Body{Bytes: []byte("data: {}\n\n")}, `"data: {}\n\n"`},
		"gzip":           {record.Body{Encoding: "GZIP", Bytes: squeeze(t, "gzip", listJSON)}, listJSON},
		"deflate":        {record.Body{Encoding: "deflate", Bytes: squeeze(t, "deflate", listJSON)}, listJSON},
		"brotli":         {record.Body{Encoding: "br", Bytes: squeeze(t, "br", listJSON)}, listJSON},
		"zstd":           {record.Body{Encoding: "zstd", Bytes: squeeze(t, "zstd", listJSON)}, listJSON},
		"audio":          {record.Body{Type: "audio/mpeg; rate=24000", Bytes: []byte{0xff, 0xfb}}, `"data:audio/mpeg;base64,//s="`},
		"not gzip":       {record.Body{Encoding: "gzip", Bytes: []byte("plain")}, `"plain"`},
		"not brotli":     {record.Body{Encoding: "br", Bytes: []byte("plain")}, `"plain"`},
		"unknown coding": {record.Body{Encoding: "rot13", Bytes: []byte("plain")}, `"plain"`},
	}
	for name, c := range cases {
		got, err := json.Marshal(logs.Readable(c.body))
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %s, want %s (%v)", name, got, c.want, err)
		}
	}
	cut := squeeze(t, "gzip", listJSON+listJSON)
	if got, ok := logs.Readable(record.Body{Encoding: "gzip", Bytes: cut[:len(cut)-9], Truncated: true}).(string); !ok || got == "" {
		t.Errorf("a body that was cut is shown as %q", got)
	}
}
