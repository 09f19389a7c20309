package audit_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"sluice/internal/domain/audit"
	"sluice/internal/kernel/fault"
)

var began = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)

// memory is a store of trails.
type memory struct {
	heads  map[string]*audit.Head
	rows   map[string][]audit.Row
	points map[string][]audit.Checkpoint
	lease  string
}

var _ audit.Store = (*memory)(nil)

func newMemory() *memory {
	return &memory{heads: map[string]*audit.Head{}, rows: map[string][]audit.Row{}, points: map[string][]audit.Checkpoint{}}
}

// add puts n rows on a trail, a minute apart.
func (m *memory) add(org string, n int) {
	h := m.heads[org]
	if h == nil {
		h = &audit.Head{OrgID: org, Hash: audit.Genesis, First: 1}
		m.heads[org] = h
	}
	for range n {
		r := audit.Row{
			OrgID: org, ID: fmt.Sprintf("id-%s-%d", org, h.Seq+1), Timestamp: audit.Stamp(began.Add(time.Duration(h.Seq) * time.Minute)), ActorKind: "api_key", ActorID: "key",
			Resource: "configs", Action: "update", TargetID: "target", Method: "PUT", URI: "/v1/configs/pc-ü", Status: 200,
			RequestID: fmt.Sprint("request-", h.Seq+1), ClientIP: "203.0.113.7", Details: fmt.Sprintf(`{"request":{"name":"a <b> & \"c\" %d"}}`, h.Seq+1),
		}
		r.Chain(h.Seq, h.Hash)
		h.Seq, h.Hash = r.Seq, r.Hash
		m.rows[org] = append(m.rows[org], r)
	}
}

func (m *memory) Head(_ context.Context, org string) (audit.Head, error) {
	if h := m.heads[org]; h != nil {
		return *h, nil
	}
	return audit.Head{OrgID: org, Hash: audit.Genesis, First: 1}, nil
}

func (m *memory) Heads(_ context.Context, after string, limit int) ([]audit.Head, error) {
	var out []audit.Head
	for org, h := range m.heads {
		if org > after {
			out = append(out, *h)
		}
	}
	slices.SortFunc(out, func(a, b audit.Head) int { return cmp.Compare(a.OrgID, b.OrgID) })
	return out[:min(len(out), limit)], nil
}

func (m *memory) Span(_ context.Context, org string, from, to time.Time) (first, last int64, err error) {
	for _, r := range m.rows[org] {
		if rowTime := r.Time(); !rowTime.Before(from) && (to.IsZero() || rowTime.Before(to)) {
			if first == 0 {
				first = r.Seq
			}
			last = r.Seq
		}
	}
	return first, last, nil
}

func (m *memory) Rows(_ context.Context, org string, seq int64, limit int) ([]audit.Row, error) {
	return from(m.rows[org], limit, func(r audit.Row) bool { return r.Seq >= seq }), nil
}

func (m *memory) Checkpoints(_ context.Context, org string, number int64, limit int) ([]audit.Checkpoint, error) {
	return from(m.points[org], limit, func(c audit.Checkpoint) bool { return c.Number >= number }), nil
}

func from[T any](list []T, limit int, fits func(T) bool) []T {
	for i := range list {
		if fits(list[i]) {
			return slices.Clone(list[i:min(len(list), i+limit)])
		}
	}
	return nil
}

func (m *memory) Around(_ context.Context, org string, seq int64) (before, after *audit.Checkpoint, err error) {
	for _, c := range m.points[org] {
		if c.Seq < seq {
			before = &c
		} else if after == nil {
			after = &c
		}
	}
	return before, after, nil
}

func (m *memory) Expired(_ context.Context, org string, until time.Time) (old *audit.Checkpoint, err error) {
	for _, c := range m.points[org] {
		if c.Timestamp <= audit.Stamp(until) {
			old = &c
		}
	}
	return old, nil
}

func (m *memory) PutCheckpoint(_ context.Context, c audit.Checkpoint) error {
	h := m.heads[c.OrgID]
	if c.Number != h.Signed.Number+1 {
		return fault.New(fault.Conflict, "")
	}
	h.Signed, h.First = c, c.First
	m.points[c.OrgID] = append(m.points[c.OrgID], c)
	return nil
}

func (m *memory) PruneAudit(_ context.Context, org string) error {
	first := m.heads[org].First
	m.rows[org] = slices.DeleteFunc(m.rows[org], func(r audit.Row) bool { return r.Seq < first })
	before, _, _ := m.Around(context.Background(), org, first)
	if before != nil {
		minSeq := before.Seq
		m.points[org] = slices.DeleteFunc(m.points[org], func(c audit.Checkpoint) bool { return c.Seq < minSeq })
	}
	return nil
}

func (m *memory) TakeLease(_ context.Context, _, holder string, _ time.Duration) (bool, error) {
	if m.lease == "" {
		m.lease = holder
	}
	return m.lease == holder, nil
}

// clock stands where it is put.
type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

func newSigner(t testing.TB) *audit.Signer {
	t.Helper()
	s, err := audit.NewSigner(audit.NewSeed())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// rig is a store with a keeper.
type rig struct {
	*memory
	signer       *audit.Signer
	clock        *clock
	checkpointer *audit.Checkpointer
	log          *bytes.Buffer
}

func newRig(t testing.TB, p audit.Policy) *rig {
	t.Helper()
	r := &rig{memory: newMemory(), signer: newSigner(t), clock: &clock{began.Add(24 * time.Hour)}, log: new(bytes.Buffer)}
	r.checkpointer = audit.NewCheckpointer(r.memory, r.signer, p, r.clock, slog.New(slog.NewJSONHandler(r.log, nil)))
	return r
}

// sign writes all checkpoints.
func (r *rig) sign(t testing.TB) {
	t.Helper()
	if err := r.checkpointer.Sign(t.Context(), true); err != nil {
		t.Fatal(err)
	}
}

func (r *rig) export(t testing.TB, org string, when audit.Range) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := audit.Export(t.Context(), &b, r.memory, r.signer, org, when, r.clock.now); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func (r *rig) verify(t testing.TB, file []byte) audit.Report {
	t.Helper()
	report, err := audit.Verify(bytes.NewReader(file), r.signer.Public(), audit.Options{})
	if err != nil {
		t.Fatalf("%v\n%s", err, file)
	}
	return report
}
