package placeholder_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"sluice/internal/gateway/guardrails/placeholder"
)

func put(t *testing.T, m *placeholder.Memory, key string, size int) {
	t.Helper()
	present, err := m.Get(context.Background(), key)
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := m.Swap(context.Background(), key, present, make([]byte, size), time.Hour); !ok || err != nil {
		t.Fatal(ok, err)
	}
}

func has(t *testing.T, m *placeholder.Memory, key string) bool {
	t.Helper()
	value, err := m.Get(context.Background(), key)
	if err != nil {
		t.Fatal(err)
	}
	return value != nil
}

func TestMemory_BoundsItsBytes(t *testing.T) {
	t.Parallel()
	m := placeholder.NewMemory(10_000, newClock().Now)
	for i := range 100 {
		put(t, m, fmt.Sprintf("c%d/x", i), 600)
	}
	if got, want := m.Len(), 10; got != want {
		t.Errorf("got %d entries, want %d", got, want)
	}
	if has(t, m, "c0/x") || !has(t, m, "c99/x") {
		t.Error("got the first entry or lack the last")
	}
}

func TestMemory_BoundsACallerWithoutHarmToOthers(t *testing.T) {
	t.Parallel()
	m := placeholder.NewMemory(10<<20, newClock().Now)
	put(t, m, "ann/1", 10)
	for i := range 5000 {
		put(t, m, fmt.Sprint("bob/", i), 10)
	}
	if got, want := m.Len(), 1001; got != want {
		t.Errorf("got %d entries, want %d", got, want)
	}
	if !has(t, m, "ann/1") || !has(t, m, "bob/4999") || has(t, m, "bob/0") {
		t.Error("the wrong entries were removed")
	}
	put(t, m, "bob/large", 2<<20)
	put(t, m, "bob/larger", 20<<20)
	if !has(t, m, "ann/1") || has(t, m, "bob/larger") {
		t.Error("an entry above the share of a caller displaces others")
	}
}

func TestMemory_RemovesExpiredEntries(t *testing.T) {
	t.Parallel()
	c := newClock()
	m := placeholder.NewMemory(1<<20, c.Now)
	put(t, m, "a/1", 10)
	put(t, m, "a/2", 10)
	c.now = c.now.Add(30 * time.Minute)
	put(t, m, "a/1", 10) // later expiry
	c.now = c.now.Add(30 * time.Minute)
	if has(t, m, "a/2") {
		t.Error("an expired entry is returned")
	}
	if !has(t, m, "a/1") {
		t.Error("an entry that was stored again is missing")
	}
	c.now = c.now.Add(time.Hour)
	put(t, m, "b/1", 10)
	if got, want := m.Len(), 1; got != want {
		t.Errorf("got %d entries, want %d", got, want)
	}
}

func TestMemory_SwapsOnlyTheExpectedValue(t *testing.T) {
	t.Parallel()
	c := newClock()
	m := placeholder.NewMemory(1<<20, c.Now)
	swap := func(old, value string) bool {
		var before []byte
		if old != "" {
			before = []byte(old)
		}
		ok, err := m.Swap(context.Background(), "a/1", before, []byte(value), time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		return ok
	}
	if swap("x", "first") || !swap("", "first") || swap("", "second") || swap("x", "second") || !swap("first", "second") {
		t.Error("a swap replaced a value that was not the expected one, or did not replace the expected one")
	}
	c.now = c.now.Add(time.Hour)
	if !swap("", "third") {
		t.Error("an expired value prevents a swap")
	}
}
