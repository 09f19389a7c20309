package storetest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sluice/internal/control/resource"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/storage/sqlstore"
)

func storeEveryField(t *testing.T, s *sqlstore.Store) {
	k := kind(t)
	for _, text := range []string{
		`plain`, `quotes ' " '' \' \\ \`, `? ?0 ?TableName $1 :a %s`, "line\r\nbreak\ttab", `ümläut 日本語 🎧`, `-- /* ; */`, ` blanks `,
	} {
		r := sample(k, "")
		r.Name, r.Status, r.Body = text, text, []byte(`{"text":"`+text+`"}`)
		r.Index = []resource.IndexEntry{{Name: "note", Value: text}, {Name: "once", Value: text, Unique: true}}
		put(t, s, r)
		got, err := s.Find(t.Context(), k, r.ID)
		must(t, err)
		same(t, "record "+text, got, r)
		found, err := s.List(t.Context(), resource.Query{Kind: k, Index: r.Index})
		must(t, err)
		same(t, "found by the index entry "+text, found, []resource.Record{r})
	}
	big := sample(k, "big")
	big.Body = []byte(`"` + strings.Repeat(`'\`, sqlstore.MaxBodyBytes/2-1) + `"`)
	put(t, s, big)
	got, err := s.FindSlug(t.Context(), k, big.OrgID, "big")
	must(t, err)
	if string(got.Body) != string(big.Body) {
		t.Errorf("a body of %d bytes came back as %d others", len(big.Body), len(got.Body))
	}
	now := sample(k, "now")
	now.Created, now.Updated, now.Version = time.Time{}, time.Time{}, 7
	put(t, s, now)
	got, err = s.Find(t.Context(), k, now.ID)
	must(t, err)
	if age := time.Since(got.Created); age < -time.Second || age > time.Minute || got.Updated.IsZero() || got.Version != 1 {
		t.Errorf("stamped %v and %v, version %d", got.Created, got.Updated, got.Version)
	}
	_, err = s.Find(t.Context(), k, "unknown")
	wantCode(t, "find an unknown id", err, fault.NotFound)
	_, err = s.Find(t.Context(), k+"x", now.ID)
	wantCode(t, "find under another kind", err, fault.NotFound)
}

func refuseUnstorable(t *testing.T, s *sqlstore.Store) {
	k := kind(t)
	for name, c := range map[string]struct {
		change func(*resource.Record)
		code   fault.Code
	}{
		"no id":          {func(r *resource.Record) { r.ID = "" }, fault.InvalidRequest},
		"no kind":        {func(r *resource.Record) { r.Kind = "" }, fault.InvalidRequest},
		"long id":        {func(r *resource.Record) { r.ID += "x" }, fault.InvalidRequest},
		"long slug":      {func(r *resource.Record) { r.Slug = strings.Repeat("s", 256) }, fault.InvalidRequest},
		"long name":      {func(r *resource.Record) { r.Name = strings.Repeat("ü", 256) }, fault.InvalidRequest},
		"name with NUL":  {func(r *resource.Record) { r.Name = "a\x00b" }, fault.InvalidRequest},
		"name not UTF-8": {func(r *resource.Record) { r.Name = "a\xffb" }, fault.InvalidRequest},
		"body not UTF-8": {func(r *resource.Record) { r.Body = []byte("\"\xff\"") }, fault.InvalidRequest},
		"body too large": {func(r *resource.Record) { r.Body = make([]byte, sqlstore.MaxBodyBytes+1) }, fault.TooLarge},
		"index value too long": {func(r *resource.Record) {
			r.Index = []resource.IndexEntry{{Name: "a", Value: strings.Repeat("ü", 128)}}
		}, fault.InvalidRequest},
		"too many entries": {func(r *resource.Record) { r.Index = make([]resource.IndexEntry, sqlstore.MaxIndex+1) }, fault.InvalidRequest},
	} {
		r := sample(k, "")
		c.change(&r)
		wantCode(t, name, insert(t.Context(), s, r), c.code)
	}
	longest := sample(k, strings.Repeat("s", 255))
	longest.Name = strings.Repeat("ü", 255)
	put(t, s, longest)
	if n, err := s.Count(t.Context(), resource.Query{Kind: k}); err != nil || n != 1 {
		t.Errorf("%d records were kept, %v", n, err)
	}
}

func slugs(t *testing.T, s *sqlstore.Store) {
	k := kind(t)
	first := sample(k, "routing")
	put(t, s, first, sample(k, ""), sample(k, "")) // no slug is no clash
	wantCode(t, "the same slug", insert(t.Context(), s, sample(k, "routing")), fault.Conflict)
	other := sample(k, "routing")
	other.OrgID = ident.NewID()
	put(t, s, other, sample(k, "Routing"), sample(k+"x", "routing"))
	got, err := s.FindSlug(t.Context(), k, first.OrgID, "routing")
	must(t, err)
	same(t, "found by slug", got, first)
	for _, slug := range []string{"ROUTING", "routing ", "", "rout%", "routing\x00", "routing\xff"} {
		_, err := s.FindSlug(t.Context(), k, first.OrgID, slug)
		wantCode(t, "find the slug "+slug, err, fault.NotFound)
	}
	again := sample(k, "other")
	again.ID = first.ID
	wantCode(t, "the same id", insert(t.Context(), s, again), fault.Conflict)
}

func uniqueEntries(t *testing.T, s *sqlstore.Store) {
	k := kind(t)
	entry := resource.IndexEntry{Name: "hash", Value: "9f86d081", Unique: true}
	first, second := sample(k, "a"), sample(k, "b")
	first.Index = []resource.IndexEntry{entry, entry, {Name: "hash", Value: "other"}}
	put(t, s, first)
	second.Index = []resource.IndexEntry{entry}
	wantCode(t, "the same unique entry", insert(t.Context(), s, second), fault.Conflict)
	_, err := s.Find(t.Context(), k, second.ID)
	wantCode(t, "find what was refused", err, fault.NotFound)

	second.Index = []resource.IndexEntry{{Name: "hash", Value: "9f86d081 ", Unique: true}, {Name: "hash", Value: "9F86D081", Unique: true}, {Name: "hash", Value: "other"}}
	put(t, s, second)
	first.Index = nil
	must(t, update(t.Context(), s, first))
	third := sample(k, "c")
	third.Index = []resource.IndexEntry{entry} // free again
	put(t, s, third)
}

func updateByVersion(t *testing.T, s *sqlstore.Store) {
	k := kind(t)
	r := sample(k, "a")
	r.Index = []resource.IndexEntry{{Name: "status", Value: "on"}}
	put(t, s, r)
	r.Name, r.Slug, r.OrgID, r.Body = "Renamed", "b", ident.NewID(), []byte(`{}`)
	r.Index = []resource.IndexEntry{{Name: "status", Value: "off"}}
	r.Updated = r.Updated.Add(time.Hour)
	must(t, update(t.Context(), s, r))
	wantCode(t, "update what moved on", update(t.Context(), s, r), fault.Conflict)
	want := r
	want.Version = 2
	got, err := s.Find(t.Context(), k, r.ID)
	must(t, err)
	same(t, "updated", got, want)
	if n, err := s.Count(t.Context(), resource.Query{Kind: k, Index: []resource.IndexEntry{{Name: "status", Value: "on"}}}); err != nil || n != 0 {
		t.Errorf("the old index entry still finds %d, %v", n, err)
	}
	r.ID = ident.NewID()
	wantCode(t, "update the unknown", update(t.Context(), s, r), fault.NotFound)
}

func deleteAll(t *testing.T, s *sqlstore.Store) {
	k := kind(t)
	r, other := sample(k, "a"), sample(k, "b")
	r.Index = []resource.IndexEntry{{Name: "hash", Value: "1", Unique: true}}
	put(t, s, r, other)
	must(t, update(t.Context(), s, r))
	must(t, s.InTx(t.Context(), func(tx resource.Tx) error {
		if err := tx.PutLinks(t.Context(), k, r.ID, []resource.Link{{ToID: other.ID}}); err != nil {
			return err
		}
		return tx.PutLinks(t.Context(), k, other.ID, []resource.Link{{ToID: r.ID}})
	}))
	del := func() error {
		return s.InTx(t.Context(), func(tx resource.Tx) error { return tx.Delete(t.Context(), k, r.ID) })
	}
	must(t, del())
	wantCode(t, "delete again", del(), fault.NotFound)
	_, err := s.Versions(t.Context(), k, r.ID)
	wantCode(t, "versions of the deleted", err, fault.NotFound)
	for _, id := range []string{r.ID, other.ID} {
		l, err := s.Links(t.Context(), k, id)
		must(t, err)
		same(t, "links left", l, []resource.Link(nil))
	}
	put(t, s, r) // id, slug, index entry and versions are free again
	must(t, update(t.Context(), s, r))
}

func versions(t *testing.T, s *sqlstore.Store) {
	k := kind(t)
	r := sample(k, "a")
	put(t, s, r)
	want := []resource.Record{r}
	for _, body := range []string{`{"v":2}`, `{"v":3}`} {
		r.Body, r.Updated = []byte(body), r.Updated.Add(time.Minute)
		must(t, update(t.Context(), s, r))
		r.Version++
		want = append([]resource.Record{r}, want...)
	}
	got, err := s.Versions(t.Context(), k, r.ID)
	must(t, err)
	same(t, "versions, newest first", got, want)
}

// However large what a record was, its versions are no more than memory holds: the newest
// are shown.
func largeVersions(t *testing.T, s *sqlstore.Store) {
	const size, all = 1 << 19, 40
	k := kind(t)
	r := sample(k, "a")
	put(t, s, r)
	for i := range all {
		r.Body, r.Updated = fmt.Appendf(nil, `{"v":%d,"text":"%s"}`, i, strings.Repeat("x", size)), r.Updated.Add(time.Minute)
		must(t, update(t.Context(), s, r))
		r.Version++
	}
	got, err := s.Versions(t.Context(), k, r.ID)
	must(t, err)
	if len(got) < 8<<20/(2*size) || len(got) > 8<<20/size+1 {
		t.Fatalf("%d versions of %d bytes each", len(got), size)
	}
	for i, v := range got {
		if v.Version != r.Version-int64(i) {
			t.Errorf("version %d stands at %d, and the newest is %d", v.Version, i, r.Version)
		}
	}
}
