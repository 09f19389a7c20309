package logs

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"sluice/internal/control/defaults"
	"sluice/internal/control/resource"
	"sluice/internal/domain/record"
	"sluice/internal/domain/tenant"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
)

// groupRoute is a route that lists the values of a property with their statistics.
type groupRoute struct {
	path, id, title string
	params          []resource.Param
	scopes          []access.Scope   // nil for the scopes of analytics
	by              record.Dimension // ByNothing if the path names it; the caller then names the columns
	metrics         record.MetricSet
	response        any // zero value of what show returns
	show            func(p *record.AnalysisPage) any
}

// groups are all group routes. Numbers that have always been strings remain strings.
// Source: contract/content-and-observability.yaml, analytics; .md 5.3.
var groups = []groupRoute{
	grouped(groupRoute{path: "users", id: "groupByUsers", title: "Get metrics by end user", by: record.ByUser, metrics: record.MetricCost}, func(r *record.AnalysisRow) userRow {
		return userRow{r.Value, strconv.FormatInt(r.Requests, 10), strconv.FormatFloat(cents(r.Cost), 'f', -1, 64), rowObject}
	}),
	grouped(groupRoute{path: "ai-models", id: "groupByModels", title: "Get requests by model", by: record.ByModel}, func(r *record.AnalysisRow) modelRow {
		return modelRow{r.Value, strconv.FormatInt(r.Requests, 10), rowObject}
	}),
	grouped(groupRoute{
		path: "metadata/{metadataKey}", id: "groupByMetadata", title: "Get metrics by the values of a metadata key", params: []resource.Param{{Name: "metadataKey"}},
		by: record.ByMetadata, metrics: record.MetricCost | record.MetricTokens | record.MetricFeedback | record.MetricSeen,
	}, func(r *record.AnalysisRow) metadataRow {
		return metadataRow{r.Value, r.Requests, cents(r.Cost), r.Per(float64(r.Tokens)), weighted(&r.Metrics), r.Judged, resource.Stamp(r.Last), rowObject}
	}),
	grouped(groupRoute{path: "unpriced", id: "groupByUnpriced", title: "Get calls with unknown cost, by model and reason", by: record.ByUnpriced, metrics: record.MetricTokens | record.MetricSeen}, func(r *record.AnalysisRow) unpricedRow {
		provider, rest, _ := strings.Cut(r.Value, " ")
		reason, model, _ := strings.Cut(rest, " ")
		return unpricedRow{provider, model, reason, r.Requests, r.Tokens, resource.Stamp(r.Last), rowObject}
	}),
	{path: "/analytics/groups/{groupBy}", id: "groupAnalytics", title: "Get metrics by a property of the requests", params: groupedBy, response: propertyPage{}},
	{path: "/logs/groups/{groupBy}", id: "groupLogs", title: "Get metrics by a property of the requests", params: groupedBy, response: propertyPage{}, scopes: []access.Scope{access.LogsList}},
}

const rowObject = "analytics-group"

// grouped completes a route with the function that converts a row of the log to a row of the
// response.
func grouped[R any](g groupRoute, row func(*record.AnalysisRow) R) groupRoute {
	g.path, g.response = "/analytics/groups/"+g.path, resource.ListOf[R]{}
	g.show = func(p *record.AnalysisPage) any {
		out := resource.ListOf[R]{Object: "list", Total: int(p.Total), Data: make([]R, len(p.Rows))}
		for i := range p.Rows {
			out.Data[i] = row(&p.Rows[i])
		}
		return out
	}
	return g
}

// query returns the parameters of a route without the filters.
func (g *groupRoute) query() []resource.Param {
	out := []resource.Param{
		{Name: "current_page", Doc: "Page number, starting at 0", Type: "integer", Default: "0", Max: 1_000_000},
		{Name: "page_size", Doc: "Rows per page; 0 means the default", Type: "integer", Default: strconv.Itoa(groupPageSize), Max: 1000},
	}
	if g.by != record.ByNothing {
		return out
	}
	return append(out,
		resource.Param{Name: "columns", Doc: columnNames() + "; separate several with commas. Requests are always included"},
		resource.Param{Name: "order_by", Default: string(record.ColumnRequests), Doc: "requests, or one of the requested columns"},
		resource.Param{Name: "order_by_type", Enum: []string{"asc", "desc"}, Default: "desc"},
		resource.Param{Name: "include_total", Enum: []string{"true", "false"}, Default: "true", Doc: "false omits total"},
	)
}

