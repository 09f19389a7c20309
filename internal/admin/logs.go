package admin

import (
	"context"
	"net/http"
	"strings"
	"time"

	"sluice/internal/access"
	"sluice/internal/fault"
	"sluice/internal/ident"
	"sluice/internal/record"
	"sluice/internal/resource"
)

// logs are the routes that read the request log. Source:
// contract/content-and-observability.yaml, GET /logs and GET /logs/{logId}; the
// keyset cursor is ours.
func (k kinds) logs() resource.Resource {
	return resource.Operations{
		{
			Method: http.MethodGet, Path: "/logs", ID: "listLogs", Summary: "List the attempts of requests, the newest first", Tag: "Logs",
			Scopes: []access.Scope{access.LogsList}, Query: logFilters(), Strict: true, Answer: logList{}, Run: k.listLogs,
		},
		{
			Method: http.MethodGet, Path: "/logs/{logId}", ID: "getLog", Summary: "Read one attempt with its bodies", Tag: "Logs",
			Params: []resource.Param{{Name: "logId", Doc: "id of the attempt", Format: "uuid"}},
			Scopes: []access.Scope{access.LogsView}, Query: []resource.Param{resource.WorkspaceParam}, Answer: logObject{}, Run: k.getLog,
		},
	}
}

func logFilters() []resource.Param {
	list := func(name, doc string) resource.Param {
		return resource.Param{Name: name, Doc: doc + "; several with commas"}
	}
	tokens := func(name string) resource.Param { return resource.Param{Name: name, Type: "integer"} }
	return []resource.Param{
		resource.WorkspaceParam,
		{Name: "workspace_slug", Doc: "the same as workspace_id"},
		{Name: "trace_id"},
		{Name: "request_id", Doc: "x-gateway-request-id of an answer"},
		{Name: "time_of_generation_min", Format: "date-time", Doc: "inclusive"},
		{Name: "time_of_generation_max", Format: "date-time", Doc: "exclusive"},
		list("status_code", "200, 4xx, 500-503"),
		list("ai_model", "models asked of the provider"),
		list("ai_org", "ids of providers"),
		list("provider", "the same as ai_org"),
		list("api_key_ids", "ids of API keys"),
		list("configs", "slugs"),
		list("virtual_keys", "slugs of saved providers"),
		tokens("total_units_min"), tokens("total_units_max"),
		tokens("prompt_token_min"), tokens("prompt_token_max"),
		tokens("completion_token_min"), tokens("completion_token_max"),
		{Name: "after", Doc: "next_cursor of the page before"},
		{Name: "current_page", Doc: "page number, from 0; not together with after", Type: "integer", Default: "0", Max: 100_000},
		{Name: "page_size", Type: "integer", Default: "50", Max: record.MaxLimit},
		{Name: "order_by", Enum: []string{"created_at"}, Default: "created_at"},
		{Name: "order_by_type", Enum: []string{"asc", "desc"}, Default: "desc"},
	}
}

// logList is a page of the log.
type logList struct {
	Object     string        `json:"object" enum:"list"`
	Total      int64         `json:"total" doc:"all rows that match"`
	Data       []logMetrics  `json:"data" nullable:"false"`
	NextCursor record.Cursor `json:"next_cursor,omitempty" doc:"for the parameter after; absent on the last page"`
}

func (k kinds) listLogs(ctx context.Context, c *resource.Call) (any, error) {
	q, err := logQuery(c)
	if err != nil {
		return nil, err
	}
	page, err := k.Logs.List(ctx, q)
	if err != nil {
		return nil, err
	}
	out := logList{Object: "list", Total: page.Total, Data: make([]logMetrics, len(page.Rows)), NextCursor: page.Next}
	slugs := placeSlugs{c.Reader, make(map[string]string)}
	for i := range page.Rows {
		slug, err := slugs.of(ctx, page.Rows[i].WorkspaceID)
		if err != nil {
			return nil, err
		}
		out.Data[i] = metricsOf(&page.Rows[i], slug)
	}
	return out, nil
}

