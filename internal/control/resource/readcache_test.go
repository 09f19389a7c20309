package resource_test

import (
	"context"
	"testing"

	"sluice/internal/control/resource"
	"sluice/internal/kernel/fault"
)

// counting counts what is asked for, and has one record.
type counting struct {
	resource.Reader
	lookups int
}

func (c *counting) Find(_ context.Context, kind, id string) (resource.Record, error) {
	if c.lookups++; id != "here" {
		return resource.Record{}, fault.New(fault.NotFound, "")
	}
	return resource.Record{Kind: kind, ID: id}, nil
}

// What a page of rows shares is read once in a call; what is missing may come.
func TestRecall(t *testing.T) {
	t.Parallel()
	from := &counting{}
	r := resource.NewRecall(from)
	for range 3 {
		if rec, err := r.Find(t.Context(), "org", "here"); err != nil || rec.ID != "here" {
			t.Errorf("%+v, %v", rec, err)
		}
		if _, err := r.Find(t.Context(), "org", "gone"); !fault.Has(err, fault.NotFound) {
			t.Errorf("%v", err)
		}
		if rec, err := r.Find(t.Context(), "user", "here"); err != nil || rec.Kind != "user" {
			t.Errorf("%+v, %v", rec, err)
		}
	}
	if from.lookups != 2+3 {
		t.Errorf("asked %d times, want 5", from.lookups)
	}
}

// What rows share is made once while a call reads, and each time while it writes.
func TestShared(t *testing.T) {
	t.Parallel()
	made := 0
	ask := func(c *resource.Call) {
		t.Helper()
		if v, err := resource.Shared(c, "n", func() (int, error) { made++; return made, nil }); err != nil || v != made {
			t.Errorf("%d, %v after %d", v, err, made)
		}
	}
	reads, writes := &resource.Call{}, &resource.Call{Reader: struct{ resource.Tx }{}}
	for range 3 {
		ask(reads)
	}
	for range 2 {
		ask(writes)
	}
	if made != 1+2 {
		t.Errorf("made %d times, want 3", made)
	}
	failing := &resource.Call{}
	for range 2 {
		if _, err := resource.Shared(failing, "n", func() (int, error) { made++; return 0, fault.New(fault.NotFound, "") }); !fault.Has(err, fault.NotFound) {
			t.Errorf("%v", err)
		}
	}
	if made != 3+2 {
		t.Error("what failed is not made again")
	}
}
