package dialect_test

import (
	"testing"

	"sluice/internal/dialect/media"
	"sluice/internal/kernel/llm"
)

func TestMediaURL(t *testing.T) {
	t.Parallel()
	for want, m := range map[string]llm.Media{
		"https://example.org/a":                     {URL: "https://example.org/a", MIME: "image/png"},
		"data:image/png;base64,aGk=":                {Data: "aGk=", MIME: "image/png"},
		"data:application/octet-stream;base64,aGk=": {Data: "aGk="},
		"": {FileID: "file-1"},
	} {
		if got := media.URL(&m); got != want {
			t.Errorf("%+v is %q, want %q", m, got, want)
		}
	}
}
