package netguard

import (
	"fmt"
	"testing"
)

func TestURLCache_RepeatsResultsAndIsBounded(t *testing.T) {
	t.Parallel()
	c := NewURLCache(New([]string{"127.0.0.1"}))
	for range 2 {
		if err := c.CheckURL("http://127.0.0.1:8080/v1"); err != nil {
			t.Error(err)
		}
		if err := c.CheckURL("http://10.0.0.1/v1"); err == nil {
			t.Error("a private address passed")
		}
	}
	for i := range maxCachedURLs + 10 {
		if err := c.CheckURL(fmt.Sprintf("http://127.0.0.1:8080/%d", i)); err != nil {
			t.Fatal(err)
		}
	}
	if n := c.passed.Len(); n == 0 || n > maxCachedURLs {
		t.Errorf("%d URLs are cached, want 1 to %d", n, maxCachedURLs)
	}
}
