package dialect_test

import (
	"strings"
	"testing"

	"sluice/internal/dialect"

	"pgregory.net/rapid"
)

func TestSniff(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]dialect.BodyKind{
		"": dialect.OtherBody, "{}": dialect.JSONBody, "{\n \"a\":1}": dialect.JSONBody, "\xef\xbb\xbf {\"a\":1}": dialect.JSONBody, "{ said he": dialect.OtherBody,
		`[{"a":1}]`: dialect.OtherBody, `"x"`: dialect.OtherBody, "Hello": dialect.OtherBody, "database": dialect.OtherBody, "<b>Hello</b>": dialect.OtherBody, "<header>": dialect.OtherBody,
		"data: {}\n\n": dialect.EventBody, "data:{}": dialect.EventBody, "event: x\n": dialect.EventBody, ": ping\n\n": dialect.EventBody, ":\n": dialect.EventBody, "id: 1\n": dialect.EventBody,
		"retry: 3\n": dialect.EventBody, "\r\n\r\ndata: x": dialect.EventBody, "\xef\xbb\xbfdata: x": dialect.EventBody, "Data: x": dialect.OtherBody,
		"<!DOCTYPE html>": dialect.PageBody, "<!doctype HTML PUBLIC>": dialect.PageBody, "<html>": dialect.PageBody, " <HTML lang=\"en\">": dialect.PageBody, "<!-- a --> <html>": dialect.PageBody,
		"<h1>Bad gateway</h1>": dialect.PageBody, "<center><h1>502": dialect.PageBody, "<?xml version=\"1.0\"?>": dialect.OtherBody,
		"\x00\x00\x00\x10\x00\x00\x00\x00\x05\xc2\x48\xeb": dialect.FrameBody, "\x00\x00\x00\x10\x00\x00\x00\x00\x05\xc2\x48\xec": dialect.OtherBody, "\x00\x01": dialect.OtherBody,
		strings.Repeat(" ", dialect.MaxSniffBytes): dialect.OtherBody, "ID3\x04": dialect.OtherBody,
	} {
		if kind, _ := dialect.Sniff([]byte(body)); kind != want {
			t.Errorf("%q is %d, want %d", body, kind, want)
		}
	}
}

// Where Sniff is sure, no further byte changes its mind.
func TestSniffIsSure(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		body := rapid.SliceOfN(rapid.SampledFrom([]byte("\xef\xbb\xbf{\"}: \ndataeventid:retry<!DOCTYPEhtml>-\x00\x10")), 0, 40).Draw(t, "body")
		full, _ := dialect.Sniff(body)
		for n := range body {
			if kind, sure := dialect.Sniff(body[:n]); sure && kind != full {
				t.Fatalf("%q is %d, and %q is %d", body[:n], kind, body, full)
			}
		}
	})
}
