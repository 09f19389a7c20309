package respcache_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/domain/respcache"
)

func TestPurge_ComesBackFromItsRecord(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 28, 10, 0, 0, 123456789, time.UTC)
	for _, f := range []respcache.Filter{
		{Organisation: "o"},
		{Organisation: "o", Workspace: "w", Key: "k", APIKey: "a", Namespace: "n", Config: "c", Model: "m", Before: at.Add(-time.Hour)},
	} {
		p := &respcache.Purge{ID: "p1", Filter: f, At: at}
		body, err := p.Body()
		if err != nil {
			t.Fatal(err)
		}
		got, err := respcache.DecodePurge("p1", "o", f.Workspace, body)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(p, got); diff != "" {
			t.Error(diff)
		}
	}
	if _, err := respcache.DecodePurge("p1", "o", "", []byte("[")); err == nil {
		t.Error("a body that is not JSON has no error")
	}
}

func TestPurge_SelectsNothingThatWasStoredLater(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 28, 10, 0, 0, 0, time.UTC)
	for _, c := range []struct{ before, want time.Time }{
		{time.Time{}, at}, {at.Add(-time.Hour), at.Add(-time.Hour)}, {at.Add(time.Hour), at},
	} {
		p := respcache.Purge{At: at, Filter: respcache.Filter{Before: c.before}}
		if got := p.Until(); !got.Equal(c.want) {
			t.Errorf("before %s: got %s, want %s", c.before, got, c.want)
		}
	}
}
