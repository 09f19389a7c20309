package clickhouse_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/internal/domain/record"
	"sluice/internal/domain/record/recordtest"
	"sluice/internal/kernel/ident"
	"sluice/internal/storage/requestlog/clickhouse"
	"sluice/internal/storage/requestlog/clickhousetest"
	"sluice/internal/storage/requestlog/requestlogtest"
)

// recorder stands between a node and its server and keeps the statements.
type recorder struct {
	*httputil.ReverseProxy
	mu         sync.Mutex // guards statements
	statements []string   // with the values bound
}

func (r *recorder) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body) // what is missing of it is missing at the server too
	req.Body = io.NopCloser(strings.NewReader(string(body)))
	text := string(body)
	for name, values := range req.URL.Query() {
		if p, ok := strings.CutPrefix(name, "param_"); ok {
			for _, kind := range []string{"String", "Int64", "DateTime64(6, 'UTC')"} {
				text = strings.ReplaceAll(text, "{"+p+":"+kind+"}", "<"+values[0]+">")
			}
		}
	}
	r.mu.Lock()
	r.statements = append(r.statements, text)
	r.mu.Unlock()
	r.ReverseProxy.ServeHTTP(w, req)
}

// last is the newest statement with a text in it.
func (r *recorder) last(with string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range slices.Backward(r.statements) {
		if strings.Contains(s, with) {
			return s
		}
	}
	return ""
}

// A list without a bound of time sorts a part of the log that has its page, from either
// end and behind a cursor; one with few rows is found all the same.
func TestListSortsNoMoreThanItMust(t *testing.T) {
	t.Parallel()
	server := clickhousetest.Shared(t)
	target, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	seen := &recorder{ReverseProxy: httputil.NewSingleHostReverseProxy(target)}
	front := httptest.NewServer(seen)
	t.Cleanup(front.Close)
	address := server.Database(t)
	address.URL = front.URL
	db := openAt(t, clickhouse.Options{Server: address, Node: ident.NewID()})

	const rows, apart = 400, 6 * time.Hour
	var all []*record.Attempt
	for n := range rows {
		a := recordtest.Chat(n)
		a.Started = recordtest.Epoch.Add(time.Duration(n) * apart)
		if n == 3 || n == rows-3 {
			a.Model = "rare"
		}
		all = append(all, a)
	}
	requestlogtest.Put(t, db, all...)
	for _, newest := range []bool{true, false} {
		want := slices.Clone(all)
		if newest {
			slices.Reverse(want)
		}
		q := record.Query{OrgID: recordtest.Org, Newest: newest, Limit: 50}
		for first := 0; first < 150; first += 50 {
			page, err := db.List(t.Context(), q)
			if err != nil || len(page.Rows) != 50 || page.Rows[0].ID != want[first].ID || page.Rows[49].ID != want[first+49].ID {
				t.Fatalf("newest %v, page at %d: %d rows, %v", newest, first, len(page.Rows), err)
			}
			marker := "started >= <"
			if !newest {
				marker = "started < <"
			}
			_, rest, _ := strings.Cut(seen.last("IN (SELECT workspace_id, started, id"), marker)
			edge, err := time.Parse("2006-01-02 15:04:05.000000", rest[:min(26, len(rest))])
			if err != nil {
				t.Fatalf("newest %v, page at %d: the statement bounds no time: %s", newest, first, seen.last("IN (SELECT"))
			}
			if reach := edge.Sub(want[first].Started).Abs(); reach > 8*50*apart {
				t.Errorf("newest %v, page at %d: %s are sorted for a page of %s", newest, first, reach, 50*apart)
			}
			q.After = page.Next
		}
		rare, err := db.List(t.Context(), record.Query{OrgID: recordtest.Org, Newest: newest, Models: []string{"rare"}})
		if err != nil || len(rare.Rows) != 2 || rare.Rows[0].ID != want[min(3, rows-3)].ID && rare.Rows[0].ID != want[2].ID {
			t.Errorf("newest %v: %d rows of a rare kind, %v", newest, len(rare.Rows), err)
		}
	}
	if none, err := db.List(t.Context(), record.Query{OrgID: "another", Newest: true}); err != nil || len(none.Rows) > 0 {
		t.Errorf("of another organisation: %d rows, %v", len(none.Rows), err)
	}
}
