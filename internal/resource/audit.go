package resource

import (
	"cmp"
	"context"
	"encoding/json"
	"net"
	"strings"

	"sluice/internal/access"
	"sluice/internal/fault"
	"sluice/internal/ident"
)

// The kinds of actor in the audit trail.
// Source: contract/identity-and-governance.yaml, AuditRecord.user_type.
const (
	actorKey  = "api_key"
	actorUser = "user"
)

// auditBody is the JSON of an audit row beyond its columns.
type auditBody struct {
	Query   map[string]string `json:"query,omitempty"`
	Request json.RawMessage   `json:"request,omitempty"` // secrets masked
	Notes   map[string]any    `json:"notes,omitempty"`
	Error   string            `json:"error,omitempty"` // public text of the refusal
}

// audit adds the row of a call to the trail.
func (e *Engine) audit(ctx context.Context, tx Tx, c *Call, status int) error {
	row, err := e.auditRow(c, status, "")
	if err != nil || row == nil {
		return err
	}
	return tx.Audit(ctx, *row)
}

// auditFailure adds the row of a call that was refused, in a transaction of its own.
// Only callers who were identified leave one, and only of what would have been a
// write. The refusal stands whether or not the trail can be written.
func (e *Engine) auditFailure(ctx context.Context, c *Call, f *fault.Error) {
	if c.Principal == nil || f.Code == fault.ReadOnly {
		return
	}
	row, err := e.auditRow(c, f.HTTPStatus(), f.Text())
	if err == nil && row != nil {
		err = e.Store.InTx(ctx, func(tx Tx) error { return tx.Audit(ctx, *row) })
	}
	if err != nil {
		e.Log.Warn("a refused action is missing in the audit trail", "request_id", c.RequestID, "error", err.Error())
	}
}

// auditRow is nil for what leaves no row: reads, and everything when the trail is
// switched off.
func (e *Engine) auditRow(c *Call, status int, refusal string) (*AuditRow, error) {
	if on, set := e.Features[featureAudit]; c.op.Audited == "" || set && !on {
		return nil, nil
	}
	request, err := json.Marshal(mask(c.Sent))
	if err != nil {
		return nil, err
	}
	body := auditBody{Query: c.asked(), Request: request, Notes: c.trail.notes, Error: refusal}
	if c.Sent == nil {
		body.Request = nil
	}
	encoded, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	id, kind := c.Principal.ID, actorKey
	if c.Principal.Kind != access.ByKey {
		kind = actorUser
	}
	place := cmp.Or(c.trail.workspaceID, c.WorkspaceID, c.Principal.WorkspaceID)
	path, _, _ := strings.Cut(c.r.RequestURI, "?")
	return &AuditRow{
		ID: ident.NewID(), OrgID: c.OrgID, WorkspaceID: place, ActorID: id, ActorKind: kind,
		Action: c.op.Action, Kind: c.op.Audited, TargetID: c.trail.targetID, At: c.Now, RemoteIP: remote(c.r.RemoteAddr),
		Method: c.r.Method, Path: path, RequestID: c.RequestID, Status: status, Body: encoded,
	}, nil
}

// asked are the query parameters that were sent.
func (c *Call) asked() map[string]string {
	m := make(map[string]string)
	for name, v := range c.query {
		if c.r.URL.Query().Get(name) != "" {
			m[name] = v
		}
	}
	return m
}

func remote(addr string) string {
	if host, _, err := net.SplitHostPort(addr); err == nil {
		return host
	}
	return addr
}
