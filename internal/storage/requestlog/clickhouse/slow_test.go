package clickhouse_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sluice/internal/domain/record"
	"sluice/internal/domain/record/recordtest"
	"sluice/internal/kernel/ident"
	"sluice/internal/storage/requestlog"
	"sluice/internal/storage/requestlog/bodies"
	"sluice/internal/storage/requestlog/clickhouse"
)

// slow holds insertions of rows back, while it is on, until who sent them gives up.
type slow struct{ enabled atomic.Bool }

func (s *slow) handle(w http.ResponseWriter, r *http.Request, pass http.Handler) {
	if !s.enabled.Load() || !strings.HasPrefix(r.URL.Query().Get("query"), "INSERT INTO attempts") {
		pass.ServeHTTP(w, r)
		return
	}
	_, _ = io.Copy(io.Discard, r.Body) // so that the server hears of the end
	<-r.Context().Done()
}

// A batch that takes long is given up before it counts as that of a dead node, and done
// again: who follows the order of arrival then gets its rows, though others came meanwhile.
func TestSlowBatchIsNotMissed(t *testing.T) {
	t.Parallel()
	var hold slow
	server, address := between(t, hold.handle)
	target := server.Database(t)
	direct := openAt(t, clickhouse.Options{Server: target, Node: ident.NewID()})
	target.URL, target.Timeout = address, time.Hour
	late := openAt(t, clickhouse.Options{Server: target, Node: ident.NewID()})
	put(t, direct, 1, 1)
	put(t, late, 2, 1)
	q := record.Query{OrgID: recordtest.Org, ByArrival: true}
	page, err := direct.List(t.Context(), q)
	if err != nil || len(page.Rows) != 2 {
		t.Fatalf("%d rows, %v", len(page.Rows), err)
	}
	q.After = page.Arrived[1]

	hold.enabled.Store(true)
	late.Limit(300 * time.Millisecond)
	err = late.Write(t.Context(), func(to requestlog.Sink) (requestlog.Progress, error) {
		return requestlog.Progress{Next: record.Position{Seq: 2}}, to.Add(recordtest.Chat(3), bodies.Ref{})
	})
	if !errors.Is(err, context.DeadlineExceeded) && err == nil {
		t.Fatalf("a batch that does not end: %v", err)
	}
	hold.enabled.Store(false)
	late.Limit(time.Minute)
	put(t, direct, 4, 2) // came meanwhile
	put(t, late, 3, 2)
	page, err = direct.List(t.Context(), q)
	if err != nil || len(page.Rows) != 2 || page.Rows[0].ID != recordtest.Chat(4).ID || page.Rows[1].ID != recordtest.Chat(3).ID {
		t.Errorf("behind the first two are %d rows, %v; want the one of meanwhile and the one that was given up", len(page.Rows), err)
	}
	if all, err := direct.List(t.Context(), record.Query{OrgID: recordtest.Org, Count: true}); err != nil || all.Total != 4 {
		t.Errorf("%d rows, %v; want each once", all.Total, err)
	}
}
