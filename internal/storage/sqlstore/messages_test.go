package sqlstore

import (
	"context"
	"testing"

	"github.com/uptrace/bun"

	"sluice/internal/control/resource"
	"sluice/internal/kernel/ident"
)

// queryRecorder counts what is said to the database.
type queryRecorder struct{ messages []string }

func (*queryRecorder) BeforeQuery(ctx context.Context, _ *bun.QueryEvent) context.Context { return ctx }
func (p *queryRecorder) AfterQuery(_ context.Context, e *bun.QueryEvent) {
	p.messages = append(p.messages, e.Query)
}

// On a server each message is a journey, and the last ones are made while other writers
// wait: a look-up is one message, and a write with all that belongs to it is one.
func TestMessages(t *testing.T) {
	t.Parallel()
	s := migrated(t)
	s.engine.local = false // speak as to a server
	r := resource.Record{Kind: "k", ID: ident.NewID(), OrgID: "o", Slug: "s", Status: "active", Version: 1, Body: []byte("{}"), Index: []resource.IndexEntry{{Name: "n", Value: "v"}}}
	inTx := func(f func(resource.Tx) error) func() error {
		return func() error {
			return s.InTx(t.Context(), func(tx resource.Tx) error {
				if err := f(tx); err != nil {
					return err
				}
				return tx.Audit(t.Context(), resource.AuditRow{ID: ident.NewID(), OrgID: "o"})
			})
		}
	}
	recorder := new(queryRecorder)
	s.writer, s.db = s.writer.WithQueryHook(recorder), s.db.(*bun.DB).WithQueryHook(recorder)
	for _, c := range []struct {
		what string
		do   func() error
		want int
	}{
		// beginning, the write, a trail that is made and locked, its rows and the feed, the end
		{"the first write", inTx(func(tx resource.Tx) error { return tx.Insert(t.Context(), r) }), 7},
		{"an update", inTx(func(tx resource.Tx) error { return tx.Update(t.Context(), r) }), 6},
		{"a deletion", inTx(func(tx resource.Tx) error { return tx.Delete(t.Context(), r.Kind, r.ID) }), 6},
		{"an insertion", inTx(func(tx resource.Tx) error { return tx.Insert(t.Context(), r) }), 5},
		{"a look-up", func() error { _, err := s.Find(t.Context(), r.Kind, r.ID); return err }, 1},
		{"a look-up by slug", func() error { _, err := s.FindSlug(t.Context(), r.Kind, r.OrgID, r.Slug); return err }, 1},
		{"a first count", func() error { _, err := s.Count(t.Context(), resource.Query{Kind: r.Kind}); return err }, 2},
		{"the same count", func() error { _, err := s.Count(t.Context(), resource.Query{Kind: r.Kind}); return err }, 1},
	} {
		recorder.messages = nil
		if err := c.do(); err != nil {
			t.Fatal(c.what, err)
		}
		if len(recorder.messages) != c.want {
			t.Errorf("%s takes %d messages, want %d: %q", c.what, len(recorder.messages), c.want, recorder.messages)
		}
	}
}
