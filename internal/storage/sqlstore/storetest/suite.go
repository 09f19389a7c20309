package storetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"sluice/internal/control/resource"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/storage/sqlstore"
)

// Run runs the suite on an engine. All cases share one store and run at the same
// time, each with kinds of its own: that is part of the test.
func Run(t *testing.T, open func(t *testing.T) *sqlstore.Store) {
	s := open(t)
	t.Run("suite", func(t *testing.T) {
		for _, c := range []struct {
			name string
			run  func(t *testing.T, s *sqlstore.Store)
		}{
			{"keep every field", storeEveryField},
			{"refuse what cannot be kept", refuseUnstorable},
			{"one slug per kind and organisation", slugs},
			{"unique index entries", uniqueEntries},
			{"update by version", updateByVersion},
			{"delete takes all with it", deleteAll},
			{"versions", versions},
			{"large versions", largeVersions},
			{"rewrite every version", rewrite},
			{"a failed rewriting", failedRewrite},
			{"filters", filters},
			{"pages", pages},
			{"every record", every},
			{"links", links},
			{"any text", anyText},
			{"agree with a model", model},
			{"roll back", rollback},
			{"read own writes", readYourWrites},
			{"a failed write fails the transaction", failedWrite},
			{"deadlock is retried", deadlock},
			{"concurrent increments", increments},
			{"one of many inserts wins", race},
			{"feed in commit order", feed},
			{"leases", leases},
			{"one lease holder of many", leaseRace},
			{"audit", auditRows},
			{"meters", meters},
			{"meters of policies", policyMeters},
			{"meters in the feed", meterFeed},
			{"meters whose reset is due", renewals},
			{"usage of many writers", usageOfMany},
			{"count usage once", countUsage},
			{"what counting answers", countedMeters},
			{"usage of many meters at once", manyMeters},
			{"usage from before a reset", lateUsage},
			{"usage from before a reset that a clock ahead brought about", usageBelowAReset},
			{"usage of many nodes", usageOfNodes},
			{"responses", responses},
			{"large responses", largeResponses},
			{"open jobs", openJobs},
			{"batches", batches},
			{"settle a job once", settleJob},
			{"a cancelled caller", cancelled},
		} {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				c.run(t, s)
			})
		}
	})
}

// sample is a record as the engine of the control plane writes it.
func sample(kind, slug string) resource.Record {
	created := time.Date(2026, 11, 20, 10, 0, 0, 123e6, time.UTC)
	return resource.Record{
		Kind: kind, ID: ident.NewID(), OrgID: "0191f3a0-4c1e-7b6f-9d2a-0c6d8a1e5b3f", WorkspaceID: "0191f3a0-4c1e-7b6f-9d2a-0c6d8a1e5b40",
		Slug: slug, Name: "Routing for " + slug, Status: "active", Version: 1, Created: created, Updated: created,
		Body: []byte(`{"strategy":{"mode":"fallback"}}`),
	}
}

// kind is a name that no other case uses.
func kind(t *testing.T) string { return "k" + ident.NewID()[24:] + t.Name()[len(t.Name())-3:] }

func put(t *testing.T, s *sqlstore.Store, recs ...resource.Record) {
	t.Helper()
	must(t, s.InTx(t.Context(), func(tx resource.Tx) error {
		for _, r := range recs {
			if err := tx.Insert(t.Context(), r); err != nil {
				return err
			}
		}
		return nil
	}))
}

func insert(ctx context.Context, s *sqlstore.Store, r resource.Record) error {
	return s.InTx(ctx, func(tx resource.Tx) error { return tx.Insert(ctx, r) })
}

func update(ctx context.Context, s *sqlstore.Store, r resource.Record) error {
	return s.InTx(ctx, func(tx resource.Tx) error { return tx.Update(ctx, r) })
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantCode(t *testing.T, doing string, err error, code fault.Code) {
	t.Helper()
	if !fault.Has(err, code) {
		t.Errorf("%s: got %v, want %s", doing, err, code)
	}
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

// bump raises the version of a record by one, however many others do the same.
func bump(ctx context.Context, s *sqlstore.Store, kind string, ids ...string) error {
	for {
		err := s.InTx(ctx, func(tx resource.Tx) error {
			for _, id := range ids {
				r, err := tx.Find(ctx, kind, id)
				if err != nil {
					return err
				}
				if err := tx.Update(ctx, r); err != nil {
					return err
				}
			}
			return nil
		})
		if !errors.Is(err, fault.New(fault.Conflict, "")) {
			return err
		}
	}
}
