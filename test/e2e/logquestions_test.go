package e2e

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"time"

	"sluice/internal/storage/requestlog/clickhousetest"
	"sluice/internal/test/upstream"
)

// What is wrong with a question to the log is said with the name of the parameter, whichever
// store has the rows; a text in any of them is a text, and nothing is slowed or broken.
func TestBadQuestionsToTheLog(t *testing.T) {
	t.Parallel()
	for name, storage := range map[string]func(*testing.T) option{
		"duckdb": func(*testing.T) option { return with() },
		"clickhouse": func(t *testing.T) option {
			server := clickhousetest.Start(t)
			return with("ANALYTICS_STORE_URL="+server.URL, "ANALYTICS_STORE_USER="+clickhousetest.User, "ANALYTICS_STORE_PASSWORD="+clickhousetest.Password)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := start(t, storage(t))
			id := g.chat(custom(upstream.Start(t))...).Header.Get("x-gateway-request-id")
			eventually(t, logLimit, "the call is in the log", func() bool { return g.call("GET", "/v1/logs/"+id, "").Status == 200 })
			for _, q := range badQuestions(id) {
				q.ask(t, g)
			}
			g.askWithStrangeTexts(t)
			if list := g.call("GET", "/v1/logs", "").want(t, 200); list.get("total").Int() != 1 || list.get("data.0.id").String() != id {
				t.Errorf("afterwards the log has %s", list.Body)
			}
		})
	}
}

// badQuestion is a call that is refused, with the place that the refusal names.
type badQuestion struct {
	call, body string // "GET /v1/logs?status_code=abc"
	status     int
	field      string // of the errors; empty where there is none to name
	message    string // in the answer
}

func (q *badQuestion) ask(t *testing.T, g *gateway) {
	t.Helper()
	method, path, _ := strings.Cut(q.call, " ")
	a := g.call(method, path, q.body)
	code := map[int]string{400: "AB01", 403: "AB03", 404: "AB08"}[q.status]
	if a.Status != q.status || a.get("success").Bool() || a.get("data.errorCode").String() != code {
		t.Errorf("%s %.80s: %d %.300s, want %d %s", q.call, q.body, a.Status, a.Body, q.status, code)
		return
	}
	if got := a.get("data.errors.0.path").String(); !strings.HasPrefix(got, q.field) || q.field != "" && a.get("data.message").String() == "" {
		t.Errorf("%s %.80s: the refusal names %q, want %q: %.300s", q.call, q.body, got, q.field, a.Body)
	}
	if !strings.Contains(a.Body, q.message) {
		t.Errorf("%s %.80s: %.300s does not say %q", q.call, q.body, a.Body, q.message)
	}
}

const someTime = "time_of_generation_min=2026-11-01T00:00:00Z&time_of_generation_max=2026-12-01T00:00:00Z"

// metricRoutes are routes that need a time.
var metricRoutes = []string{
	"/v1/analytics/graphs/requests", "/v1/analytics/graphs/cost", "/v1/analytics/graphs/latency", "/v1/analytics/graphs/tokens", "/v1/analytics/graphs/users",
	"/v1/analytics/graphs/users/requests", "/v1/analytics/graphs/errors", "/v1/analytics/graphs/errors/rate", "/v1/analytics/graphs/errors/stacks",
	"/v1/analytics/graphs/errors/status-codes", "/v1/analytics/graphs/requests/rescued", "/v1/analytics/graphs/cache/hit-rate", "/v1/analytics/graphs/cache/latency",
	"/v1/analytics/graphs/feedbacks", "/v1/analytics/graphs/feedbacks/scores", "/v1/analytics/graphs/feedbacks/weighted", "/v1/analytics/graphs/feedbacks/ai-models",
	"/v1/analytics/summary/cache", "/v1/analytics/groups/users", "/v1/analytics/groups/ai-models", "/v1/analytics/groups/metadata/team",
	"/v1/analytics/groups/model", "/v1/logs/groups/status_code",
}

