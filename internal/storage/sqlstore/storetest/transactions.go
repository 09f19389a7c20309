package storetest

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sluice/internal/control/resource"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/storage/sqlstore"
)

func rollback(t *testing.T, s *sqlstore.Store) {
	k := kind(t)
	r := sample(k, "a")
	errAbort := errors.New("not like that")
	err := s.InTx(t.Context(), func(tx resource.Tx) error {
		if err := tx.Insert(t.Context(), r); err != nil {
			return err
		}
		return errAbort
	})
	if !errors.Is(err, errAbort) {
		t.Errorf("the error of the function came back as %v", err)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		_ = s.InTx(t.Context(), func(tx resource.Tx) error {
			must(t, tx.Insert(t.Context(), r))
			panic("a mistake")
		})
	}()
	_, err = s.Find(t.Context(), k, r.ID)
	wantCode(t, "find what was rolled back", err, fault.NotFound)
	put(t, s, r) // the writer is available again
	if seqs := changesOf(t, s, k); len(seqs) != 1 {
		t.Errorf("the feed has %d changes, want 1", len(seqs))
	}
}

func readYourWrites(t *testing.T, s *sqlstore.Store) {
	k := kind(t)
	r := sample(k, "a")
	must(t, s.InTx(t.Context(), func(tx resource.Tx) error {
		must(t, tx.Insert(t.Context(), r))
		got, err := tx.FindSlug(t.Context(), k, r.OrgID, "a")
		must(t, err)
		same(t, "inside", got, r)
		_, err = s.Find(t.Context(), k, r.ID)
		wantCode(t, "outside, before the commit", err, fault.NotFound)
		return nil
	}))
	_, err := s.Find(t.Context(), k, r.ID)
	must(t, err)
}

func failedWrite(t *testing.T, s *sqlstore.Store) {
	k := kind(t)
	put(t, s, sample(k, "taken"))
	free := sample(k, "free")
	err := s.InTx(t.Context(), func(tx resource.Tx) error {
		must(t, tx.Insert(t.Context(), free))
		_ = tx.Insert(t.Context(), sample(k, "taken"))
		return nil // ignores the failed write
	})
	wantCode(t, "commit after a failed write", err, fault.Conflict)
	_, err = s.Find(t.Context(), k, free.ID)
	wantCode(t, "find what was written with it", err, fault.NotFound)
}

// deadlock runs two transactions that update two records in opposite order. Where only one
// writer runs at a time the second never arrives, and the wait times out.
func deadlock(t *testing.T, s *sqlstore.Store) {
	k := kind(t)
	a, b := sample(k, "a"), sample(k, "b")
	put(t, s, a, b)
	var met sync.WaitGroup
	met.Add(2)
	both := make(chan struct{})
	go func() { met.Wait(); close(both) }()
	var updates atomic.Int32 // the first two updates wait for each other
	cross := func(ids ...string) error {
		return s.InTx(t.Context(), func(tx resource.Tx) error {
			for _, id := range ids {
				r, err := tx.Find(t.Context(), k, id)
				if err != nil {
					return err
				}
				if err := tx.Update(t.Context(), r); err != nil {
					return err
				}
				if updates.Add(1) <= 2 {
					met.Done()
					select {
					case <-both:
					case <-time.After(250 * time.Millisecond):
					}
				}
			}
			return nil
		})
	}
	errs := make(chan error, 2)
	for _, ids := range [][]string{{a.ID, b.ID}, {b.ID, a.ID}} {
		go func() {
			err := cross(ids...)
			for fault.Has(err, fault.Conflict) { // the retried call read before the other committed
				err = cross(ids...)
			}
			errs <- err
		}()
	}
	must(t, errors.Join(<-errs, <-errs))
	for _, id := range []string{a.ID, b.ID} {
		if r, err := s.Find(t.Context(), k, id); err != nil || r.Version != 3 {
			t.Errorf("version %d after %d updates, want 3: %v", r.Version, updates.Load(), err)
		}
	}
}

func increments(t *testing.T, s *sqlstore.Store) {
	const workers, each = 6, 5
	k := kind(t)
	a, b := sample(k, "a"), sample(k, "b")
	put(t, s, a, b)
	errs := make(chan error, workers)
	for range workers {
		go func() {
			var err error
			for range each {
				err = errors.Join(err, bump(t.Context(), s, k, a.ID, b.ID))
			}
			errs <- err
		}()
	}
	for range workers {
		must(t, <-errs)
	}
	for _, id := range []string{a.ID, b.ID} {
		vs, err := s.Versions(t.Context(), k, id)
		must(t, err)
		if len(vs) != 1+workers*each || vs[0].Version != 1+workers*each {
			t.Errorf("%d versions up to %d, want %d", len(vs), vs[0].Version, 1+workers*each)
		}
	}
}

