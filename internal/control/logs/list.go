package logs

import (
	"context"
	"net/http"
	"time"

	"sluice/internal/control/directory"
	"sluice/internal/control/resource"
	"sluice/internal/domain/record"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
)

// routes returns the routes that read the request log. Source:
// contract/content-and-observability.yaml, GET /logs and GET /logs/{logId}; the
// keyset cursor is ours.
func (k attempts) routes() resource.Resource {
	return resource.Operations{
		{
			Method: http.MethodGet, Path: "/logs", ID: "listLogs", Summary: "List the attempts of requests, newest first", Tag: "Logs",
			Scopes: []access.Scope{access.LogsList}, Query: logFilters(), Response: logList{}, Run: k.listLogs,
		},
		{
			Method: http.MethodGet, Path: "/logs/{logId}", ID: "getLog", Summary: "Read one attempt with its bodies", Tag: "Logs",
			Params: []resource.Param{{Name: "logId", Doc: "id of the attempt", Format: "uuid"}},
			Scopes: []access.Scope{access.LogsView}, Query: []resource.Param{
				resource.WorkspaceParam, {Name: "type", Enum: []string{"hooks"}, Doc: "hooks omits the bodies"},
			},
			Response: logObject{}, Run: k.getLog,
		},
	}
}

func logFilters() []resource.Param {
	return append(attemptFilters(false),
		resource.Param{
			Name: "search", MaxLength: record.MaxSearch,
			Doc: "Text that a request or response body contains, ignoring case; needs the scope logs.view; page with after, not with page numbers",
		},
		resource.Param{Name: "after", Doc: "next_cursor of the previous page"},
		resource.Param{Name: "current_page", Doc: "Page number, starting at 0; not together with after", Type: "integer", Default: "0", Max: 100_000},
		resource.Param{Name: "page_size", Type: "integer", Default: "50", Max: record.MaxLimit},
		resource.Param{Name: "order_by", Enum: []string{"created_at"}, Default: "created_at"},
		resource.Param{Name: "order_by_type", Enum: []string{"asc", "desc"}, Default: "desc"},
	)
}

// logList is a page of the log.
type logList struct {
	Object     string        `json:"object" enum:"list"`
	Total      int64         `json:"total" doc:"Number of all matching rows; for a search those on this page"`
	Data       []logItem     `json:"data" nullable:"false"`
	NextCursor record.Cursor `json:"next_cursor,omitempty" doc:"Value for the parameter after; absent on the last page"`
	Incomplete bool          `json:"incomplete,omitempty" doc:"Whether a search timed out before the page was full; continue with next_cursor"`
	Unread     int           `json:"unread,omitempty" doc:"Rows that a search skipped, because another node or an unavailable store has their bodies"`
}

// logItem is an attempt in the list, with the feedback on its trace.
// Source: contract/content-and-observability.yaml, LogListItem.
type logItem struct {
	LogMetrics
	Feedbacks int64    `json:"feedback_count" doc:"Number of feedback records on the trace"`
	Weighted  *float64 `json:"avg_weighted_feedback" nullable:"true" doc:"Average over the trace; null without feedback"`
}

func (k attempts) listLogs(ctx context.Context, c *resource.Call) (any, error) {
	q, err := logQuery(c)
	if err != nil {
		return nil, err
	}
	out := logList{Object: "list"}
	rows, err := k.findLogs(ctx, c, q, &out)
	if err != nil {
		return nil, err
	}
	out.Data = make([]logItem, len(rows))
	slugs := directory.WorkspaceSlugs{From: c.Reader, Known: make(map[string]string)}
	feedback, err := k.loadFeedbackMetrics(ctx, c.OrgID, rows)
	if err != nil {
		return nil, err
	}
	names, err := k.newLogNames(ctx, c)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		slug, err := slugs.Find(ctx, rows[i].WorkspaceID)
		if err != nil {
			return nil, err
		}
		out.Data[i] = logItem{LogMetrics: metricsOf(&rows[i], slug)}
		if err := names.add(ctx, &rows[i], &out.Data[i].LogMetrics); err != nil {
			return nil, err
		}
		if f, ok := feedback[traceOf(&rows[i])]; ok {
			out.Data[i].Feedbacks, out.Data[i].Weighted = f.Feedbacks, new(weighted(&f))
		}
	}
	return out, nil
}

// findLogs returns the rows of a page, and sets the other fields of the page in out. A search of
// bodies requires the scope logs.view.
func (k attempts) findLogs(ctx context.Context, c *resource.Call, q record.Query, out *logList) ([]record.Attempt, error) {
	text := c.Query("search")
	if text == "" {
		page, err := k.Logs.List(ctx, q)
		out.Total, out.NextCursor = page.Total, page.Next
		return page.Rows, err
	}
	if !c.Holds(access.LogsView) {
		return nil, fault.New(fault.Forbidden, "searching bodies requires the scope logs.view").WithParam("search")
	}
	if q.Offset > 0 {
		return nil, fault.New(fault.InvalidParameter, "a search does not support page numbers; send next_cursor as after").WithParam("current_page")
	}
	found, err := k.Logs.Search(ctx, q, text)
	out.Total, out.NextCursor, out.Incomplete, out.Unread = int64(len(found.Rows)), found.Next, found.Incomplete, found.Unread
	return found.Rows, err
}

