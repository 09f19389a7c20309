package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"sluice/internal/control/resource"
	"sluice/internal/domain/audit"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/storage/sqlstore"
)

// Audits tests the chain of the audit trail with several nodes on one database.
func Audits(t *testing.T, set sqlstore.Settings) {
	nodes := []*sqlstore.Store{Open(t, set), Open(t, set), Open(t, set)}
	signer, err := audit.NewSigner(audit.NewSeed())
	must(t, err)
	a := &audits{set: set, nodes: nodes, signer: signer, clock: &hands{now: time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)}}
	// in sequence, because the checkpointer reads all trails
	for _, c := range []struct {
		name string
		run  func(*testing.T)
	}{
		{"many writers on one trail", a.writers},
		{"a change that fails leaves no row", a.rollback},
		{"checkpoints by one of many", a.checkpoints},
		{"a row changed in the database", a.tampered},
		{"retention", a.retention},
		{"rows from before the chain", a.old},
		{"filters", a.filters},
	} {
		t.Run(c.name, c.run)
	}
}

type audits struct {
	set    sqlstore.Settings
	nodes  []*sqlstore.Store
	signer *audit.Signer
	clock  *hands
}

// hands is a clock that the tests set.
type hands struct{ now time.Time }

func (h *hands) Now() time.Time { return h.now }

func (a *audits) checkpointer(node int, p audit.Policy) *audit.Checkpointer {
	return audit.NewCheckpointer(a.nodes[node], a.signer, p, a.clock, slog.New(slog.DiscardHandler))
}

var usual = audit.Policy{Rows: 10, Interval: time.Hour}

func (a *audits) export(t *testing.T, org string, when audit.Range) []byte {
	t.Helper()
	var b bytes.Buffer
	must(t, audit.Export(t.Context(), &b, a.nodes[0], a.signer, org, when, a.clock.now))
	return b.Bytes()
}

func (a *audits) verify(t *testing.T, org string, rows int64) audit.Report {
	t.Helper()
	report, err := audit.Verify(bytes.NewReader(a.export(t, org, audit.Range{})), a.signer.Public(), audit.Options{})
	must(t, err)
	if report.Rows != rows {
		t.Errorf("%d rows, want %d", report.Rows, rows)
	}
	return report
}

// action returns an audit row as the administration might write it.
func (a *audits) action(org string) resource.AuditRow {
	return resource.AuditRow{
		ID: ident.NewID(), OrgID: org, ActorID: "ключ \U0001F511 ", ActorKind: "api_key", Action: "update", Kind: "configs", TargetID: "x", CreatedAt: a.clock.now,
		Method: "PUT", Path: "/v1/configs/pc-1", RequestID: ident.NewID(), Status: 200, Body: []byte("{\"request\":{\"name\":\"\u2028 \\\\ ' \xff \"}}"),
	}
}

func (a *audits) add(ctx context.Context, s *sqlstore.Store, orgs ...string) error {
	return s.InTx(ctx, func(tx resource.Tx) error {
		for _, org := range orgs {
			if err := tx.Audit(ctx, a.action(org)); err != nil {
				return err
			}
		}
		return nil
	})
}

// writers tests concurrent writes: all nodes insert records and add rows to two trails, in
// both orders.
func (a *audits) writers(t *testing.T) {
	const workers, each = 9, 8
	one, two, k := ident.NewID(), ident.NewID(), kind(t)
	var done sync.WaitGroup
	errs := make(chan error, workers)
	for w := range workers {
		done.Go(func() {
			s, orgs := a.nodes[w%len(a.nodes)], []string{one, two, one}
			if w%2 == 1 {
				orgs = []string{two, one, one}
			}
			var err error
			for range each {
				err = errors.Join(err, s.InTx(t.Context(), func(tx resource.Tx) error {
					for _, org := range orgs {
						if err := tx.Audit(t.Context(), a.action(org)); err != nil {
							return err
						}
					}
					return tx.Insert(t.Context(), sample(k, ""))
				}))
			}
			errs <- err
		})
	}
	done.Wait()
	for range workers {
		must(t, <-errs)
	}
	a.verify(t, one, 2*workers*each)
	a.verify(t, two, workers*each)
	head, err := a.nodes[0].Head(t.Context(), one)
	must(t, err)
	if head.Seq != 2*workers*each || head.First != 1 {
		t.Errorf("head %+v", head)
	}
}

