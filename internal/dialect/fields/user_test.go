package fields_test

import (
	"strings"
	"testing"

	"sluice/internal/dialect/fields"
)

func TestUser(t *testing.T) {
	t.Parallel()
	long := `"` + strings.Repeat("user_1", 30) + `"`
	for raw, want := range map[string]string{
		`"ann"`: `"ann"`, `"` + strings.Repeat("a", 64) + `"`: `"` + strings.Repeat("a", 64) + `"`, `7`: `7`,
	} {
		if got := fields.User([]byte(raw)); string(got) != want {
			t.Errorf("%s is %s", raw, got)
		}
	}
	got := string(fields.User([]byte(long)))
	if len(got) != 66 || strings.Trim(got, `"0123456789abcdef`) != "" || got != string(fields.User([]byte(long))) {
		t.Errorf("%s is %s", long, got)
	}
}