// trace identifies the trace of feedback. Trace ids are unique only in their workspace.
type trace struct{ workspaceID, id string }

func traceOf(a *record.Attempt) trace { return trace{a.WorkspaceID, a.TraceID} }

// loadFeedbackMetrics returns the feedback metrics of the traces of attempts. Traces without
// feedback are absent. It makes one query per workspace.
func (k attempts) loadFeedbackMetrics(ctx context.Context, orgID string, rows []record.Attempt) (map[trace]record.Metrics, error) {
	queries := make(map[string]record.Query)
	for i := range rows {
		r := &rows[i]
		q, seen := queries[r.WorkspaceID]
		if !seen {
			q = record.Query{OrgID: orgID, WorkspaceID: r.WorkspaceID, From: r.Started, To: r.Started}
		}
		if r.Started.Before(q.From) {
			q.From = r.Started
		}
		if !r.Started.Before(q.To) {
			q.To = r.Started.Add(time.Microsecond) // the log stores times in microseconds
		}
		if r.TraceID != "" {
			q.TraceIDs = append(q.TraceIDs, r.TraceID)
		}
		queries[r.WorkspaceID] = q
	}
	feedback := make(map[trace]record.Metrics)
	for id, q := range queries {
		if len(q.TraceIDs) == 0 {
			continue
		}
		page, err := k.Analytics.Analyse(ctx, record.Analysis{Query: q, By: record.ByTrace, Metrics: record.MetricFeedback})
		if err != nil {
			return nil, err
		}
		for _, r := range page.Rows {
			if r.Feedbacks > 0 {
				feedback[trace{id, r.Value}] = r.Metrics
			}
		}
	}
	return feedback, nil
}

func logQuery(c *resource.Call) (q record.Query, err error) {
	if q, err = attemptQuery(c); err != nil {
		return q, err
	}
	q.After, q.Limit, q.Newest, q.Count = record.Cursor(c.Query("after")), c.Int("page_size"), c.Query("order_by_type") != "asc", true
	page := c.Int("current_page")
	if q.After != "" && page > 0 {
		return q, fault.New(fault.InvalidParameter, "send after or current_page, not both").WithParam("after")
	}
	if _, _, err := q.After.Split(); q.After != "" && err != nil {
		return q, err
	}
	q.Offset = page * q.PageSize()
	return q, nil
}

func (k attempts) getLog(ctx context.Context, c *resource.Call) (any, error) {
	a, err := k.findLog(ctx, c)
	if err != nil {
		return nil, err
	}
	slugs := directory.WorkspaceSlugs{From: c.Reader, Known: make(map[string]string)}
	slug, err := slugs.Find(ctx, a.WorkspaceID)
	if err != nil {
		return nil, err
	}
	if c.Query("type") == "hooks" {
		for _, b := range a.Bodies() {
			b.Bytes, b.Head = nil, nil
		}
	}
	o := objectOf(&a, slug)
	if o.Cache != nil && c.Query("type") == "hooks" {
		o.Cache.Matched = ""
	}
	names, err := k.newLogNames(ctx, c)
	if err != nil {
		return nil, err
	}
	if err := names.add(ctx, &a, &o.Metrics.LogMetrics); err != nil {
		return nil, err
	}
	if o.Attempts, err = k.attemptsOf(ctx, c, &a); err != nil {
		return nil, err
	}
	corrections, err := k.Logs.Corrections(ctx, a.ID)
	if err != nil {
		return nil, err
	}
	o.Corrections = viewCorrections(corrections)
	o.Feedbacks, err = feedbackOf(ctx, c.Reader, &a)
	return o, err
}

// findLog returns the attempt that the path names. It returns fault.NotFound if the caller may
// not see the attempt.
func (k attempts) findLog(ctx context.Context, c *resource.Call) (record.Attempt, error) {
	none := fault.New(fault.NotFound, "the log does not exist").WithParam("logId")
	id := c.Path("logId")
	if !ident.ValidID(id) {
		return record.Attempt{}, none
	}
	a, err := k.Logs.Find(ctx, c.OrgID, c.WorkspaceID, id)
	if fault.Has(err, fault.NotFound) || err == nil && hidden(c, &a) {
		return record.Attempt{}, none
	}
	return a, err
}

// hidden reports whether the caller may see only the data of their own user and the attempt
// belongs to another user. Attempts without a user, for example of a service key, are hidden
// from such callers, too.
// Source: contract/content-and-observability.md section 3.5.
func hidden(c *resource.Call, a *record.Attempt) bool {
	return c.Principal.IsLimitedToUserData(a.WorkspaceID) && (a.UserID == "" || a.UserID != c.Principal.UserID)
}