func race(t *testing.T, s *sqlstore.Store) {
	k := kind(t)
	errs := make(chan error, 10)
	for range cap(errs) {
		go func() { errs <- insert(t.Context(), s, sample(k, "only")) }()
	}
	won := 0
	for range cap(errs) {
		if err := <-errs; err == nil {
			won++
		} else if !fault.Has(err, fault.Conflict) {
			t.Errorf("a loser got %v", err)
		}
	}
	if won != 1 {
		t.Errorf("%d inserts of one slug succeeded", won)
	}
}

// feed reads the change feed during many writes, as a live snapshot does: each read starts
// after the last change seen. It must not miss a change, and must find each record that the
// feed reports.
func feed(t *testing.T, s *sqlstore.Store) {
	const writers, each = 8, 12
	k := kind(t)
	start, err := s.LastChange(t.Context())
	must(t, err)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var done sync.WaitGroup
	errs := make(chan error, writers)
	for range writers {
		done.Go(func() { errs <- writeBatches(ctx, s, k, each) })
	}
	finished := make(chan struct{})
	go func() { done.Wait(); close(finished) }()

	var followed []resource.Change
	for last, ended := start, false; ; {
		select {
		case <-finished:
			ended = true
		default:
		}
		page, err := s.Changes(ctx, last, 7)
		must(t, err)
		for _, c := range page {
			last = c.Seq
			if c.Kind != k {
				continue
			}
			followed = append(followed, c)
			if _, err := s.Find(ctx, k, c.ID); err != nil {
				t.Fatalf("told of %s, but: %v", c.ID, err)
			}
		}
		if ended && len(page) == 0 {
			break
		}
	}
	for range writers {
		must(t, <-errs)
	}
	all := changesSince(t, s, start, k)
	same(t, "what the follower saw and what is there", followed, all)
	if len(all) != writers*each*2 {
		t.Errorf("%d changes, want %d", len(all), writers*each*2)
	}
}

func writeBatches(ctx context.Context, s *sqlstore.Store, k string, n int) error {
	for range n {
		err := s.InTx(ctx, func(tx resource.Tx) error {
			if err := tx.Insert(ctx, sample(k, "")); err != nil {
				return err
			}
			return tx.Insert(ctx, sample(k, ""))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func changesSince(t *testing.T, s *sqlstore.Store, after int64, kind string) []resource.Change {
	t.Helper()
	var all []resource.Change
	for {
		page, err := s.Changes(t.Context(), after, 1000)
		must(t, err)
		if len(page) == 0 {
			return all
		}
		for _, c := range page {
			after = c.Seq
			if c.Kind == kind {
				all = append(all, c)
			}
		}
	}
}

func changesOf(t *testing.T, s *sqlstore.Store, kind string) []resource.Change {
	t.Helper()
	return changesSince(t, s, 0, kind)
}

func cancelled(t *testing.T, s *sqlstore.Store) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := insert(ctx, s, sample(kind(t), "a"))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("insert: %v", err)
	}
	if _, err := s.Find(ctx, "config", ident.NewID()); !errors.Is(err, context.Canceled) {
		t.Errorf("find: %v", err)
	}
	if h := s.Health(); h.Status != sqlstore.OK {
		t.Errorf("a caller that left made the store %s", h.Status)
	}
}

func auditRows(t *testing.T, s *sqlstore.Store) {
	org := ident.NewID()
	var want []resource.AuditRow
	for i := range 5 {
		row := resource.AuditRow{
			ID: ident.NewID(), OrgID: org, WorkspaceID: ident.NewID(), ActorID: ident.NewID(), ActorKind: "user",
			Action: "config.update", Kind: "config", TargetID: ident.NewID(), CreatedAt: time.Date(2026, 11, 20, 10, i, 0, 5e6, time.UTC),
			RemoteIP: "2001:db8::1", Method: "PUT", Path: "/v1/configs/pc-1?a='b'", RequestID: ident.NewID(), Status: 200,
			Body: []byte(`{"api_key":"***"}`),
		}
		must(t, s.InTx(t.Context(), func(tx resource.Tx) error { return tx.Audit(t.Context(), row) }))
		want = append([]resource.AuditRow{row}, want...)
	}
	got, err := s.AuditTrail(t.Context(), org, "", 3)
	must(t, err)
	same(t, "first page", got, want[:3])
	got, err = s.AuditTrail(t.Context(), org, got[2].ID, 3)
	must(t, err)
	same(t, "second page", got, want[3:])
	wild := resource.AuditRow{ID: ident.NewID(), OrgID: org, RequestID: "ü\xff\x00" + string(make([]byte, 300)), Path: "/" + strconv.Itoa(1)}
	must(t, s.InTx(t.Context(), func(tx resource.Tx) error { return tx.Audit(t.Context(), wild) }))
	got, err = s.AuditTrail(t.Context(), org, "", 1)
	must(t, err)
	if n := len([]rune(got[0].RequestID)); n != 255 || got[0].CreatedAt.IsZero() {
		t.Errorf("a request id of %d characters, at %v", n, got[0].CreatedAt)
	}
}
