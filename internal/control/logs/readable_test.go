package logs

import (
	"strings"
	"testing"

	"sluice/internal/domain/record"
)

// A text stays a text wherever it was cut.
func TestReadableCut(t *testing.T) {
	full := `{"messages":[{"role":"user","content":"` + strings.Repeat("日", 100) + `"}]}`
	for cut := 60; cut < 63; cut++ {
		b := record.Body{Type: "application/json", Bytes: []byte(full[:cut]), Size: int64(len(full)), Truncated: true}
		if s, _ := readable(b).(string); !strings.HasPrefix(full, s) || len(s) < cut-2 {
			t.Errorf("cut at %d: %s", cut, s)
		}
	}
}

// Of names that come to the same one, always the same one counts.
func TestDescribeTheSameTwice(t *testing.T) {
	for _, c := range []struct {
		sent map[string]string
		user string
		want string
	}{
		{map[string]string{"user": ""}, "ann", "ann"},
		{map[string]string{"user": "bob", "_user": "eve"}, "", "eve"},
		{map[string]string{"user": "bob", "_user": ""}, "", "bob"},
	} {
		for range 50 {
			var a record.Attempt
			if err := describe(&a, c.sent, c.user); err != nil {
				t.Fatal(err)
			}
			if got := a.Metadata["_user"]; got != c.want {
				t.Fatalf("%v of %q: %q", c.sent, c.user, got)
			}
		}
	}
}
