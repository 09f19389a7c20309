package record_test

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"

	"sluice/internal/domain/record"
)

func zipped(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestCredentialsAreMaskedInEveryBody(t *testing.T) {
	t.Parallel()
	const text = `{"tools":[{"type":"mcp","authorization":"SECRET"}]}`
	var a record.Attempt
	for _, b := range a.Bodies() {
		*b = record.Body{Type: "application/json", Bytes: []byte(text), Size: int64(len(text))}
	}
	sent := a.Request.Bytes
	a.MaskCredentials(1 << 10)
	for i, b := range a.Bodies() {
		if strings.Contains(string(b.Bytes), "SECRET") || b.Size != int64(len(text)) || b.Truncated {
			t.Errorf("body %d is %s, %d bytes, truncated: %t", i, b.Bytes, b.Size, b.Truncated)
		}
	}
	if string(sent) != text {
		t.Errorf("what is sent was changed: %s", sent)
	}
}

// An encoded body with a credential is kept decoded; one without stays as it was.
func TestCredentialsAreMaskedInEncodedBodies(t *testing.T) {
	t.Parallel()
	plain := zipped(t, `{"text":"hello"}`)
	secret := zipped(t, `{"tools":[{"authorization":"SECRET"}],"long":"`+strings.Repeat("x", 200)+`"}`)
	for name, c := range map[string]struct {
		bytes    []byte
		encoding string
		cut      bool
	}{
		"whole":               {secret, "", true}, // decoded it is longer than what is kept
		"its beginning":       {secret[:len(secret)-10], "", true},
		"without credentials": {plain, "gzip", false},
		"not what it says":    {[]byte("nothing of the kind"), "gzip", false},
		"nothing":             {nil, "gzip", false},
	} {
		a := record.Attempt{Response: record.Body{Type: "application/json", Encoding: "gzip", Bytes: c.bytes}}
		a.MaskCredentials(100)
		got := a.Response
		if got.Encoding != c.encoding || got.Truncated != c.cut || len(got.Bytes) > 100 || strings.Contains(string(got.Plain(1<<10)), "SECRET") {
			t.Errorf("%s: %q %q, truncated: %t", name, got.Encoding, got.Bytes, got.Truncated)
		}
		if c.encoding != "" && !bytes.Equal(got.Bytes, c.bytes) {
			t.Errorf("%s: the bytes were changed", name)
		}
	}
}
