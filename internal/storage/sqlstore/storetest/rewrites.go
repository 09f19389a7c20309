package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"sluice/internal/control/resource"
	"sluice/internal/kernel/fault"
	"sluice/internal/storage/sqlstore"
)

// A rewriting changes the bodies of all versions and nothing else.
func rewrite(t *testing.T, s *sqlstore.Store) {
	k := kind(t)
	r, other := sample(k, "a"), sample(k, "b")
	r.Index = []resource.IndexEntry{{Name: "hash", Value: "1", Unique: true}}
	put(t, s, r, other)
	for v := 2; v <= 3; v++ {
		r.Name, r.Body, r.Updated = fmt.Sprintf("Name %d", v), fmt.Appendf(nil, `{"v":%d}`, v), r.Updated.Add(time.Minute)
		must(t, update(t.Context(), s, r))
		r.Version++
	}
	want, err := s.Versions(t.Context(), k, r.ID)
	must(t, err)
	var seen []resource.Record
	again := func(make func(body []byte) []byte) (n int) {
		must(t, s.InTx(t.Context(), func(tx resource.Tx) (err error) {
			seen = nil
			n, err = tx.Rewrite(t.Context(), k, r.ID, func(r resource.Record) ([]byte, error) {
				seen = append(seen, r)
				return make(r.Body), nil
			})
			return err
		}))
		return n
	}
	if n := again(func(body []byte) []byte { return body }); n != 0 {
		t.Errorf("%d bodies were changed into themselves", n)
	}
	same(t, "what is rewritten", seen, want)
	if n := again(func(body []byte) []byte { return bytes.Replace(body, []byte(`"v":2`), []byte(`"v":"two"`), 1) }); n != 1 {
		t.Errorf("%d bodies were changed instead of one", n)
	}
	if n := again(func(body []byte) []byte { return append([]byte("  "), body...) }); n != 3 {
		t.Errorf("%d bodies were changed instead of three", n)
	}
	want[0].Body, want[1].Body = []byte(`  {"v":3}`), []byte(`  {"v":"two"}`)
	want[2].Body = append([]byte("  "), want[2].Body...)
	got, err := s.Versions(t.Context(), k, r.ID)
	must(t, err)
	same(t, "rewritten", got, want)

	r.Body = want[0].Body
	found, err := s.List(t.Context(), resource.Query{Kind: k, Index: r.Index})
	must(t, err)
	same(t, "found by its index entry", found, []resource.Record{r})
	unchanged, err := s.Find(t.Context(), k, other.ID)
	must(t, err)
	same(t, "another record", unchanged, other)
	must(t, update(t.Context(), s, r)) // the version is still the one that was read
}

func failedRewrite(t *testing.T, s *sqlstore.Store) {
	k := kind(t)
	r := sample(k, "a")
	put(t, s, r)
	must(t, update(t.Context(), s, r))
	want, err := s.Versions(t.Context(), k, r.ID)
	must(t, err)
	try := func(id string, make func(version int64) ([]byte, error)) error {
		return s.InTx(t.Context(), func(tx resource.Tx) error {
			_, err := tx.Rewrite(t.Context(), k, id, func(r resource.Record) ([]byte, error) { return make(r.Version) })
			return err
		})
	}
	broken := errors.New("broken")
	err = try(r.ID, func(version int64) ([]byte, error) {
		if version == 1 {
			return nil, broken
		}
		return []byte(`{}`), nil
	})
	if !errors.Is(err, broken) {
		t.Errorf("the error of the caller came back as %v", err)
	}
	err = try(r.ID, func(int64) ([]byte, error) { return []byte(strings.Repeat("x", sqlstore.MaxBodyBytes+1)), nil })
	wantCode(t, "a body too large", err, fault.TooLarge)
	err = try(other(r.ID), func(int64) ([]byte, error) { return nil, broken })
	wantCode(t, "rewrite the unknown", err, fault.NotFound)
	got, err := s.Versions(t.Context(), k, r.ID)
	must(t, err)
	same(t, "after failures", got, want)
}

// other is an id that is nobody's.
func other(id string) string { return strings.Repeat("0", 8) + id[8:] }
