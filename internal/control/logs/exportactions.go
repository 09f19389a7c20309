package logs

import (
	"context"
	"io"
	"slices"
	"time"

	"sluice/internal/control/directory"
	"sluice/internal/control/resource"
	"sluice/internal/domain/record"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
)

// ExportFiles are the files of log exports, on this node and in the bucket of the log.
type ExportFiles interface {
	// OpenExport opens the file of an export; the caller closes it. It returns fault.NotFound if
	// the file does not exist. Reads from the file use ctx.
	OpenExport(ctx context.Context, id string, run record.ExportRun) (io.ReadSeekCloser, error)
	// Node returns the name of this node.
	Node() string
}

// startExport assigns an export to the node that serves the call.
func (k exports) startExport(ctx context.Context, tx resource.Tx, c *resource.Call, ch *resource.Edit[record.Export]) (any, error) {
	e := &ch.New.Value
	if e.State != record.ExportDraft && e.State != record.ExportFailed {
		return nil, fault.Newf(fault.InvalidRequest, "only a draft or failed export can be started; this one is in the state %s", e.State)
	}
	if err := deniedField(ctx, c, e.Fields); err != nil {
		return nil, err
	}
	node := k.Exports.Node()
	running, err := tx.Count(ctx, resource.Query{
		Kind: record.ExportKind, OrgID: c.OrgID, Statuses: []string{resource.Active}, Index: []resource.IndexEntry{{Name: record.ExportNodeIndex, Value: node}},
	})
	if err != nil {
		return nil, err
	}
	if running >= record.MaxRunningExports {
		return nil, fault.Newf(fault.Conflict, "%d log exports are running; wait for one to finish, or cancel one", running)
	}
	e.State, e.Run = record.ExportRunning, record.ExportRun{ID: ident.NewID(), Node: node, Started: c.Now}
	if c.Principal.IsLimitedToUserData(ch.New.WorkspaceID) {
		e.Run.Only = c.Principal.UserID
	}
	return exportTask{"the export is running; get the export to see its progress", "export"}, nil
}

// cancelExport stops a run. The writer of the file stops before its next part.
func (k exports) cancelExport(_ context.Context, _ resource.Tx, c *resource.Call, ch *resource.Edit[record.Export]) (any, error) {
	e := &ch.New.Value
	if e.State != record.ExportRunning {
		return nil, fault.Newf(fault.InvalidRequest, "only a running export can be stopped; this one is in the state %s", e.State)
	}
	e.State, e.Run.Ended = record.ExportStopped, c.Now
	return exportTask{"the export was stopped", "export"}, nil
}

// deniedField returns fault.Forbidden for fields that the organisation excludes from exports.
// Source: contract/identity-and-governance.yaml, Organisation.export_settings.
func deniedField(ctx context.Context, c *resource.Call, fields []string) error {
	org, err := directory.FindOrganisation(ctx, c)
	if err != nil {
		return err
	}
	for _, name := range fields {
		same := func(denied string) bool { return record.ExportFieldName(denied) == record.ExportFieldName(name) }
		if slices.ContainsFunc(org.Value.Exports.DeniedFields, same) {
			return fault.Newf(fault.Forbidden, "the organisation does not allow exports of %s (export_settings.deniedFields)", name).WithParam("requested_data")
		}
	}
	return nil
}

// mayDownload rejects a download of data that the caller may not have, even if another caller
// started the export: rows of others, and fields that were denied since then.
func mayDownload(ctx context.Context, c *resource.Call, r *resource.Row[record.Export]) error {
	e := &r.Value
	if c.Principal.IsLimitedToUserData(r.WorkspaceID) && e.Run.Only != c.Principal.UserID {
		return fault.New(fault.Forbidden, "the file contains rows of other users that you cannot see; create your own export")
	}
	return deniedField(ctx, c, e.Fields)
}

// ready rejects an export without a file: it is not done, or its file has expired.
func (k exports) ready(r *resource.Row[record.Export], now time.Time) error {
	e := &r.Value
	switch {
	case e.State != record.ExportDone:
		return fault.Newf(fault.InvalidRequest, "only an export in the state success has a file; this one is in the state %s", e.State)
	case !now.Before(e.Run.Ended.Add(k.ExportRetention)):
		return fault.New(fault.NotFound, "the file was deleted after its retention time (LOG_EXPORT_RETENTION_DAYS); create another export")
	case !e.Run.Shared && e.Run.Node != k.Exports.Node():
		return fault.Newf(fault.NotFound, "the file is stored on node %s; request it there", e.Run.Node)
	}
	return nil
}
