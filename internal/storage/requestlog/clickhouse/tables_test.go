package clickhouse_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"sluice/internal/domain/record"
	"sluice/internal/domain/record/recordtest"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/sealed"
	"sluice/internal/storage/requestlog"
	"sluice/internal/storage/requestlog/bodies"
	"sluice/internal/storage/requestlog/clickhouse"
	"sluice/internal/storage/requestlog/clickhouse/client"
	"sluice/internal/storage/requestlog/clickhousetest"
	"sluice/internal/storage/requestlog/requestlogtest"
)

// one reads the only value of a statement.
func one[V any](t *testing.T, address client.Server, sql string) (v V) {
	t.Helper()
	c, err := client.New(address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Query(t.Context(), client.Statement{SQL: sql}, func(scan func(...any) error) error { return scan(&v) }); err != nil {
		t.Fatal(err)
	}
	return v
}

// Tables are made once, and follow the retention that is set.
func TestTablesAreMadeAndFollowRetention(t *testing.T) {
	t.Parallel()
	o := clickhouse.Options{Server: clickhousetest.Shared(t).Database(t), Node: ident.NewID(), RetentionDays: 30}
	alone := 0
	o.Exclusive = func(ctx context.Context, work func(context.Context) error) error { alone++; return work(ctx) }
	found, err := clickhouse.Check(t.Context(), o.Server)
	if err != nil || !strings.Contains(found, "sluice migrate") {
		t.Errorf("before: %q, %v; want what makes the tables", found, err)
	}
	for _, tt := range []struct {
		days, alone int
		ttl         string
	}{{30, 1, "toIntervalDay(31)"}, {30, 1, "toIntervalDay(31)"}, {7, 2, "toIntervalDay(8)"}, {0, 3, ""}, {0, 3, ""}, {90, 4, "toIntervalDay(91)"}} {
		o.RetentionDays = tt.days
		if err := clickhouse.Migrate(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		for _, table := range []string{"attempts", "corrections", "late_hooks"} {
			ddl := one[string](t, o.Server, "SELECT create_table_query FROM system.tables WHERE database = currentDatabase() AND name = '"+table+"'")
			if strings.Contains(ddl, " TTL ") != (tt.ttl != "") || !strings.Contains(ddl, tt.ttl) {
				t.Errorf("%d days: %s has %q", tt.days, table, ddl)
			}
		}
		if alone != tt.alone {
			t.Errorf("%d days: worked %d times, want %d", tt.days, alone, tt.alone)
		}
	}
	if found, err := clickhouse.Check(t.Context(), o.Server); err != nil || !strings.Contains(found, "responds, and the tables") {
		t.Errorf("behind: %q, %v", found, err)
	}
}

func TestWhatCannotBeUsedIsRefusedWithTheCure(t *testing.T) {
	t.Parallel()
	address := clickhousetest.Shared(t).Database(t)
	if err := clickhouse.Migrate(t.Context(), clickhouse.Options{Server: address}); err != nil {
		t.Fatal(err)
	}
	c, err := client.New(address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	if err := c.Exec(t.Context(), client.Statement{SQL: "INSERT INTO migrations (version) SELECT 999"}); err != nil {
		t.Fatal(err)
	}
	stranger, gone := address, address
	stranger.Password = sealed.New("wrong-secret")
	gone.URL = "http://127.0.0.1:1"
	for name, tt := range map[string]struct {
		server  client.Server
		message string
		hint    string
	}{
		"tables of a newer program": {address, "version 999", "run the version of sluice"},
		"a wrong password":          {stranger, "516", "ANALYTICS_STORE_PASSWORD"},
		"nobody there":              {gone, "is unreachable", "ANALYTICS_STORE_URL"},
	} {
		_, err := clickhouse.Check(t.Context(), tt.server)
		if err == nil || !strings.Contains(err.Error(), tt.message) || !strings.Contains(clickhouse.Hint(err), tt.hint) {
			t.Errorf("%s: %v; %s", name, err, clickhouse.Hint(err))
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the password is in %v", name, err)
		}
		_, err = clickhouse.Open(t.Context(), clickhouse.Options{Server: tt.server, Node: ident.NewID()})
		if (err == nil) != (name == "nobody there") {
			t.Errorf("%s: opened with %v", name, err)
		}
	}
}

// Percentiles of more rows than are kept in memory are off by at most a hundredth.
func TestNearPercentiles(t *testing.T) {
	t.Parallel()
	exact := open(t)
	near := open(t, func(o *clickhouse.Options) { o.ExactRows = 100 })
	var chats []*record.Attempt
	for i := range 3000 {
		a := recordtest.Chat(i)
		a.Duration = time.Duration(math.Exp(float64(i%997)/100) * float64(time.Millisecond))
		chats = append(chats, a)
	}
	q := record.Analysis{Query: record.Query{OrgID: recordtest.Org, From: recordtest.Epoch, To: recordtest.Epoch.Add(time.Hour)}, Metrics: record.MetricPercentiles}
	var got [2]record.Metrics
	for i, db := range []*clickhouse.DB{exact, near} {
		requestlogtest.Put(t, db, chats...)
		page, err := db.Analyse(t.Context(), q)
		if err != nil || len(page.Rows) != 1 {
			t.Fatal(page, err)
		}
		got[i] = page.Rows[0].Metrics
	}
	for _, p := range [][2]time.Duration{{got[0].P50, got[1].P50}, {got[0].P90, got[1].P90}, {got[0].P95, got[1].P95}, {got[0].P99, got[1].P99}} {
		if off := math.Abs(float64(p[1])/float64(p[0]) - 1); off > 0.01 {
			t.Errorf("%v instead of %v", p[1], p[0])
		}
	}
	if got[0] == got[1] {
		t.Error("the same to the nanosecond: both were exact")
	}
}

func TestCancelledWriteStoresNothing(t *testing.T) {
	t.Parallel()
	db := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := db.Write(ctx, func(to requestlog.Sink) (requestlog.Progress, error) {
		return requestlog.Progress{}, to.Add(recordtest.Chat(1), bodies.Ref{})
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that it was cancelled", err)
	}
	requestlogtest.Put(t, db, recordtest.Chat(2))
	if page, err := db.List(t.Context(), record.Query{OrgID: recordtest.Org}); err != nil || len(page.Rows) != 1 {
		t.Errorf("%d rows, %v; want the one written later", len(page.Rows), err)
	}
}
