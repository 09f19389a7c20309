package resource

import (
	"cmp"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"time"

	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/sealed"
)

// audit adds the row of a call to the audit trail.
func (e *Engine) audit(ctx context.Context, tx Tx, c *Call, status int) error {
	row, err := e.auditRow(c, status, "")
	if err != nil || row == nil {
		return err
	}
	return tx.Audit(ctx, *row)
}

// trailTime is the maximum time to write the row of a rejected call.
const trailTime = 10 * time.Second

// auditFailure adds the row of a rejected call in a separate transaction. A client that
// disconnects does not cancel it. Only identified callers leave a row, and only for calls that
// would have been writes. The call is rejected even if the trail cannot be written.
func (e *Engine) auditFailure(ctx context.Context, c *Call, f *fault.Error) {
	if c.Principal == nil || f.Code == fault.ReadOnly {
		return
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), trailTime)
	defer stop()
	row, err := e.auditRow(c, f.HTTPStatus(), f.Text())
	if err == nil && row != nil {
		err = e.Store.InTx(ctx, func(tx Tx) error { return tx.Audit(ctx, *row) })
	}
	if err != nil {
		e.Log.Warn("cannot audit rejected action", "request_id", c.RequestID, "error", err.Error())
	}
}

// auditRow returns nil for calls that leave no row: reads, and every call when the trail is
// disabled.
func (e *Engine) auditRow(c *Call, status int, refusal string) (*AuditRow, error) {
	if enabled, set := e.Features[featureAudit]; c.op.Audited == "" || set && !enabled {
		return nil, nil
	}
	details := AuditDetails{Query: c.auditQuery(), Headers: auditHeaders(c.r.Header), Notes: c.trail.notes, Error: sealed.Prose(refusal)}
	if body := c.maskedBody(); body != nil {
		request, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		details.Request = request
	}
	body, err := details.Body()
	if err != nil {
		return nil, err
	}
	kind := ActorKey
	if c.Principal.Kind != access.ByKey {
		kind = ActorUser
	}
	workspaceID := cmp.Or(c.trail.workspaceID, c.WorkspaceID, c.Principal.WorkspaceID)
	path, _, _ := strings.Cut(c.r.RequestURI, "?")
	return &AuditRow{
		ID: ident.NewID(), OrgID: c.OrgID, WorkspaceID: workspaceID, ActorID: c.Principal.Actor(), ActorKind: kind,
		Action: c.op.Action, Kind: c.op.Audited, TargetID: c.trail.targetID, CreatedAt: c.Now, RemoteIP: e.client(c.r),
		Method: c.r.Method, Path: e.ShownPath(c.r.Method, path), RequestID: c.RequestID, Status: status, Body: body,
	}, nil
}

// client returns the address of the caller without the port.
func (e *Engine) client(r *http.Request) string {
	return e.Proxies.Client(remote(r.RemoteAddr), r.Header.Values("X-Forwarded-For")...)
}

func remote(addr string) string {
	if host, _, err := net.SplitHostPort(addr); err == nil {
		return host
	}
	return addr
}
