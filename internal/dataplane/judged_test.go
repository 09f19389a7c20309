package dataplane

import (
	"fmt"
	"testing"

	"sluice/internal/provider/netguard"
)

// What passed once passes again, what was refused is refused again, and however many
// URLs callers name, few are kept.
func TestJudged(t *testing.T) {
	t.Parallel()
	j := newJudged(netguard.New([]string{"127.0.0.1"}))
	for range 2 {
		if err := j.check("http://127.0.0.1:8080/v1"); err != nil {
			t.Error(err)
		}
		if err := j.check("http://10.0.0.1/v1"); err == nil {
			t.Error("a private address passed")
		}
	}
	for i := range judgedMax + 10 {
		if err := j.check(fmt.Sprintf("http://127.0.0.1:8080/%d", i)); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(j.good); n > judgedMax {
		t.Errorf("%d URLs are kept", n)
	}
}
