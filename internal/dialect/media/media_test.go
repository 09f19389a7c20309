package media_test

import (
	"testing"

	"sluice/internal/dialect/media"
	"sluice/internal/kernel/llm"
)

// OpenAI refuses data without a name; what is elsewhere needs none.
func TestFileName(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		m    llm.Media
		want string
	}{
		{"the caller's", llm.Media{Name: "report", MIME: "application/pdf", Data: "QQ=="}, "report"},
		{"none", llm.Media{MIME: "application/pdf", Data: "QQ=="}, "document.pdf"},
		{"of another type", llm.Media{MIME: "text/csv", Data: "QQ=="}, "document.csv"},
		{"of a type with two", llm.Media{MIME: "image/jpeg", Data: "QQ=="}, "document.jpeg"},
		{"of no type", llm.Media{Data: "QQ=="}, "document.pdf"},
		{"at a URL", llm.Media{URL: "https://example.com/a.pdf"}, ""},
		{"by its id", llm.Media{FileID: "file_1"}, ""},
	} {
		if got := media.FileName(&c.m); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}
