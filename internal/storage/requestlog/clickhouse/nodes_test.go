package clickhouse_test

import (
	"testing"
	"time"

	"sluice/internal/domain/record"
	"sluice/internal/domain/record/recordtest"
	"sluice/internal/kernel/ident"
	"sluice/internal/storage/requestlog"
	"sluice/internal/storage/requestlog/bodies"
	"sluice/internal/storage/requestlog/clickhouse"
	"sluice/internal/storage/requestlog/clickhousetest"
	"sluice/internal/storage/requestlog/requestlogtest"
)

// nodes opens the logs of two nodes in one database.
func nodes(t *testing.T) (a, b *clickhouse.DB, names [2]string) {
	t.Helper()
	server := clickhousetest.Shared(t).Database(t)
	names = [2]string{ident.NewID(), ident.NewID()}
	return openAt(t, clickhouse.Options{Server: server, Node: names[0]}), openAt(t, clickhouse.Options{Server: server, Node: names[1]}), names
}

// put writes a chat with a body, and a position.
func put(t *testing.T, db *clickhouse.DB, n int, seq uint64) {
	t.Helper()
	err := db.Write(t.Context(), func(to requestlog.Sink) (requestlog.Progress, error) {
		a := recordtest.Chat(n)
		a.Spend = record.Spend{State: "settled", Cost: 5}
		return requestlog.Progress{Next: record.Position{Seq: seq}, BodyStore: bodies.Mark{File: 1, Size: int64(seq)}}, to.Add(a, bodies.Ref{File: 1, Request: 3})
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Each node has a position of its own and answers over the rows of both. Bodies are where
// they were written, and what re-rating corrects is the node's own.
func TestNodesShareRows(t *testing.T) {
	t.Parallel()
	a, b, names := nodes(t)
	put(t, a, 1, 10)
	put(t, b, 2, 99)
	for db, seq := range map[*clickhouse.DB]uint64{a: 10, b: 99} {
		if p, err := db.Progress(t.Context()); err != nil || p.Next.Seq != seq {
			t.Errorf("position %d, %v; want %d", p.Next.Seq, err, seq)
		}
		page, err := db.List(t.Context(), record.Query{OrgID: recordtest.Org, Count: true})
		if err != nil || page.Total != 2 || len(page.Rows) != 2 {
			t.Errorf("%d rows of %d, %v; want those of both nodes", len(page.Rows), page.Total, err)
		}
	}
	for n, node := range map[int]string{1: "", 2: names[1]} { // as a sees them
		_, ref, err := a.Find(t.Context(), recordtest.Org, "", recordtest.Chat(n).ID)
		if err != nil || ref.Node != node || ref.File != 1 {
			t.Errorf("chat %d: bodies at %+v, %v; want home %q", n, ref, err, node)
		}
	}
	bodied, err := a.RowWithBody(t.Context(), record.Query{OrgID: recordtest.Org})
	if err != nil || len(bodied.RowStore) != 2 || bodied.RowStore[0].Ref.Node != "" || bodied.RowStore[1].Ref.Node != names[1] {
		t.Errorf("%d rows with bodies, %v; want those of both nodes, each with its home", len(bodied.RowStore), err)
	}
	billed, err := b.Billed(t.Context(), record.Query{OrgID: recordtest.Org})
	if err != nil || len(billed.Rows) != 1 || billed.Rows[0].ID != recordtest.Chat(2).ID {
		t.Errorf("%d billed rows, %v; want the node's own", len(billed.Rows), err)
	}
}

// What is on its way holds up those who follow the order of arrival, so that they miss none
// of it.
func TestArrivalWaitsForBatchesOnTheirWay(t *testing.T) {
	t.Parallel()
	a, b, _ := nodes(t)
	seen := func(want ...int) {
		t.Helper()
		page, err := b.List(t.Context(), record.Query{OrgID: recordtest.Org, ByArrival: true})
		if err != nil || len(page.Rows) != len(want) {
			t.Fatalf("%d rows, %v; want %v", len(page.Rows), err, want)
		}
		for i, n := range want {
			if page.Rows[i].ID != recordtest.Chat(n).ID {
				t.Errorf("row %d is another than chat %d", i, n)
			}
		}
	}
	put(t, a, 1, 1)
	seen(1)
	clickhouse.Begin(t, a) // as a node that is between its first and its last step
	put(t, b, 2, 1)
	seen(1)
	put(t, a, 3, 2)
	seen(1, 2, 3)
}

// What is due in one workspace is deleted by the node that has it, which knows the bodies by
// the rows; others do that for a node that does not, a while later. What is due in all of them
// goes at once, and what is due no more stays.
func TestRowsOfOtherNodesAreDeletedLater(t *testing.T) {
	t.Parallel()
	a, b, _ := nodes(t)
	put(t, a, 1, 1)
	put(t, b, 2, 1)
	put(t, b, 3, 2)
	before := func(n int) requestlog.RetentionCutoffs {
		return requestlog.RetentionCutoffs{Workspaces: map[string]time.Time{recordtest.Workspace: recordtest.Chat(n).Started}}
	}
	ends := func(what string, db *clickhouse.DB, due requestlog.RetentionCutoffs, want ...int) {
		t.Helper()
		for n := int64(1); n > 0; {
			var err error
			if n, err = db.Delete(t.Context(), due); err != nil {
				t.Fatal(err)
			}
		}
		page, err := db.List(t.Context(), record.Query{OrgID: recordtest.Org})
		if err != nil || len(page.Rows) != len(want) {
			t.Fatalf("%s: %d rows are left, %v; want chats %v", what, len(page.Rows), err, want)
		}
		for i, n := range want {
			if page.Rows[i].ID != recordtest.Chat(n).ID {
				t.Errorf("%s: row %d is another than chat %d", what, i, n)
			}
		}
	}
	ends("a ends its own", a, before(4), 2, 3)
	ends("b ends its own", b, before(3), 3)
	a.SetDeferWait(0)
	ends("what was due for long is due no more", a, before(3), 3)
	ends("it has just become due again", a, before(4), 3)
	ends("b had its time", a, before(4))
	put(t, b, 5, 3)
	b.SetDeferWait(time.Hour)
	a.SetDeferWait(time.Hour)
	ends("everybody's is due", a, requestlog.RetentionCutoffs{Before: recordtest.Chat(6).Started})
}

func feedback(n, value int) record.TraceFeedback {
	return record.TraceFeedback{
		ID: recordtest.ID(recordtest.Epoch, n), OrgID: recordtest.Org, WorkspaceID: recordtest.Workspace, TraceID: recordtest.Chat(1).TraceID,
		Value: value, Weight: 1, Created: recordtest.Epoch,
	}
}

// Every node hears of all feedback; it counts once, and what was heard late changes nothing.
func TestNodesShareFeedback(t *testing.T) {
	t.Parallel()
	a, b, _ := nodes(t)
	requestlogtest.Put(t, a, recordtest.Chat(1))
	putFeedback := func(db *clickhouse.DB, batch requestlog.FeedbackBatch) {
		t.Helper()
		if err := db.PutFeedback(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
	}
	wantFeedback := func(count int64, weighted float64, next int64) {
		t.Helper()
		for _, db := range []*clickhouse.DB{a, b} {
			page, err := db.Analyse(t.Context(), record.Analysis{
				Query: record.Query{OrgID: recordtest.Org, From: recordtest.Epoch, To: recordtest.Epoch.Add(time.Hour)}, Metrics: record.MetricFeedback,
			})
			if err != nil || len(page.Rows) != 1 || page.Rows[0].Feedbacks != count || page.Rows[0].Weighted != weighted {
				t.Errorf("figures %+v, %v; want %d feedbacks of %v", page.Rows, err, count, weighted)
			}
			if got, err := db.FeedbackProgress(t.Context()); err != nil || got != next {
				t.Errorf("position %d, %v; want %d", got, err, next)
			}
		}
	}
	for _, db := range []*clickhouse.DB{a, b} {
		putFeedback(db, requestlog.FeedbackBatch{Put: []record.TraceFeedback{feedback(1, 4), feedback(2, 3)}, Next: 5})
	}
	wantFeedback(2, 7, 5)
	putFeedback(a, requestlog.FeedbackBatch{Put: []record.TraceFeedback{feedback(1, -2)}, Gone: []string{feedback(2, 0).ID}, Next: 9})
	putFeedback(b, requestlog.FeedbackBatch{Put: []record.TraceFeedback{feedback(1, 10), feedback(2, 10)}, Next: 8}) // was slower
	wantFeedback(1, -2, 9)
	// Another control plane: both notice, one after the other.
	putFeedback(a, requestlog.FeedbackBatch{All: true})
	putFeedback(a, requestlog.FeedbackBatch{Put: []record.TraceFeedback{feedback(3, 1)}, Next: 2})
	putFeedback(b, requestlog.FeedbackBatch{All: true})
	putFeedback(b, requestlog.FeedbackBatch{Put: []record.TraceFeedback{feedback(3, 1)}, Next: 2})
	wantFeedback(1, 1, 2)
}
