package control_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"
	"pgregory.net/rapid"

	"sluice/internal/domain/record"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/llm"
	"sluice/internal/storage/sqlstore/storetest"
)

// getAnalytics asks for figures as the service key of the first workspace.
func (w *world) getAnalytics(t testing.TB, path string, query url.Values) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1"+path+"?"+query.Encode(), http.NoBody)
	r.Header.Set("x-gateway-api-key", w.keys["service"])
	rec := httptest.NewRecorder()
	w.admin.Handler().ServeHTTP(rec, r)
	return rec
}

func span(from, to string) url.Values {
	return url.Values{"time_of_generation_min": {from}, "time_of_generation_max": {to}}
}

// logged is a world whose first workspace has these attempts alone.
func logged(t *testing.T, rows ...record.Attempt) *world {
	t.Helper()
	w := newWorld(t, storetest.Open(t, storetest.SQLite(t)))
	for i := range rows {
		rows[i].ID, rows[i].OrgID, rows[i].WorkspaceID = ident.NewID(), w.org, w.names.values["main"]
	}
	w.logs.rows = rows
	return w
}

// What retries, fallbacks and the cache saved stands at its minute.
func TestGraphs(t *testing.T) {
	t.Parallel()
	at := func(second int) time.Time { return time.Date(2026, 11, 20, 10, 0, second, 0, time.UTC) }
	saved := func(nano int64) record.Spend { return record.Spend{State: "settled", Saved: nano} }
	w := logged(t,
		record.Attempt{Started: at(10), Duration: 100 * time.Millisecond, Status: 200, Model: "m", CacheStatus: "MISS", Spend: record.Spend{State: "settled", Cost: 100_000_000}},
		record.Attempt{Started: at(40), Duration: 10 * time.Millisecond, Status: 200, Model: "m", CacheStatus: "HIT", Spend: saved(100_000_000)},
		record.Attempt{Started: at(130), Duration: 30 * time.Millisecond, Status: 200, Model: "m", CacheStatus: "SEMANTIC HIT", Spend: saved(50_000_000)},
		record.Attempt{Started: at(140), Duration: 200 * time.Millisecond, Status: 200, Retries: 2},
		record.Attempt{Started: at(150), Duration: 300 * time.Millisecond, Status: 200, Retries: 10, Number: 1},
		record.Attempt{Started: at(160), Duration: 400 * time.Millisecond, Status: 500, Retries: 1, Number: 2},
		record.Attempt{Started: at(170), Duration: 400 * time.Millisecond, Status: 199},
	)
	for _, c := range []struct{ path, field, want string }{
		{"graphs/requests/rescued", "summary", `{"retry":2,"fallback":1}`},
		{"graphs/requests/rescued", "data_points.0.retry", `[]`},
		{"graphs/requests/rescued", "data_points.2", `{"timestamp":"2026-11-20T10:02:00.000Z","retry":[{"retry_success_count":2,"count":1},{"retry_success_count":10,"count":1}],"fallback":1}`},
		{"graphs/cache/hit-rate", "summary.total", "2"},
		{"graphs/cache/hit-rate", "data_points.0", `{"timestamp":"2026-11-20T10:00:00.000Z","simple_hits":1,"semantic_hits":0,"rate":50,"cumulative_simple_cache_savings":10,"cumulative_semantic_cache_savings":0}`},
		{"graphs/cache/hit-rate", "data_points.1", `{"timestamp":"2026-11-20T10:01:00.000Z","simple_hits":0,"semantic_hits":0,"rate":0,"cumulative_simple_cache_savings":10,"cumulative_semantic_cache_savings":0}`},
		{"graphs/cache/hit-rate", "data_points.2", `{"timestamp":"2026-11-20T10:02:00.000Z","simple_hits":0,"semantic_hits":1,"rate":20,"cumulative_simple_cache_savings":10,"cumulative_semantic_cache_savings":5}`},
		{"graphs/cache/latency", "data_points.#.avg", `[10,0,30]`},
		{"graphs/errors/status-codes", "@this", `{"summary":{"total_errors":2,"unique_error_codes":2},"data_points":[{"status_code":199,"count":1},{"status_code":500,"count":1}],"object":"analytics-graph"}`},
		{"graphs/errors/stacks", "data_points.2.stats", `[{"response_status_code":199,"count":1},{"response_status_code":500,"count":1}]`},
		{"summary/cache", "summary.hits", "2"},
		{"summary/cache", "summary.avg_latency", "20"},
		{"summary/cache", "summary.cache_speedup", fmt.Sprint((280.0 - 20) / 280 * 100)},
	} {
		rec := w.getAnalytics(t, "/analytics/"+c.path, span("2026-11-20T15:30:00+05:30", "2026-11-20T15:33:00+05:30"))
		if got := strings.Join(strings.Fields(gjson.Get(rec.Body.String(), c.field).Raw), ""); rec.Code != 200 || got != c.want {
			t.Errorf("%s %s: %d %s, want %s", c.path, c.field, rec.Code, got, c.want)
		}
	}
}

