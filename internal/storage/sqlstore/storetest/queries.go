package storetest

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"sluice/internal/control/resource"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/storage/sqlstore"
)

func filters(t *testing.T, s *sqlstore.Store) {
	k := kind(t)
	org, ws := ident.NewID(), ident.NewID()
	for i, name := range []string{"Alpha_1", "Älpha 100%", "alphaX1", "beta!"} {
		r := sample(k, "s"+strconv.Itoa(i))
		r.Name = name
		if i%2 == 0 {
			r.OrgID, r.WorkspaceID, r.Status = org, ws, "archived"
		}
		r.Index = []resource.IndexEntry{{Name: "provider", Value: "openai"}, {Name: "n", Value: strconv.Itoa(i)}}
		put(t, s, r)
	}
	provider := resource.IndexEntry{Name: "provider", Value: "openai"}
	for name, c := range map[string]struct {
		q    resource.Query
		want string // the numbers of the records: "02"
	}{
		"all":              {resource.Query{}, "0123"},
		"organisation":     {resource.Query{OrgID: org}, "02"},
		"workspace":        {resource.Query{WorkspaceID: ws}, "02"},
		"slug":             {resource.Query{Slug: "s1"}, "1"},
		"one status":       {resource.Query{Statuses: []string{"archived"}}, "02"},
		"two statuses":     {resource.Query{Statuses: []string{"archived", "active"}}, "0123"},
		"unknown status":   {resource.Query{Statuses: []string{"x"}}, ""},
		"index":            {resource.Query{Index: []resource.IndexEntry{provider}}, "0123"},
		"two entries":      {resource.Query{Index: []resource.IndexEntry{provider, {Name: "n", Value: "3"}}}, "3"},
		"one of two":       {resource.Query{OneOf: []resource.IndexEntry{{Name: "n", Value: "2"}, {Name: "n", Value: "3"}}}, "23"},
		"one of one":       {resource.Query{OneOf: []resource.IndexEntry{{Name: "n", Value: "3"}}}, "3"},
		"one of none":      {resource.Query{OneOf: []resource.IndexEntry{{Name: "n", Value: "none"}}}, ""},
		"one of, and all":  {resource.Query{OneOf: []resource.IndexEntry{provider, {Name: "n", Value: "2"}}, Index: []resource.IndexEntry{{Name: "n", Value: "3"}}}, "3"},
		"contradiction":    {resource.Query{Index: []resource.IndexEntry{{Name: "n", Value: "2"}, {Name: "n", Value: "3"}}}, ""},
		"no ids":           {resource.Query{IDs: []string{}}, ""},
		"search folds":     {resource.Query{Search: "LPHA"}, "012"},
		"search umlaut":    {resource.Query{Search: "äLPHA"}, "1"},
		"search percent":   {resource.Query{Search: "0%"}, "1"},
		"search underline": {resource.Query{Search: "a_1"}, "0"},
		"search NUL":       {resource.Query{Search: "alpha\x00"}, ""},
		"search bad UTF-8": {resource.Query{Search: "alpha\xff"}, ""},
		"search mark":      {resource.Query{Search: "a!"}, "3"},
		"together":         {resource.Query{OrgID: org, Statuses: []string{"archived"}, Search: "x1", Index: []resource.IndexEntry{provider}}, "2"},
		"newest":           {resource.Query{Newest: true}, "3210"},
		"offset":           {resource.Query{Offset: 1, Limit: 2}, "12"},
		"offset, newest":   {resource.Query{Offset: 1, Limit: 2, Newest: true}, "21"},
		"offset, filtered": {resource.Query{Offset: 1, Limit: 2, Statuses: []string{"archived"}}, "2"},
	} {
		c.q.Kind = k
		got, err := s.List(t.Context(), c.q)
		must(t, err)
		var ns strings.Builder
		for _, r := range got {
			ns.WriteString(strings.TrimPrefix(r.Slug, "s"))
		}
		if ns.String() != c.want {
			t.Errorf("%s: got %q, want %q", name, ns.String(), c.want)
		}
		if n, err := s.Count(t.Context(), c.q); err != nil || (c.q.Limit == 0 && n != len(c.want)) {
			t.Errorf("%s: counted %d, %v", name, n, err)
		}
	}
}

