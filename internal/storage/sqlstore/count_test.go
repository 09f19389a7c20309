package sqlstore_test

import (
	"testing"

	"sluice/internal/control/resource"
	"sluice/internal/kernel/ident"
	"sluice/internal/storage/sqlstore/storetest"
)

// A count that was asked for before tells of what any node wrote since.
func TestCountsFollowEveryNode(t *testing.T) {
	t.Parallel()
	for name, settings := range engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set := settings(t)
			one, two := storetest.Open(t, set), storetest.Open(t, set)
			q := resource.Query{Kind: "config", OrgID: "org", Statuses: []string{"active"}, Index: []resource.IndexEntry{{Name: "n", Value: "v"}}}
			r := resource.Record{Kind: "config", ID: ident.NewID(), OrgID: "org", Status: "active", Version: 1, Body: []byte("{}"), Index: q.Index}
			for _, step := range []struct {
				what  string
				write func(resource.Tx) error
				want  int
			}{
				{"at first", func(resource.Tx) error { return nil }, 0},
				{"inserted", func(tx resource.Tx) error { return tx.Insert(t.Context(), r) }, 1},
				{"another entry", func(tx resource.Tx) error {
					r.Index = nil
					return tx.Update(t.Context(), r)
				}, 0},
				{"the entry again", func(tx resource.Tx) error {
					r.Index, r.Version = q.Index, 2
					return tx.Update(t.Context(), r)
				}, 1},
				{"archived", func(tx resource.Tx) error {
					r.Status, r.Version = "archived", 3
					return tx.Update(t.Context(), r)
				}, 0},
				{"active again", func(tx resource.Tx) error {
					r.Status, r.Version = "active", 4
					return tx.Update(t.Context(), r)
				}, 1},
				{"deleted", func(tx resource.Tx) error { return tx.Delete(t.Context(), r.Kind, r.ID) }, 0},
			} {
				if err := two.InTx(t.Context(), step.write); err != nil {
					t.Fatal(step.what, err)
				}
				for range 2 {
					for _, s := range []resource.Reader{one, two} {
						if n, err := s.Count(t.Context(), q); err != nil || n != step.want {
							t.Errorf("%s: counted %d, %v, want %d", step.what, n, err, step.want)
						}
					}
				}
			}
		})
	}
}

// In a transaction its own writes count, which the feed does not tell of yet.
func TestCountsOfATransaction(t *testing.T) {
	t.Parallel()
	for name, settings := range engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := storetest.Open(t, settings(t))
			q := resource.Query{Kind: "config"}
			count := func(from resource.Reader, want int) {
				t.Helper()
				if n, err := from.Count(t.Context(), q); err != nil || n != want {
					t.Errorf("counted %d, %v, want %d", n, err, want)
				}
			}
			count(s, 0)
			err := s.InTx(t.Context(), func(tx resource.Tx) error {
				count(tx, 0)
				err := tx.Insert(t.Context(), resource.Record{Kind: "config", ID: ident.NewID(), Status: "active", Body: []byte("{}")})
				count(tx, 1)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			count(s, 1)
		})
	}
}
