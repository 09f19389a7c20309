package live_test

import (
	"encoding/json"
	"log/slog"
	"runtime"
	"strconv"
	"testing"

	"sluice/internal/control/resource"
	"sluice/internal/domain/keys"
	"sluice/internal/domain/routing"
	"sluice/internal/domain/tenant"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/sealed"
	"sluice/internal/storage/live"
	"sluice/internal/storage/sqlstore"
	"sluice/internal/storage/sqlstore/storetest"
)

// The size of the deployment of the benchmarks.
const (
	manyKeys       = 100_000
	manyWorkspaces = 1000
	batchRows      = 2000
)

// newLargeStore is a store with manyKeys keys in manyWorkspaces workspaces, made as the first
// start and the administration would make them.
func newLargeStore(b *testing.B) (*sqlstore.Store, *sealed.Sealer, []resource.Record) {
	b.Helper()
	box, err := sealed.NewBox([]byte("a key of the tests, long"))
	if err != nil {
		b.Fatal(err)
	}
	s := storetest.Open(b, storetest.SQLite(b))
	workspaceIDs := make([]string, manyWorkspaces)
	for i := range workspaceIDs {
		workspaceIDs[i] = ident.NewID()
	}
	insertAll(b, s, manyWorkspaces, func(i int) resource.Record {
		return record(b, resource.Record{Kind: tenant.WorkspaceKind, ID: workspaceIDs[i], OrgID: org, Slug: "ws-" + strconv.Itoa(i), Name: "w"}, tenant.Workspace{Name: "w"})
	})
	hasher := keys.NewHasher([]byte("pepper"))
	var some []resource.Record
	insertAll(b, s, manyKeys, func(i int) resource.Record {
		id := ident.NewID()
		shut, err := box.Seal([]byte("sk-0123456789abcdef0123456789abcdef"), keys.Context(id))
		if err != nil {
			b.Fatal(err)
		}
		hash := hasher.Sum(strconv.Itoa(i))
		r := record(b, resource.Record{Kind: keys.Kind, ID: id, OrgID: org, WorkspaceID: workspaceIDs[i%manyWorkspaces], Name: "k"}, keys.Key{
			Name: "k", Type: access.WorkspaceService, Scopes: access.Allowed(access.WorkspaceService), CreationMode: "api",
			Secret: keys.Secret{Hash: hash, Sealed: shut, Masked: "sk*****def"},
		})
		r.Index = []resource.IndexEntry{{Name: "type", Value: string(access.WorkspaceService)}, {Name: "hash", Value: hash.String(), Unique: true}}
		if len(some) < 100 {
			some = append(some, r)
		}
		return r
	})
	return s, box, some
}

func record(b *testing.B, r resource.Record, body any) resource.Record {
	b.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		b.Fatal(err)
	}
	r.Body, r.Status, r.Version = text, resource.Active, 1
	return r
}

func insertAll(b *testing.B, s *sqlstore.Store, n int, one func(int) resource.Record) {
	b.Helper()
	for begin := 0; begin < n; begin += batchRows {
		err := s.InTx(b.Context(), func(tx resource.Tx) error {
			for i := begin; i < min(begin+batchRows, n); i++ {
				if err := tx.Insert(b.Context(), one(i)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}

// What a start with 100,000 keys takes, and what the copy of them holds; then what a
// change of one key takes.
func BenchmarkManyKeys(b *testing.B) {
	s, box, some := newLargeStore(b)
	load := func(b *testing.B) *live.Directory {
		b.Helper()
		d := live.New(s, box, routing.DefaultLimits(), slog.New(slog.DiscardHandler))
		if err := d.Load(b.Context()); err != nil {
			b.Fatal(err)
		}
		return d
	}
	b.Run("load", func(b *testing.B) {
		before := heap()
		var d *live.Directory
		for b.Loop() {
			d = load(b)
		}
		b.ReportMetric(float64(heap()-before)/1e6, "MB-held")
		runtime.KeepAlive(d)
	})
	b.Run("change", func(b *testing.B) {
		d := load(b)
		version := make(map[string]int64)
		i := 0
		for b.Loop() {
			b.StopTimer()
			r := some[i%len(some)]
			r.Version += version[r.ID]
			if err := s.InTx(b.Context(), func(tx resource.Tx) error { return tx.Update(b.Context(), r) }); err != nil {
				b.Fatal(err)
			}
			version[r.ID]++
			i++
			b.StartTimer()
			if err := d.Refresh(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// heap is what lives after a collection, in bytes.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