func logQuery(c *resource.Call) (q record.Query, err error) {
	q = record.Query{
		OrgID: c.OrgID, WorkspaceID: c.WorkspaceID, TraceIDs: split(c.Query("trace_id")), RequestID: c.Query("request_id"),
		Models: split(c.Query("ai_model")), KeyIDs: split(c.Query("api_key_ids")),
		Configs: split(c.Query("configs")), ProviderIDs: split(c.Query("virtual_keys")),
		Total: between(c, "total_units"), Input: between(c, "prompt_token"), Output: between(c, "completion_token"),
		Providers: append(split(c.Query("ai_org")), split(c.Query("provider"))...),
		From:      timeOf(c.Query("time_of_generation_min")), To: timeOf(c.Query("time_of_generation_max")),
		After: record.Cursor(c.Query("after")), Limit: c.Int("page_size"), Newest: c.Query("order_by_type") != "asc", Count: true,
	}
	if c.Principal.SeesOwnDataOnly(c.WorkspaceID) {
		q.UserID = c.Principal.UserID
	}
	if q.Statuses, err = record.ParseStatuses(c.Query("status_code")); err != nil {
		return q, err
	}
	page := c.Int("current_page")
	if q.After != "" && page > 0 {
		return q, fault.New(fault.InvalidParameter, "after and current_page exclude each other").At("after")
	}
	if _, _, err := q.After.Split(); q.After != "" && err != nil {
		return q, err
	}
	q.Offset = page * q.PageSize()
	return q, nil
}

func (k kinds) getLog(ctx context.Context, c *resource.Call) (any, error) {
	id := c.Path("logId")
	if !ident.ValidID(id) {
		return nil, fault.New(fault.NotFound, "there is no such log").At("logId")
	}
	a, err := k.Logs.Find(ctx, c.OrgID, c.WorkspaceID, id)
	if fault.Has(err, fault.NotFound) || err == nil && hidden(c, &a) {
		return nil, fault.New(fault.NotFound, "there is no such log").At("logId")
	}
	if err != nil {
		return nil, err
	}
	slugs := placeSlugs{c.Reader, make(map[string]string)}
	slug, err := slugs.of(ctx, a.WorkspaceID)
	if err != nil {
		return nil, err
	}
	corrections, err := k.Logs.Corrections(ctx, a.ID)
	if err != nil {
		return nil, err
	}
	o := objectOf(&a, slug)
	o.Corrections = viewCorrections(corrections)
	o.Feedbacks, err = feedbackOf(ctx, c.Reader, &a)
	return o, err
}

// hidden reports whether an attempt is data of somebody else to a caller who sees only
// their own. What no user made, a service key for example, is of somebody else.
// Source: contract/content-and-observability.md section 3.5.
func hidden(c *resource.Call, a *record.Attempt) bool {
	return c.Principal.SeesOwnDataOnly(a.WorkspaceID) && (a.UserID == "" || a.UserID != c.Principal.UserID)
}

// placeSlugs looks up the slugs of workspaces, each once.
type placeSlugs struct {
	from  resource.Reader
	known map[string]string
}

func (p placeSlugs) of(ctx context.Context, id string) (string, error) {
	if slug, ok := p.known[id]; ok || id == "" {
		return slug, nil
	}
	r, err := p.from.Find(ctx, "workspace", id)
	if err != nil && !fault.Has(err, fault.NotFound) {
		return "", err
	}
	p.known[id] = r.ShownSlug()
	return p.known[id], nil
}

// between is the range of the parameters name_min and name_max.
func between(c *resource.Call, name string) record.Range {
	end := func(name string) *int64 {
		if c.Query(name) == "" {
			return nil
		}
		n := int64(c.Int(name))
		return &n
	}
	return record.Range{Min: end(name + "_min"), Max: end(name + "_max")}
}

func split(list string) []string {
	var out []string
	for v := range strings.SplitSeq(list, ",") {
		if v = strings.TrimSpace(v); v != "" {
			out = append(out, v)
		}
	}
	return out
}

// timeOf is the zero time for an empty text; the form was checked.
func timeOf(v string) time.Time {
	t, err := time.Parse(time.RFC3339, v)
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}
