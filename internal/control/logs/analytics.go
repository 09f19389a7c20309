package logs

import (
	"context"
	"net/http"
	"time"

	"sluice/internal/control/resource"
	"sluice/internal/domain/record"
	"sluice/internal/domain/tenant"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
)

var analyticsScopes = []access.Scope{"analytics.view"}

// routes returns the routes of statistics over the log: graphs, totals and groups. The tables
// graphs and groups define the query of each route and how the statistics become its response.
// Source: contract/content-and-observability.yaml, analytics; .md section 5.
func (k analytics) routes() resource.Resource {
	var ops resource.Operations
	for _, g := range graphs {
		ops = append(ops, analyticsRoute(g.path, g.id, g.title, g.response, nil, func(ctx context.Context, c *resource.Call) (any, error) {
			return k.draw(ctx, c, &g)
		}))
		if alias, ok := g.dashed(); ok {
			ops = append(ops, analyticsRoute(alias, g.id+"AtDashes", g.title+", under an alternative path", g.response, nil, func(ctx context.Context, c *resource.Call) (any, error) {
				return k.draw(ctx, c, &g)
			}))
		}
	}
	for _, g := range groups {
		op := analyticsRoute(g.path, g.id, g.title, g.response, g.query(), func(ctx context.Context, c *resource.Call) (any, error) {
			return k.group(ctx, c, &g)
		})
		op.Params = g.params
		if g.scopes != nil {
			op.Scopes = g.scopes
		}
		ops = append(ops, op)
	}
	return ops
}

func analyticsRoute(path, id, title string, response any, more []resource.Param, run func(context.Context, *resource.Call) (any, error)) resource.Operation {
	return resource.Operation{
		Method: http.MethodGet, Path: path, ID: id, Summary: title, Tag: "Analytics", Scopes: analyticsScopes,
		Query: append(attemptFilters(true), more...), Archived: true, Response: response, Run: run,
	}
}

// maxSpan is the longest time range of one call. With steps of a week it limits the points of a
// graph to 263.
const maxSpan = 5 * 366 * 24 * time.Hour

// analysis reads what a call selects. An Admin key that does not name a workspace selects the
// default one, or all of them if the rows are grouped by workspace.
func (k analytics) analysis(ctx context.Context, c *resource.Call, by record.Dimension) (a record.Analysis, err error) {
	q, err := attemptQuery(c)
	if err != nil {
		return a, err
	}
	if q.To.Sub(q.From) > maxSpan {
		return a, fault.New(fault.InvalidParameter, "the time range must not exceed five years; choose a shorter one").WithParam("time_of_generation_max")
	}
	if q.WorkspaceID == "" && by != record.ByWorkspace {
		if q.WorkspaceID, err = defaultWorkspace(ctx, c); err != nil {
			return a, err
		}
	}
	return record.Analysis{Query: q, By: by}, nil
}

// defaultWorkspace returns the id of the default workspace, which was created with the
// organisation.
func defaultWorkspace(ctx context.Context, c *resource.Call) (string, error) {
	q := resource.Query{Kind: tenant.WorkspaceKind, OrgID: c.OrgID, Statuses: []string{resource.Active}, Bare: true}
	for {
		rows, err := resource.ListRows[tenant.Workspace](ctx, c.Reader, q)
		if err != nil {
			return "", err
		}
		for _, r := range rows {
			if r.Value.IsDefault {
				return r.ID, nil
			}
		}
		if len(rows) == 0 {
			return "", fault.New(fault.InvalidParameter, "the organisation does not have a default workspace; send the id or slug of one").WithParam("workspace_id")
		}
		q.After = rows[len(rows)-1].ID
	}
}
