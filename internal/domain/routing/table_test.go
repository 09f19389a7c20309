package routing_test

import (
	"testing"

	"sluice/internal/domain/routing"
)

func TestTableForgetsTheLeastRecentlyUsed(t *testing.T) {
	t.Parallel()
	l := routing.NewLRU(2) // per shard, so that neighbours compete
	a := "a"
	b := l.Neighbour(a)
	c := l.Neighbour(b)
	if l.Put(a, "1") != 1 || l.Put(b, "2") != 2 || l.Put(b, "3") != 2 {
		t.Fatal("entries are missing")
	}
	if got := l.GetOrPut(a, "9"); got != "1" {
		t.Errorf("a is %s", got)
	}
	if n := l.Put(c, "4"); n != 2 {
		t.Errorf("%d entries", n)
	}
	if _, ok := l.Get(b); ok {
		t.Error("b was used longest ago and is still there")
	}
	if v, ok := l.Get(a); !ok || v != "1" {
		t.Errorf("a is %q %v", v, ok)
	}
	if got := l.GetOrPut(b, "5"); got != "5" {
		t.Errorf("b is %s", got)
	}
}
