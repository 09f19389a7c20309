package embeddings_test

import (
	"testing"

	"sluice/internal/dialect/embeddings"
)

// What has no lists of numbers stays as it is.
func TestInBase64(t *testing.T) {
	t.Parallel()
	for _, odd := range []string{`{}`, `{"data":7}`, `{"data":[{"embedding":["x"]}]}`, `{"data":[{"embedding":"AAAA"}]}`} {
		if got := string(embeddings.InBase64([]byte(odd))); got != odd {
			t.Errorf("%s became %s", odd, got)
		}
	}
}