// Steps are as wide as the time asks for, and stand where a clock shows it that is as far
// from UTC as the beginning was written.
func TestSteps(t *testing.T) {
	t.Parallel()
	w := logged(t)
	for _, c := range []struct {
		from, to string
		points   int
		first    string
	}{
		{"2026-11-20T10:00:00Z", "2026-11-20T11:00:00Z", 60, "2026-11-20T10:00:00.000Z"},
		{"2026-11-20T10:00:30Z", "2026-11-20T11:00:30Z", 61, "2026-11-20T10:00:00.000Z"},
		{"2026-11-20T10:00:00Z", "2026-11-20T11:00:00.001Z", 2, "2026-11-20T10:00:00.000Z"},
		{"2026-11-20T00:00:00+05:30", "2026-11-21T00:00:00+05:30", 24, "2026-11-19T18:30:00.000Z"},
		{"2026-11-20T00:00:00-08:00", "2026-11-22T00:00:00-08:00", 2, "2026-11-20T08:00:00.000Z"},
		{"2026-08-22T00:00:00Z", "2026-11-20T00:00:00Z", 90, "2026-08-22T00:00:00.000Z"},
		{"2026-08-21T00:00:00Z", "2026-11-20T00:00:00Z", 14, "2026-08-17T00:00:00.000Z"},
		{"2021-11-20T00:00:00Z", "2026-11-20T00:00:00Z", 262, "2021-11-15T00:00:00.000Z"},
	} {
		rec := w.getAnalytics(t, "/analytics/graphs/requests", span(c.from, c.to))
		points := gjson.Get(rec.Body.String(), "data_points").Array()
		if len(points) != c.points || points[0].Get("timestamp").String() != c.first {
			t.Errorf("%s to %s: %d points from %s, want %d from %s", c.from, c.to, len(points), points[0].Get("timestamp"), c.points, c.first)
		}
	}
}

// Whatever the log holds and whatever time is asked for, the points of a graph add up to
// its summary, and the groups of a property that all rows have to all requests.
func TestFiguresAddUp(t *testing.T) {
	t.Parallel()
	w := logged(t)
	rapid.Check(t, func(rt *rapid.T) {
		began := time.Date(2026, 11, 20, 10, 0, 0, 0, time.FixedZone("", rapid.IntRange(-48, 56).Draw(rt, "zone")*900))
		length := time.Duration(rapid.SampledFrom([]int64{1, 59, 60, 1440, 100_000, 400_000}).Draw(rt, "minutes")) * time.Minute
		n := rapid.IntRange(0, 12).Draw(rt, "rows")
		w.logs.rows = nil
		for i := range n {
			a := record.Attempt{
				ID: fmt.Sprintf("00000000-0000-7000-8000-%012d", i), OrgID: w.org, WorkspaceID: w.names.values["main"], Started: began.Add(time.Duration(rapid.Int64Range(0, int64(length)-1).Draw(rt, "start"))).UTC().Truncate(time.Microsecond),
				Status: rapid.SampledFrom([]int32{200, 404, 500}).Draw(rt, "status"), Retries: rapid.SampledFrom([]int32{0, 1}).Draw(rt, "retries"), Number: rapid.SampledFrom([]int32{0, 1}).Draw(rt, "number"),
				Spend: record.Spend{State: "settled", Cost: rapid.Int64Range(0, 1<<40).Draw(rt, "cost")},
			}
			a.Usage.InputTokens = rapid.Int64Range(0, 1000).Draw(rt, "tokens")
			w.logs.rows = append(w.logs.rows, a)
		}
		query := span(began.Format(time.RFC3339), began.Add(length).Format(time.RFC3339))
		for path, totals := range map[string]map[string]string{
			"requests": {"summary.total": "data_points.#.total", "summary.failed": "data_points.#.failed"},
			"cost":     {"summary.total": "data_points.#.total"}, "tokens": {"summary.total": "data_points.#.total"}, "errors": {"summary.total": "data_points.#.total"},
			"errors/stacks":           {"summary.total": "data_points.#.stats.#.count|@flatten"},
			"errors/status-codes":     {"summary.total_errors": "data_points.#.count"},
			"requests/rescued":        {"summary.retry": "data_points.#.retry.#.count|@flatten", "summary.fallback": "data_points.#.fallback"},
			"../groups/status_code":   {"": "data.#.requests"},
			"../groups/workspace":     {"": "data.#.requests"},
			"../../logs/groups/model": {},
		} {
			at, _ := url.JoinPath("/analytics/graphs", path)
			rec := w.getAnalytics(t, at, query)
			if rec.Code != 200 {
				rt.Fatalf("%s: %d %s", path, rec.Code, rec.Body)
			}
			for total, points := range totals {
				want := float64(n)
				if total != "" {
					want = gjson.Get(rec.Body.String(), total).Float()
				}
				var got float64
				for _, p := range gjson.Get(rec.Body.String(), points).Array() {
					got += p.Float()
				}
				if diff := got - want; diff > 1e-6*max(1, want) || -diff > 1e-6*max(1, want) {
					rt.Fatalf("%s: the points come to %v, and %s is %v: %s", path, got, total, want, rec.Body)
				}
			}
		}
	})
}

