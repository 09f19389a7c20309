package netguard

import (
	"fmt"
	"testing"
)

// What passed once passes again, what was refused is refused again, and however many
// URLs callers name, few are kept.
func TestURLChecker(t *testing.T) {
	t.Parallel()
	c := NewURLChecker(New([]string{"127.0.0.1"}))
	for range 2 {
		if err := c.CheckURL("http://127.0.0.1:8080/v1"); err != nil {
			t.Error(err)
		}
		if err := c.CheckURL("http://10.0.0.1/v1"); err == nil {
			t.Error("a private address passed")
		}
	}
	for i := range maxPassedURLs + 10 {
		if err := c.CheckURL(fmt.Sprintf("http://127.0.0.1:8080/%d", i)); err != nil {
			t.Fatal(err)
		}
	}
	if n := c.passed.Len(); n == 0 || n > maxPassedURLs {
		t.Errorf("%d URLs are kept", n)
	}
}