const groupPageSize = 100

// group serves a group route.
func (k analytics) group(ctx context.Context, c *resource.Call, g *groupRoute) (any, error) {
	by := g.by
	if by == record.ByNothing {
		if by = record.Dimension(c.Path("groupBy")); !slices.Contains(groupedBy[0].Enum, string(by)) {
			return nil, fault.New(fault.InvalidParameter, "must be one of "+strings.Join(groupedBy[0].Enum, ", ")).WithParam("groupBy")
		}
	}
	a, err := k.analysis(ctx, c, by)
	if err != nil {
		return nil, err
	}
	if by == record.ByMetadata {
		if a.Key, err = metadataKey(c); err != nil {
			return nil, err
		}
	}
	a.Metrics, a.Limit = g.metrics, c.Int("page_size")
	if a.Limit == 0 {
		a.Limit = groupPageSize
	}
	a.Offset = c.Int("current_page") * a.Limit
	if g.show == nil {
		return k.groupByProperty(ctx, c, a)
	}
	page, err := k.Analytics.Analyse(ctx, a)
	return g.show(&page), err
}

func metadataKey(c *resource.Call) (string, error) {
	key := c.Path("metadataKey")
	if len(key) > defaults.MaxMetadataKey || !utf8.ValidString(key) || strings.ContainsRune(key, 0) {
		return "", fault.Newf(fault.InvalidParameter, "must be valid UTF-8 of at most %d bytes, without NUL characters", defaults.MaxMetadataKey).WithParam("metadataKey")
	}
	return key, nil
}

// groupByProperty responds with the columns that the caller names, in that order.
func (k analytics) groupByProperty(ctx context.Context, c *resource.Call, a record.Analysis) (any, error) {
	columns, err := columnsOf(c)
	if err != nil {
		return nil, err
	}
	for _, name := range columns {
		needs, _ := name.Needs()
		a.Metrics |= needs
	}
	a.Order, a.Ascending = record.Column(c.Query("order_by")), c.Query("order_by_type") == "asc"
	if a.Order != record.ColumnRequests && !slices.Contains(columns, a.Order) {
		return nil, fault.New(fault.InvalidParameter, "must be requests, or a column listed in the parameter columns").WithParam("order_by")
	}
	page, err := k.Analytics.Analyse(ctx, a)
	if err != nil {
		return nil, err
	}
	out := propertyPage{Object: "list", Data: make([]propertyRow, len(page.Rows))}
	if c.Query("include_total") == "true" {
		out.Total = &page.Total
	}
	for i := range page.Rows {
		out.Data[i] = propertyRowOf(&page.Rows[i], a.By, columns)
	}
	if a.By == record.ByWorkspace {
		out.Exceeded = new(false)
		err = out.nameWorkspaces(ctx, c)
	}
	return out, err
}

// columnsOf returns the columns that a call requests.
func columnsOf(c *resource.Call) ([]record.Column, error) {
	var out []record.Column
	for _, name := range split(c.Query("columns")) {
		column := record.Column(name)
		if _, ok := column.Needs(); !ok {
			return nil, fault.New(fault.InvalidParameter, "each column must be one of "+columnNames()).WithParam("columns")
		}
		out = append(out, column)
	}
	return out, nil
}

// nameWorkspaces adds the slugs of the workspaces, including archived ones.
func (p *propertyPage) nameWorkspaces(ctx context.Context, c *resource.Call) error {
	ids := make([]string, len(p.Data))
	for i := range p.Data {
		ids[i] = p.Data[i].Workspace
	}
	workspaces, err := c.Reader.List(ctx, resource.Query{Kind: tenant.WorkspaceKind, OrgID: c.OrgID, IDs: ids, Limit: 1000})
	if err != nil {
		return err
	}
	slugs := make(map[string]string, len(workspaces))
	for _, r := range workspaces {
		slugs[r.ID] = r.ShownSlug()
	}
	for i := range p.Data {
		p.Data[i].WorkspaceSlug = slugs[p.Data[i].Workspace]
	}
	return nil
}
