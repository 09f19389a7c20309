package boundedcache_test

import (
	"testing"

	"sluice/internal/kernel/boundedcache"
)

func TestCache_ReturnsWhatWasPut(t *testing.T) {
	t.Parallel()
	c := boundedcache.New[string, int](2)
	c.Put("a", 1)
	c.Put("b", 2)
	c.Delete("a")
	if _, ok := c.Get("a"); ok {
		t.Error("a deleted entry is found")
	}
	if v, ok := c.Get("b"); !ok || v != 2 {
		t.Errorf("got %d %v, want 2", v, ok)
	}
}

func TestCache_NeverExceedsItsMaximum(t *testing.T) {
	t.Parallel()
	c := boundedcache.New[int, int](3)
	for i := range 10 {
		c.Put(i, i)
		if n := c.Len(); n > 3 {
			t.Fatalf("got %d entries, want at most 3", n)
		}
		if v, ok := c.Get(i); !ok || v != i {
			t.Fatalf("the newest entry: got %d %v, want %d", v, ok, i)
		}
	}
}