func pages(t *testing.T, s *sqlstore.Store) {
	k := kind(t)
	var all []string
	recs := make([]resource.Record, 105)
	for i := range recs {
		recs[i] = sample(k, "")
		recs[i].Index = []resource.IndexEntry{{Name: "n", Value: strconv.Itoa(i)}}
		all = append(all, recs[i].ID)
	}
	put(t, s, recs...)
	slices.Sort(all)
	for _, newest := range []bool{false, true} {
		var seen []string
		for after := ""; ; {
			page, err := s.List(t.Context(), resource.Query{Kind: k, Limit: 10, After: after, Newest: newest})
			must(t, err)
			if len(page) == 0 {
				break
			}
			for _, r := range page {
				seen = append(seen, r.ID)
				if len(r.Index) != 1 || recs[slices.IndexFunc(recs, func(x resource.Record) bool { return x.ID == r.ID })].Index[0] != r.Index[0] {
					t.Fatalf("record %s has the index %v", r.ID, r.Index)
				}
			}
			after = page[len(page)-1].ID
		}
		same(t, fmt.Sprintf("all pages, newest %v", newest), seen, all)
		slices.Reverse(all)
	}
	if page, err := s.List(t.Context(), resource.Query{Kind: k}); err != nil || len(page) != 100 {
		t.Errorf("the standard page has %d rows, %v", len(page), err)
	}
	for _, q := range []resource.Query{{Limit: 1001}, {Limit: -1}, {Offset: -1}} {
		_, err := s.List(t.Context(), q)
		wantCode(t, fmt.Sprintf("limit %d, offset %d", q.Limit, q.Offset), err, fault.InvalidRequest)
	}
}

// every checks that Each returns the same records as List. Each returns them without index
// entries, and a body is valid only during the callback.
func every(t *testing.T, s *sqlstore.Store) {
	k := kind(t)
	recs := make([]resource.Record, 25)
	for i := range recs {
		recs[i] = sample(k, "s"+strconv.Itoa(i))
		if i%3 == 0 {
			recs[i].Slug = ""
		}
		recs[i].Body = []byte(`{"n":"` + strings.Repeat("x", i) + `"}`)
		recs[i].Index = []resource.IndexEntry{{Name: "odd", Value: strconv.Itoa(i % 2)}}
	}
	put(t, s, recs...)
	for name, c := range map[string]struct {
		q    resource.Query
		want int
	}{
		"all":         {resource.Query{Limit: 10}, 25},
		"whole pages": {resource.Query{Limit: 5, Newest: true}, 25},
		"some":        {resource.Query{Limit: 3, Index: []resource.IndexEntry{{Name: "odd", Value: "1"}}}, 12},
		"none":        {resource.Query{IDs: []string{}}, 0},
	} {
		c.q.Kind, c.q.Bare = k, true
		var got []resource.Record
		must(t, s.Each(t.Context(), c.q, func(r resource.Record) {
			r.Body = bytes.Clone(r.Body)
			got = append(got, r)
		}))
		c.q.Limit, c.q.Newest = 0, false
		want, err := s.List(t.Context(), c.q)
		must(t, err)
		if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" || len(got) != c.want {
			t.Errorf("%s: got %d records (-want +got):\n%s", name, len(got), d)
		}
	}
	wantCode(t, "limit 1001", s.Each(t.Context(), resource.Query{Kind: k, Limit: 1001}, nil), fault.InvalidRequest)
}

func links(t *testing.T, s *sqlstore.Store) {
	set, from := kind(t), ident.NewID()
	put := func(l ...resource.Link) error {
		return s.InTx(t.Context(), func(tx resource.Tx) error { return tx.PutLinks(t.Context(), set, from, l) })
	}
	must(t, put(resource.Link{ToID: "b", Position: 2}, resource.Link{ToID: "c", Position: 1, Body: []byte(`{"enabled":true}`)}, resource.Link{ToID: "a", Position: 2}))
	got, err := s.Links(t.Context(), set, from)
	must(t, err)
	same(t, "links", got, []resource.Link{
		{Set: set, FromID: from, ToID: "c", Position: 1, Body: []byte(`{"enabled":true}`)},
		{Set: set, FromID: from, ToID: "a", Position: 2},
		{Set: set, FromID: from, ToID: "b", Position: 2},
	})
	wantCode(t, "the same target twice", put(resource.Link{ToID: "a"}, resource.Link{ToID: "a"}), fault.Conflict)
	wantCode(t, "too many", put(make([]resource.Link, sqlstore.MaxLinks+1)...), fault.InvalidRequest)

	many := make([]resource.Link, 1201)
	for i := range many {
		many[i] = resource.Link{Set: set, FromID: from, ToID: strconv.Itoa(i), Position: i}
	}
	must(t, put(many...))
	got, err = s.Links(t.Context(), set, from)
	must(t, err)
	same(t, "many links", got, many)
	must(t, put())
	got, err = s.Links(t.Context(), set, from)
	must(t, err)
	same(t, "no links", got, []resource.Link(nil))
}