// Texts that look like SQL, and texts that are none, are texts that match nothing or are
// refused by the name of their parameter, wherever they stand.
func TestFiltersAreTexts(t *testing.T) {
	t.Parallel()
	w := logged(t, record.Attempt{Started: began, Status: 200, Model: "m", Provider: "p"})
	day := span("2026-11-20T00:00:00Z", "2026-11-21T00:00:00Z")
	texts := []string{`'; DROP TABLE attempts; --`, `" OR 1=1 --`, `%`, `_`, `*`, `\`, `${x}`, "a\x00b", "\xff\xfe", strings.Repeat("x", 8<<10), "{", "__", "1e999", "-1"}
	for _, name := range []string{
		"trace_id", "span_id", "prompt_slug", "cache_status", "configs", "virtual_keys", "api_key_ids", "ai_model", "ai_org", "provider", "request_id",
		"metadata", "ai_org_model", "status_code", "cost_min", "weighted_feedback_max", "total_units_min", "columns", "order_by", "order_by_type",
		"include_total", "page_size", "current_page", "time_of_generation_min", "workspace_slug",
	} {
		for _, text := range texts {
			query := maps.Clone(day)
			query.Set(name, text)
			for _, path := range []string{"/analytics/groups/model", "/logs/groups/model", "/logs"} {
				rec := w.getAnalytics(t, path, query)
				at := gjson.Get(rec.Body.String(), "data.errors.0.path").String()
				named := at == name || name == "workspace_slug" && at == "workspace_id" || name == "time_of_generation_min" && at == "time_of_generation_max"
				switch found := gjson.Get(rec.Body.String(), "total").Int(); {
				case rec.Code == 200 && (found == 0 || slices.Contains([]string{"columns", "order_by"}, name)):
				case rec.Code == 200 && strings.Contains(rec.Header().Get("x-gateway-warnings"), name): // not of this route
				case (rec.Code == 400 || rec.Code == 404 && name == "workspace_slug") && named:
				default:
					t.Errorf("%s?%s=%.40q: %d %.300s", path, name, text, rec.Code, rec.Body)
				}
			}
		}
	}
	for _, text := range texts {
		rec := w.getAnalytics(t, "/analytics/groups/metadata/"+url.PathEscape(text), day)
		if rec.Code != 200 && (rec.Code != 400 || gjson.Get(rec.Body.String(), "data.errors.0.path").String() != "metadataKey") {
			t.Errorf("key %.40q: %d %.300s", text, rec.Code, rec.Body)
		}
	}
}

// Calls whose cost is not known stand in a list, by model and reason.
func TestUnpricedCallsAreListed(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	lacks := func(model, why string) record.Attempt {
		return record.Attempt{Started: at, Status: 200, Provider: "openai", Model: model, Usage: llm.Usage{TotalTokens: 12}, Spend: record.Spend{State: "settled", Unpriced: why}}
	}
	w := logged(t, lacks("gpt none", "unknown_model"), lacks("gpt none", "unknown_model"), lacks("gpt-4o", "no_rate:searches"), lacks("gpt-4o", ""))
	got := w.getAnalytics(t, "/analytics/groups/unpriced", span("2026-11-20T00:00:00Z", "2026-11-21T00:00:00Z")).Body.String()
	for path, want := range map[string]string{
		"total": "2", "data.#": "2", "data.0.ai_service": "openai", "data.0.ai_model": "gpt none", "data.0.reason": "unknown_model", "data.0.requests": "2",
		"data.0.total_tokens": "24", "data.1.ai_model": "gpt-4o", "data.1.reason": "no_rate:searches",
	} {
		if gjson.Get(got, path).String() != want {
			t.Errorf("%s is not %s: %s", path, want, got)
		}
	}
}
