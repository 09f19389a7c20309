package control_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"sluice/internal/control/resource"
	"sluice/internal/domain/respcache"
	"sluice/internal/kernel/ident"
	"sluice/internal/storage/sqlstore/storetest"
)

// purges returns the recorded purges of the world.
func (w *world) purges(t *testing.T) (out []*respcache.Purge) {
	t.Helper()
	list, err := w.store.List(t.Context(), resource.Query{Kind: respcache.PurgeKind, Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range list {
		p, err := respcache.DecodePurge(r.ID, r.OrgID, r.WorkspaceID, r.Body)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, p)
	}
	return out
}

// putPurge records a purge of a model at a time.
func (w *world) putPurge(t *testing.T, model string, at time.Time) {
	t.Helper()
	p := &respcache.Purge{ID: ident.NewID(), Filter: respcache.Filter{Organisation: w.names.values["org"], Model: model}, At: at}
	body, err := p.Body()
	if err != nil {
		t.Fatal(err)
	}
	err = w.store.InTx(t.Context(), func(tx resource.Tx) error {
		return tx.Insert(t.Context(), resource.Record{
			Kind: respcache.PurgeKind, ID: p.ID, OrgID: p.Filter.Organisation, Status: resource.Active, Version: 1, Created: at, Updated: at, Body: body,
		})
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A purge is recorded for the other nodes. Records that are older than every response are deleted.
func TestCachePurge_IsRecordedForOtherNodes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Open(t, storetest.SQLite(t)))
	w.putPurge(t, "expired", began.Add(-respcache.MaxAge-time.Second))
	w.putPurge(t, "in force", began.Add(-respcache.MaxAge+time.Hour))
	if rec := w.raw(t, "service", "DELETE", "/v1/cache?model=gpt-4o&older_than=60", ""); rec.Code != 200 {
		t.Fatalf("%d %s", rec.Code, rec.Body)
	}
	list := w.purges(t)
	if len(list) != 2 || list[0].Filter.Model != "in force" {
		t.Fatalf("recorded: %+v", list)
	}
	p := list[1]
	want := respcache.Filter{Organisation: w.names.values["org"], Workspace: w.names.values["main"], Model: "gpt-4o", Before: p.At.Add(-time.Minute)}
	if p.Filter != want || p.At.Before(began) {
		t.Errorf("recorded %+v at %s, want %+v", p.Filter, p.At, want)
	}
}

// Too many records are replaced by one of everything.
func TestCachePurge_TooManyBecomeOneOfEverything(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Open(t, storetest.SQLite(t)))
	for i := range respcache.MaxPurges {
		w.putPurge(t, fmt.Sprint("model ", i), began)
	}
	if rec := w.raw(t, "service", "DELETE", "/v1/cache?model=gpt-4o", ""); rec.Code != 200 {
		t.Fatalf("%d %s", rec.Code, rec.Body)
	}
	list := w.purges(t)
	all := respcache.Filter{Organisation: w.names.values["org"]}
	if !slices.ContainsFunc(list, func(p *respcache.Purge) bool { return p.Filter == all }) || len(list) != 1 {
		t.Errorf("%d are recorded, the first is %+v", len(list), list[0])
	}
}

// A call that is refused records nothing.
func TestCachePurge_ARefusedCallRecordsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Open(t, storetest.SQLite(t)))
	if rec := w.raw(t, "service", "DELETE", "/v1/cache", ""); rec.Code != 400 {
		t.Fatalf("%d %s", rec.Code, rec.Body)
	}
	if list := w.purges(t); len(list) != 0 {
		t.Errorf("recorded: %+v", list[0])
	}
}
