package clickhouse_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"sluice/internal/ident"
	"sluice/internal/logstore"
	"sluice/internal/logstore/bodies"
	"sluice/internal/logstore/clickhouse"
	"sluice/internal/logstore/clickhousetest"
	"sluice/internal/record"
	"sluice/internal/record/recordtest"
)

// slow holds insertions of rows back until who sent them gives up.
type slow struct {
	*httputil.ReverseProxy
	on atomic.Bool
}

func (s *slow) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.on.Load() && r.URL.Query().Get("query") != "" && r.URL.Query().Get("query")[:len("INSERT INTO attempts")] == "INSERT INTO attempts" {
		buf := make([]byte, 512)
		for {
			if _, err := r.Body.Read(buf); err != nil { // so that the server hears of the end
				break
			}
		}
		<-r.Context().Done()
		return
	}
	s.ReverseProxy.ServeHTTP(w, r)
}

// A batch that takes long is given up before it counts as that of a dead node, and done
// again: who follows the order of arrival then gets its rows, though others came meanwhile.
func TestSlowBatchIsNotMissed(t *testing.T) {
	t.Parallel()
	server := clickhousetest.Shared(t)
	target, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	between := &slow{ReverseProxy: httputil.NewSingleHostReverseProxy(target)}
	front := httptest.NewServer(between)
	t.Cleanup(front.Close)
	at := server.Database(t)
	direct := openAt(t, clickhouse.Options{Server: at, Node: ident.NewID()})
	at.URL, at.Timeout = front.URL, time.Hour
	behind := openAt(t, clickhouse.Options{Server: at, Node: ident.NewID()})
	put(t, direct, 1, 1)
	put(t, behind, 2, 1)
	q := record.Query{OrgID: recordtest.Org, ByArrival: true}
	page, err := direct.List(t.Context(), q)
	if err != nil || len(page.Rows) != 2 {
		t.Fatalf("%d rows, %v", len(page.Rows), err)
	}
	q.After = page.Arrived[1]

	between.on.Store(true)
	behind.Limit(300 * time.Millisecond)
	err = behind.Write(t.Context(), func(to logstore.Sink) (logstore.Progress, error) {
		return logstore.Progress{Next: record.Position{Seq: 2}}, to.Add(recordtest.Chat(3), bodies.Ref{})
	})
	if !errors.Is(err, context.DeadlineExceeded) && err == nil {
		t.Fatalf("a batch that does not end: %v", err)
	}
	between.on.Store(false)
	behind.Limit(time.Minute)
	put(t, direct, 4, 2) // came meanwhile
	put(t, behind, 3, 2)
	page, err = direct.List(t.Context(), q)
	if err != nil || len(page.Rows) != 2 || page.Rows[0].ID != recordtest.Chat(4).ID || page.Rows[1].ID != recordtest.Chat(3).ID {
		t.Errorf("behind the first two are %d rows, %v; want the one of meanwhile and the one that was given up", len(page.Rows), err)
	}
	if all, err := direct.List(t.Context(), record.Query{OrgID: recordtest.Org, Count: true}); err != nil || all.Total != 4 {
		t.Errorf("%d rows, %v; want each once", all.Total, err)
	}
}