// anyText stores and finds random text, because values are written into the text of
// statements.
func anyText(t *testing.T, s *sqlstore.Store) {
	text := rapid.OneOf(rapid.StringN(1, 60, 200), rapid.StringMatching(`[\\'"`+"`"+`?%_$:;()\-/* a-c0-2üß]{1,40}`))
	rapid.Check(t, func(rt *rapid.T) {
		r := sample("t"+ident.NewID()[24:], "")
		r.Name, r.Body = text.Draw(rt, "name"), []byte(text.Draw(rt, "body"))
		r.Index = []resource.IndexEntry{{Name: "note", Value: text.Draw(rt, "value"), Unique: true}}
		err := insert(t.Context(), s, r)
		if strings.ContainsRune(r.Name+string(r.Body)+r.Index[0].Value, 0) {
			if !fault.Has(err, fault.InvalidRequest) {
				rt.Fatalf("text with NUL: %v", err)
			}
			return
		}
		if err != nil {
			rt.Fatal(err)
		}
		got, err := s.List(t.Context(), resource.Query{Kind: r.Kind, Search: r.Name, Index: r.Index})
		if err != nil || len(got) != 1 {
			rt.Fatalf("%d records found, %v", len(got), err)
		}
		if d := cmp.Diff(r, got[0]); d != "" {
			rt.Fatal(d)
		}
	})
}

// model applies random writes to the store and to a map with the same rules, and compares
// the results.
func model(t *testing.T, s *sqlstore.Store) {
	rapid.Check(t, func(rt *rapid.T) {
		k := "m" + ident.NewID()[24:]
		org := ident.NewID()
		stored := map[string]resource.Record{} // by id
		taken := func(r resource.Record) bool {
			for id, x := range stored {
				if id != r.ID && (x.Slug == r.Slug || x.Index[0] == r.Index[0]) {
					return true
				}
			}
			return false
		}
		ids := []string{"id-a", "id-b", "id-c"}
		for range rapid.IntRange(1, 8).Draw(rt, "steps") {
			r := sample(k, rapid.SampledFrom([]string{"s1", "s2", "s3"}).Draw(rt, "slug"))
			r.ID, r.OrgID = rapid.SampledFrom(ids).Draw(rt, "id"), org
			r.Version = int64(rapid.IntRange(1, 3).Draw(rt, "version"))
			r.Index = []resource.IndexEntry{{Name: "hash", Value: rapid.SampledFrom([]string{"x", "y", "z"}).Draw(rt, "hash"), Unique: true}}
			old, there := stored[r.ID]
			var err error
			var want fault.Code
			switch rapid.SampledFrom([]string{"insert", "update", "update", "delete"}).Draw(rt, "do") {
			case "insert":
				r.Version = 1
				if err = insert(t.Context(), s, r); there || taken(r) {
					want = fault.Conflict
				} else {
					stored[r.ID] = r
				}
			case "update":
				err = update(t.Context(), s, r)
				switch {
				case !there:
					want = fault.NotFound
				case old.Version != r.Version || taken(r):
					want = fault.Conflict
				default:
					r.Version++
					stored[r.ID] = r
				}
			case "delete":
				err = s.InTx(t.Context(), func(tx resource.Tx) error { return tx.Delete(t.Context(), k, r.ID) })
				if delete(stored, r.ID); !there {
					want = fault.NotFound
				}
			}
			if (want == "") != (err == nil) || (want != "" && !fault.Has(err, want)) {
				rt.Fatalf("got %v, want %q", err, want)
			}
		}
		got, err := s.List(t.Context(), resource.Query{Kind: k})
		if err != nil || len(got) != len(stored) {
			rt.Fatalf("%d records, want %d: %v", len(got), len(stored), err)
		}
		for _, r := range got {
			if d := cmp.Diff(stored[r.ID], r); d != "" {
				rt.Fatal(d)
			}
		}
	})
}