func badQuestions(id string) (all []badQuestion) {
	for _, route := range append([]string{"/v1/logs", "/v1/logs/stream"}, metricRoutes...) {
		timed := route + "?"
		if !strings.HasPrefix(route, "/v1/logs") || strings.Contains(route, "groups") {
			timed += someTime + "&"
			all = append(all,
				badQuestion{"GET " + route, "", 400, "time_of_generation_m", ""},
				badQuestion{"GET " + route + "?time_of_generation_min=2026-11-01T00:00:00Z", "", 400, "time_of_generation_max", ""},
				badQuestion{"GET " + route + "?time_of_generation_min=2026-12-01T00:00:00Z&time_of_generation_max=2026-11-01T00:00:00Z", "", 400, "time_of_generation_max", ""},
				badQuestion{"GET " + route + "?time_of_generation_min=1990-12-01T00:00:00Z&time_of_generation_max=2026-11-01T00:00:00Z", "", 400, "time_of_generation_max", "five years"},
				badQuestion{"GET " + route + "?time_of_generation_min=yesterday&time_of_generation_max=2026-11-01T00:00:00Z", "", 400, "time_of_generation_min", ""},
			)
		}
		for _, wrong := range [][2]string{
			{"status_cod=500", "status_cod"}, {"status_code=abc", "status_code"}, {"status_code=500-400", "status_code"}, {"cost_min=cheap", "cost_min"}, {"cost_min=5&cost_max=1", "cost_m"},
			{"total_units_min=1.5", "total_units_min"}, {"total_units_min=9&total_units_max=1", "total_units_m"}, {"prompt_token_min=x", "prompt_token_min"}, {"completion_token_max=x", "completion_token_max"},
			{"weighted_feedback_min=11", "weighted_feedback_min"}, {"weighted_feedback_min=3&weighted_feedback_max=-3", "weighted_feedback_m"},
			{"metadata=%7Bnot-json", "metadata"}, {"metadata=%5B1%5D", "metadata"}, {"metadata=%7B%22a%22%3A1%7D", "metadata"}, {"ai_org_model=gpt-4o", "ai_org_model"},
		} {
			all = append(all, badQuestion{"GET " + timed + wrong[0], "", 400, wrong[1], ""})
		}
	}
	return append(all,
		badQuestion{"GET /v1/logs?page_size=1000000", "", 400, "page_size", ""},
		badQuestion{"GET /v1/logs?page_size=x", "", 400, "page_size", ""},
		badQuestion{"GET /v1/logs?current_page=99999999", "", 400, "current_page", ""},
		badQuestion{"GET /v1/logs?after=abc", "", 400, "after", ""},
		badQuestion{"GET /v1/logs?order_by=cost", "", 400, "order_by", ""},
		badQuestion{"GET /v1/logs?order_by_type=up", "", 400, "order_by_type", ""},
		badQuestion{"GET /v1/logs?time_of_generation_min=2026-12-01T00:00:00Z&time_of_generation_max=2026-11-01T00:00:00Z", "", 400, "time_of_generation_max", ""},
		badQuestion{"GET /v1/logs?search=" + strings.Repeat("x", 201), "", 400, "search", ""},
		badQuestion{"GET /v1/logs/not-an-id", "", 404, "logId", ""},
		badQuestion{"GET /v1/logs/" + id + "?type=bodies", "", 400, "type", ""},
		badQuestion{"POST /v1/logs/" + id + "/replay", `{"modell":"x"}`, 400, "modell", ""},
		badQuestion{"POST /v1/logs/" + id + "/replay", `{"config":"pc-x","provider":"@x"}`, 400, "provider", ""},

		badQuestion{"GET /v1/analytics/groups/colour?" + someTime, "", 400, "groupBy", ""},
		badQuestion{"GET /v1/logs/groups/colour?" + someTime, "", 400, "groupBy", ""},
		badQuestion{"GET /v1/analytics/groups/model?columns=secret&" + someTime, "", 400, "columns", ""},
		badQuestion{"GET /v1/analytics/groups/model?order_by=secret&" + someTime, "", 400, "order_by", ""},
		badQuestion{"GET /v1/analytics/groups/model?page_size=100000&" + someTime, "", 400, "page_size", ""},
		badQuestion{"GET /v1/analytics/groups/model?include_total=perhaps&" + someTime, "", 400, "include_total", ""},
		badQuestion{"GET /v1/analytics/groups/metadata/" + strings.Repeat("k", 300) + "?" + someTime, "", 400, "metadataKey", ""},

		badQuestion{"POST /v1/logs/exports", `{"filters":{},"requested_data":["password"]}`, 400, "requested_data", ""},
		badQuestion{"POST /v1/logs/exports", `{"filters":{},"requested_data":[]}`, 400, "requested_data", ""},
		badQuestion{"POST /v1/logs/exports", `{"filters":{"colour":"red"},"requested_data":["id"]}`, 400, "filters", "colour"},
		badQuestion{"POST /v1/logs/exports", `{"filters":{"page_size":50001},"requested_data":["id"]}`, 400, "filters.page_size", ""},
		badQuestion{"POST /v1/logs/exports", `{"filters":{"time_of_generation_min":"2026-12-01T00:00:00Z","time_of_generation_max":"2026-11-01T00:00:00Z"},"requested_data":["id"]}`, 400, "filters.time_of_generation_max", ""},
		badQuestion{"POST /v1/logs/exports", `{"filters":{"metadata":"{"},"requested_data":["id"]}`, 400, "filters.metadata", ""},
		badQuestion{"POST /v1/logs/exports", `{"requested_data":["id"]}`, 400, "filters", ""},
		badQuestion{"POST /v1/logs/exports", `{"filters":{},"requested_data":["id"],"format":"xlsx"}`, 400, "format", ""},
		badQuestion{"POST /v1/logs/exports", `{"filters":{},"requested_data":["id"],"compression":"rar"}`, 400, "compression", ""},
		badQuestion{"GET /v1/logs/exports/not-an-id", "", 400, "exportId", ""},
		badQuestion{"POST /v1/logs/exports/0191f3a0-0000-7000-8000-00000000000a/start", "", 404, "", ""},
		badQuestion{"GET /v1/logs/exports/0191f3a0-0000-7000-8000-00000000000a/file?expires=1&signature=x", "", 403, "signature", ""},
		badQuestion{"POST /v1/logs", `{"request":{"url":"https://x"},"response":{"body":{}}}`, 400, "request.body", ""},
		badQuestion{"POST /v1/logs", `{"request":{"url":"https://x","body":{}},"response":{"body":{}},"metadata":[]}`, 400, "metadata", ""},
	)
}

