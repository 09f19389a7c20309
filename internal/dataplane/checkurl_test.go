package dataplane

import (
	"fmt"
	"testing"

	"sluice/internal/provider/netguard"
)

// What passed once passes again, what was refused is refused again, and however many
// URLs callers name, few are kept.
func TestCheckURL(t *testing.T) {
	t.Parallel()
	g := &Gateway{Parts: Parts{Guard: netguard.New([]string{"127.0.0.1"})}, urls: newCache[string, struct{}](passedURLs)}
	for range 2 {
		if err := g.checkURL("http://127.0.0.1:8080/v1"); err != nil {
			t.Error(err)
		}
		if err := g.checkURL("http://10.0.0.1/v1"); err == nil {
			t.Error("a private address passed")
		}
	}
	for i := range passedURLs + 10 {
		if err := g.checkURL(fmt.Sprintf("http://127.0.0.1:8080/%d", i)); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(g.urls.known); n == 0 || n > passedURLs {
		t.Errorf("%d URLs are kept", n)
	}
}