func (a *audits) rollback(t *testing.T) {
	org, errAbort := ident.NewID(), errors.New("not like that")
	must(t, a.add(t.Context(), a.nodes[0], org))
	err := a.nodes[0].InTx(t.Context(), func(tx resource.Tx) error {
		if err := tx.Audit(t.Context(), a.action(org)); err != nil {
			return err
		}
		return errAbort
	})
	if !errors.Is(err, errAbort) {
		t.Errorf("%v", err)
	}
	twice := a.action(org)
	err = a.nodes[0].InTx(t.Context(), func(tx resource.Tx) error {
		return errors.Join(tx.Audit(t.Context(), twice), tx.Audit(t.Context(), twice))
	})
	wantCode(t, "a row with an id that exists", err, fault.Conflict)
	must(t, a.add(t.Context(), a.nodes[1], org))
	a.verify(t, org, 2)
}

func (a *audits) checkpoints(t *testing.T) {
	org := ident.NewID()
	for range 25 {
		must(t, a.add(t.Context(), a.nodes[1], org))
	}
	first := a.checkpointer(0, usual)
	must(t, first.Sign(t.Context(), true))
	must(t, a.add(t.Context(), a.nodes[1], org))
	must(t, a.checkpointer(1, usual).Sign(t.Context(), true)) // it does not hold the lease
	if r := a.verify(t, org, 26); r.Checkpoints != 3 || r.Last.Seq != 25 || r.Unsigned != 1 {
		t.Errorf("%+v", r)
	}
	must(t, first.Sign(t.Context(), false)) // not due
	a.clock.now = a.clock.now.Add(2 * time.Hour)
	must(t, first.Sign(t.Context(), false))
	if r := a.verify(t, org, 26); r.Checkpoints != 4 || r.Unsigned != 0 {
		t.Errorf("%+v", r)
	}
	last, err := a.nodes[2].Checkpoints(t.Context(), org, 4, 1)
	must(t, err)
	wantCode(t, "a checkpoint that exists", a.nodes[2].PutCheckpoint(t.Context(), last[0]), fault.Conflict)
	must(t, a.release(t))
}

// release deletes the lease of the checkpointers, so that the next one can take it.
func (a *audits) release(t *testing.T) error {
	return alter(t, a.set, "DELETE FROM "+table(a.set, "leases")+" WHERE name = 'audit-checkpoints'")
}

func (a *audits) tampered(t *testing.T) {
	org := ident.NewID()
	for range 12 {
		must(t, a.add(t.Context(), a.nodes[0], org))
	}
	must(t, alter(t, a.set, fmt.Sprintf("UPDATE %s SET actor_id = 'nobody' WHERE org_id = '%s' AND seq = 4", table(a.set, "audit"), org)))
	must(t, a.checkpointer(0, usual).Sign(t.Context(), true))
	_, err := audit.Verify(bytes.NewReader(a.export(t, org, audit.Range{})), a.signer.Public(), audit.Options{})
	var f *audit.Fault
	if !errors.As(err, &f) || f.FaultKind != audit.Edited || f.Seq != 4 {
		t.Errorf("%v", err)
	}
	head, err := a.nodes[0].Head(t.Context(), org)
	must(t, err)
	if head.Signed.Number != 0 {
		t.Error("a trail that does not verify was signed")
	}
	must(t, a.release(t))
}

func (a *audits) retention(t *testing.T) {
	org := ident.NewID()
	p := usual
	p.Retention = 24 * time.Hour
	k := a.checkpointer(0, p)
	for range 3 { // days
		for range 25 {
			must(t, a.add(t.Context(), a.nodes[0], org))
		}
		must(t, k.Sign(t.Context(), true))
		a.clock.now = a.clock.now.Add(20 * time.Hour)
	}
	must(t, k.Prune(t.Context()))
	report := a.verify(t, org, 25)
	if h := report.Header; h.First != 51 || report.Last.First != 51 || report.Unsigned != 0 {
		t.Errorf("%+v", report)
	}
	must(t, k.Prune(t.Context())) // nothing left to delete
	must(t, a.add(t.Context(), a.nodes[0], org))
	must(t, k.Sign(t.Context(), true))
	a.verify(t, org, 26)
	a.clock.now = a.clock.now.Add(48 * time.Hour)
	must(t, k.Prune(t.Context()))
	a.verify(t, org, 0)
	must(t, a.add(t.Context(), a.nodes[0], org))
	if r := a.verify(t, org, 1); r.Header.First != 77 {
		t.Errorf("%+v", r)
	}
	must(t, a.release(t))
}