// askWithStrangeTexts asks with texts that mean something elsewhere in every parameter that
// is a text: nothing but a page that may be empty, or a refusal, comes of it.
func (g *gateway) askWithStrangeTexts(t *testing.T) {
	t.Helper()
	strange := []string{"'; DROP TABLE attempts; --", `") OR 1=1 --`, "{p0:String}", "$1", "?", "%", "\\", "\x00", "\xff\xfe", "'", "\u202e", strings.Repeat("x", 4000)}
	began := time.Now()
	for _, route := range []string{"/v1/logs", "/v1/analytics/graphs/requests", "/v1/analytics/groups/model", "/v1/analytics/groups/metadata/"} {
		for _, name := range []string{"ai_model", "ai_org", "virtual_keys", "configs", "api_key_ids", "trace_id", "span_id", "prompt_slug", "cache_status", "request_id", "search", "workspace_slug", "metadata", "ai_org_model"} {
			for _, text := range strange {
				path, value := route, text
				switch {
				case strings.HasSuffix(route, "/"):
					path += url.PathEscape(text)
				case name == "request_id" && route != "/v1/logs", name == "search" && route != "/v1/logs":
					continue
				case name == "metadata":
					object, err := json.Marshal(map[string]string{"team": text})
					if err != nil {
						t.Fatal(err)
					}
					value = string(object)
				case name == "ai_org_model":
					value = text + "__" + text
				}
				a := g.call("GET", path+"?"+someTime+"&"+url.Values{name: {value}}.Encode(), "")
				refused := a.Status == 400 || a.Status == 404 && name == "workspace_slug" // that of a workspace key is its own
				if name == "search" && text == "\\" {
					continue // it is in every body with a quotation mark
				}
				if a.Status != 200 && !refused || a.Status == 200 && strings.HasSuffix(route, "/logs") && a.get("data.#").Int() > 0 && name != "metadata" {
					t.Errorf("%s with %s %.40q: %d %.300s", path, name, value, a.Status, a.Body)
				}
				if strings.HasSuffix(route, "/") && name != "ai_model" {
					break
				}
			}
		}
	}
	t.Logf("asked with strange texts in %s", time.Since(began).Round(time.Millisecond))
}
