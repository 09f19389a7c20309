package sniff_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sluice/internal/dialect/sniff"
)

func TestSniff(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]sniff.BodyKind{
		"": sniff.OtherBody, "{}": sniff.JSONBody, "{\n \"a\":1}": sniff.JSONBody, "\xef\xbb\xbf {\"a\":1}": sniff.JSONBody, "{ said he": sniff.OtherBody,
		`[{"a":1}]`: sniff.OtherBody, `"x"`: sniff.OtherBody, "Hello": sniff.OtherBody, "database": sniff.OtherBody, "<b>Hello</b>": sniff.OtherBody, "<header>": sniff.OtherBody,
		"data: {}\n\n": sniff.EventBody, "data:{}": sniff.EventBody, "event: x\n": sniff.EventBody, ": ping\n\n": sniff.EventBody, ":\n": sniff.EventBody, "id: 1\n": sniff.EventBody,
		"retry: 3\n": sniff.EventBody, "\r\n\r\ndata: x": sniff.EventBody, "\xef\xbb\xbfdata: x": sniff.EventBody, "Data: x": sniff.OtherBody,
		"<!DOCTYPE html>": sniff.PageBody, "<!doctype HTML PUBLIC>": sniff.PageBody, "<html>": sniff.PageBody, " <HTML lang=\"en\">": sniff.PageBody, "<!-- a --> <html>": sniff.PageBody,
		"<h1>Bad gateway</h1>": sniff.PageBody, "<center><h1>502": sniff.PageBody, "<?xml version=\"1.0\"?>": sniff.OtherBody,
		"\x00\x00\x00\x10\x00\x00\x00\x00\x05\xc2\x48\xeb": sniff.FrameBody, "\x00\x00\x00\x10\x00\x00\x00\x00\x05\xc2\x48\xec": sniff.OtherBody, "\x00\x01": sniff.OtherBody,
		strings.Repeat(" ", sniff.MaxSniffBytes): sniff.OtherBody, "ID3\x04": sniff.OtherBody,
	} {
		if kind, _ := sniff.Sniff([]byte(body)); kind != want {
			t.Errorf("%q is %d, want %d", body, kind, want)
		}
	}
}

// Where Sniff is sure, no further byte changes its mind.
func TestSniffIsSure(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		body := rapid.SliceOfN(rapid.SampledFrom([]byte("\xef\xbb\xbf{\"}: \ndataeventid:retry<!DOCTYPEhtml>-\x00\x10")), 0, 40).Draw(t, "body")
		full, _ := sniff.Sniff(body)
		for n := range body {
			if kind, sure := sniff.Sniff(body[:n]); sure && kind != full {
				t.Fatalf("%q is %d, and %q is %d", body[:n], kind, body, full)
			}
		}
	})
}
