package sqlstore_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"sluice/internal/control/resource"
	"sluice/internal/kernel/ident"
	"sluice/internal/storage/sqlstore"
	"sluice/internal/storage/sqlstore/storetest"
)

// However pages are read, and whatever any node writes in between, a page holds what it
// would hold if all records were read and counted off.
func TestPagesFollowEveryNode(t *testing.T) {
	t.Parallel()
	set := storetest.SQLite(t)
	nodes := []*sqlstore.Store{storetest.Open(t, set), storetest.Open(t, set)}
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		kind := fmt.Sprintf("kind%d", n)
		var ids []string // that exist, the oldest first
		write := func(f func(resource.Tx) error) {
			if err := nodes[rapid.IntRange(0, 1).Draw(rt, "node")].InTx(t.Context(), f); err != nil {
				rt.Fatal(err)
			}
		}
		insert := func(*rapid.T) {
			write(func(tx resource.Tx) error {
				for range 3 {
					r := resource.Record{Kind: kind, ID: ident.NewID(), Status: "active", Body: []byte("{}")}
					if err := tx.Insert(t.Context(), r); err != nil {
						return err
					}
					ids = append(ids, r.ID)
				}
				return nil
			})
		}
		insert(rt)
		steps := map[string]func(*rapid.T){
			"insert": insert,
			"delete": func(rt *rapid.T) {
				if len(ids) == 0 { // nothing to delete
					return
				}
				i := rapid.IntRange(0, len(ids)-1).Draw(rt, "which")
				write(func(tx resource.Tx) error { return tx.Delete(t.Context(), kind, ids[i]) })
				ids = slices.Delete(ids, i, i+1)
			},
			"pages": func(rt *rapid.T) {
				node, newest := rapid.SampledFrom(nodes).Draw(rt, "reader"), rapid.Bool().Draw(rt, "newest")
				size := rapid.IntRange(1, 3).Draw(rt, "size")
				want := slices.Clone(ids)
				if newest {
					slices.Reverse(want)
				}
				for page := rapid.IntRange(0, len(want)/size).Draw(rt, "page"); page*size <= len(want); page += rapid.IntRange(1, 3).Draw(rt, "forward") {
					rows, err := node.List(t.Context(), resource.Query{Kind: kind, Newest: newest, Limit: size, Offset: page * size})
					if err != nil {
						rt.Fatal(err)
					}
					var got []string
					for _, r := range rows {
						got = append(got, r.ID)
					}
					if due := want[page*size : min((page+1)*size, len(want))]; !slices.Equal(got, due) {
						rt.Fatalf("page %d of %d has %q, want %q", page, size, got, due)
					}
				}
			},
		}
		for range 8 {
			steps[rapid.SampledFrom([]string{"insert", "delete", "pages", "pages"}).Draw(rt, "step")](rt)
		}
	})
}
