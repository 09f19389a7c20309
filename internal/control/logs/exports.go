package logs

import (
	"context"
	"net/http"

	"sluice/internal/control/directory"
	"sluice/internal/control/resource"
	"sluice/internal/domain/record"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
)

const exportFeature = "DATA_EXPORTS_ENABLED"

var exportScopes = []access.Scope{access.LogsExport}

// kind defines log exports: orders for rows of the log. All operations on them need the same scope. A user
// key sees only the exports of its user. A separate adapter (storage/requestlog/export) runs an order when
// its state requests it.
// Source: contract/content-and-observability.md section 8.
func (k exports) kind() resource.Resource {
	receipt := &resource.WriteResponse[record.Export]{Shape: exportReceipt{}, Make: k.receiveExport}
	return &resource.Kind[record.Export, exportView]{
		Name: record.ExportKind, Object: "export", Title: "log export", Tag: "Log exports", Audited: "log_exports", Feature: exportFeature,
		Path: "/logs/exports", Param: "exportId", ByID: true, Verbs: resource.Create | resource.List | resource.Get | resource.Update, PageSize: 100,
		Scopes: func(string, *resource.Row[record.Export]) []access.Scope { return exportScopes },
		Scope:  resource.Located, Locate: locateExport,
		Create: exportIn{}, Update: exportPatch{}, PreparedFields: []string{"filters"},
		Select: func(_ context.Context, c *resource.Call, q *resource.Query) error {
			if user := exportsOf(c, c.WorkspaceID); user != "" {
				q.Index = append(q.Index, resource.IndexEntry{Name: "user", Value: user})
			}
			return nil
		},
		Authorize: authorizeExport,
		Prepare:   prepareExport,
		Index:     indexExport,
		View:      k.viewExport, Receipt: receipt, Done: receipt,
		Actions: []resource.Action[record.Export]{
			{Name: "start", Path: "/start", Method: http.MethodPost, ID: "startLogExport", Summary: "Start a log export, or restart a failed one", Response: exportTask{}, Run: k.startExport},
			{Name: "cancel", Path: "/cancel", Method: http.MethodPost, ID: "cancelLogExport", Summary: "Stop a log export permanently", Response: exportTask{}, Run: k.cancelExport},
			{
				Name: "download", Path: "/download", Method: http.MethodGet, ID: "downloadLogExport", Summary: "Get a download address for a log export, valid for one hour",
				Response: exportFile{}, Watched: true, Read: k.linkExport,
			},
		},
	}
}

// exportsOf returns the user whose exports a caller is restricted to; empty for no restriction.
func exportsOf(c *resource.Call, workspaceID string) string {
	p := c.Principal
	if p.Kind == access.ByKey && p.KeyType == access.WorkspaceUser || p.IsLimitedToUserData(workspaceID) {
		return p.UserID
	}
	return ""
}

func indexExport(r *resource.Row[record.Export]) (index []resource.IndexEntry) {
	if r.Value.UserID != "" {
		index = append(index, resource.IndexEntry{Name: "user", Value: r.Value.UserID})
	}
	if r.Value.State == record.ExportRunning {
		index = append(index, resource.IndexEntry{Name: record.ExportNodeIndex, Value: r.Value.Run.Node}, resource.IndexEntry{Name: record.ExportRunningIndex, Value: record.ExportRunningValue})
	}
	return index
}

func authorizeExport(_ context.Context, c *resource.Call, r *resource.Row[record.Export]) error {
	if user := exportsOf(c, r.WorkspaceID); user != "" && r.Value.UserID != user {
		return fault.New(fault.NotFound, "the log export does not exist")
	}
	return nil
}

// locateExport uses the workspace of the filters if the call does not name one.
func locateExport(ctx context.Context, c *resource.Call, r *resource.Row[record.Export]) error {
	if r.WorkspaceID = c.WorkspaceID; r.WorkspaceID != "" {
		return nil
	}
	var filters resource.Sent
	if err := c.Sent.Into("filters", &filters); err != nil {
		return err
	}
	name := filters.Text("workspace_slug")
	if name == "" {
		return c.RequireWorkspace()
	}
	workspace, err := findExportWorkspace(ctx, c, name)
	r.WorkspaceID = workspace.ID
	return err
}

// findExportWorkspace returns the workspace that the filters name. It returns
// fault.ReferenceMissing for one that does not exist or that the caller cannot see.
func findExportWorkspace(ctx context.Context, c *resource.Call, name string) (resource.Record, error) {
	workspace, err := directory.FindWorkspace(ctx, c.Reader, c.OrgID, name)
	if fault.Has(err, fault.NotFound) || err == nil && !c.Principal.BelongsTo(workspace.ID) {
		err = fault.New(fault.ReferenceMissing, "the workspace does not exist").WithParam("filters.workspace_slug")
	}
	return workspace, err
}

func prepareExport(ctx context.Context, c *resource.Call, ch *resource.Edit[record.Export]) error {
	e := &ch.New.Value
	switch {
	case ch.Old == nil:
		e.State, e.CreatedBy, e.UserID = record.ExportDraft, c.Principal.Actor(), c.Principal.UserID
	case e.State != record.ExportDraft:
		return fault.Newf(fault.InvalidRequest, "only a draft can be changed; this export is in the state %s, so create another one", e.State)
	}
	f, err := record.ReadExportFilters(ch.Sent["filters"])
	if err != nil {
		return err
	}
	e.Filters = f
	if err := deniedField(ctx, c, e.Fields); err != nil {
		return err
	}
	if f.Workspace == "" {
		return nil
	}
	workspace, err := findExportWorkspace(ctx, c, f.Workspace)
	if err == nil && workspace.ID != ch.New.WorkspaceID {
		err = fault.New(fault.InvalidParameter, "the export belongs to another workspace").WithParam("filters.workspace_slug")
	}
	return err
}

// receiveExport responds with the number of rows that match now and that the caller may see.
func (k exports) receiveExport(ctx context.Context, c *resource.Call, ch *resource.Edit[record.Export]) (any, error) {
	q := ch.New.Value.Filters.Query(c.OrgID, ch.New.WorkspaceID)
	q.Limit, q.Count = 1, true
	if c.Principal.IsLimitedToUserData(ch.New.WorkspaceID) {
		q.UserID = c.Principal.UserID
	}
	page, err := k.Logs.List(ctx, q)
	return exportReceipt{ch.New.ID, page.Total, "export"}, err
}
