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
	workspaceID := cmp.Or(c.trail.targetWorkspaceID, c.WorkspaceID, c.Principal.WorkspaceID)
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

// maxLateAudits is how many errors may be audited at the same time after their responses. Beyond
// that, the call itself writes the row and lasts until that is done.
const maxLateAudits = 64

// auditAfterwards adds the row of a rejected public operation after the response is sent. Only
// calls of known accounts leave a row, so a response delayed by the write would reveal to
// strangers which accounts exist. The next response on the connection would reveal it too, so
// the call does not wait for the row.
func (e *Engine) auditAfterwards(ctx context.Context, w http.ResponseWriter, c *Call, f *fault.Error) {
	_ = http.NewResponseController(w).Flush() // the client may have disconnected; a writer that cannot flush sends when the call ends
	if !e.after.TryAcquire(1) {
		e.auditFailure(ctx, c, f)
		return
	}
	go func() {
		defer e.after.Release(1)
		e.auditFailure(ctx, c, f)
	}()
}

// Await waits until the trail contains the rows of all responses that were sent before their
// row. It is for shutdown, after the program has stopped accepting calls. The error is that of
// ctx.
func (e *Engine) Await(ctx context.Context) error {
	if err := e.after.Acquire(ctx, maxLateAudits); err != nil {
		return err
	}
	e.after.Release(maxLateAudits)
	return nil
}