// old creates rows as they were before the chain existed, and checks that Migrate chains
// them.
func (a *audits) old(t *testing.T) {
	org := ident.NewID()
	for range 230 { // more than a batch
		must(t, a.add(t.Context(), a.nodes[0], org))
	}
	for _, s := range []string{
		"UPDATE " + table(a.set, "audit") + " SET seq = NULL, prev = '', hash = '' WHERE org_id = '" + org + "'",
		"DELETE FROM " + table(a.set, "audit_heads") + " WHERE org_id = '" + org + "'",
	} {
		must(t, alter(t, a.set, s))
	}
	a.verify(t, org, 0)
	list, total, err := a.nodes[0].AuditRows(t.Context(), audit.Query{OrgID: org, Limit: 1})
	must(t, err)
	if total != 230 || list[0].Seq != 0 {
		t.Errorf("%d rows, %+v", total, list)
	}
	must(t, a.nodes[0].Migrate(t.Context()))
	a.verify(t, org, 230)
}

func (a *audits) filters(t *testing.T) {
	org, workspaceID := ident.NewID(), ident.NewID()
	began := a.clock.now
	change := []func(*resource.AuditRow){
		func(r *resource.AuditRow) { r.Method = "POST" },
		func(r *resource.AuditRow) { r.Path = "/v2/Api_Keys/x" },
		func(r *resource.AuditRow) { r.RequestID = "request" },
		func(r *resource.AuditRow) { r.ActorID = "ada" },
		func(r *resource.AuditRow) { r.ActorKind = "system" },
		func(r *resource.AuditRow) { r.WorkspaceID = workspaceID },
		func(r *resource.AuditRow) { r.Status = 403 },
		func(r *resource.AuditRow) { r.Kind = "policies" },
		func(r *resource.AuditRow) { r.Action = "rotate" },
		func(r *resource.AuditRow) { r.RemoteIP = "2001:db8::1" },
	}
	for _, f := range change {
		row := a.action(org)
		f(&row)
		a.clock.now = a.clock.now.Add(time.Minute)
		must(t, a.nodes[0].InTx(t.Context(), func(tx resource.Tx) error { return tx.Audit(t.Context(), row) }))
	}
	for i, q := range []audit.Query{
		{Method: "POST"}, {URI: "api_keys"}, {RequestID: "request"}, {ActorID: "ada"}, {ActorKind: "system"}, {WorkspaceID: workspaceID},
		{Status: 403}, {Resource: "policies"}, {Action: "rotate"}, {ClientIP: "2001:db8::1"},
	} {
		q.OrgID, q.From, q.To = org, began, a.clock.now
		list, total, err := a.nodes[0].AuditRows(t.Context(), q)
		must(t, err)
		if total != 1 || len(list) != 1 || list[0].Seq != int64(i+1) {
			t.Errorf("%+v selects %d: %+v", q, total, list)
		}
	}
	list, total, err := a.nodes[0].AuditRows(t.Context(), audit.Query{OrgID: org, From: began.Add(2 * time.Minute), To: began.Add(6 * time.Minute), Limit: 3, Offset: 2})
	must(t, err)
	if total != 4 || len(list) != 2 || list[0].Seq != 4 || list[1].Seq != 3 {
		t.Errorf("%d in all, page %+v", total, list)
	}
	for _, q := range []audit.Query{{OrgID: org, Limit: 1001}, {OrgID: org, Offset: -1}} {
		_, _, err := a.nodes[0].AuditRows(t.Context(), q)
		wantCode(t, "a page out of range", err, fault.InvalidRequest)
	}
	if _, total, err := a.nodes[0].AuditRows(t.Context(), audit.Query{OrgID: org, URI: "api%keys"}); err != nil || total != 0 {
		t.Errorf("a wildcard stands for itself: %d, %v", total, err)
	}
}
