package logs

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"sluice/internal/control/directory"
	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/control/sweep"
	"sluice/internal/domain/audit"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
)

// AuditTrail reads the audit trail: *sqlstore.Store.
type AuditTrail interface {
	audit.Source
	// AuditRows returns a page of rows, newest first, and the total number of rows.
	AuditRows(ctx context.Context, q audit.Query) ([]audit.Row, int, error)
}

var auditScopes = []access.Scope{"audit_logs.list"}

// routes returns the routes that read the audit trail. They are not a Kind, because calls about
// audit rows never write them.
// Source: contract/identity-and-governance.yaml, GET /audit-logs; the export and the key are
// ours.
func (k auditLogs) routes() resource.Resource {
	op := func(path, id, summary string, query []resource.Param, run func(context.Context, *resource.Call) (any, error)) resource.Operation {
		return resource.Operation{
			Method: http.MethodGet, Path: "/audit-logs" + path, ID: id, Summary: summary, Tag: "Audit log", Feature: sweep.AuditFeature,
			Scopes: auditScopes, Query: query, AnyWorkspace: true, Run: run,
		}
	}
	list := op("", "listAuditLogs", "List administrative actions in a time range, newest first", auditFilters(), k.listAuditLogs)
	list.Response = auditList{}
	export := op("/export", "exportAuditLogs", "Export the audit trail with its checkpoints as JSON lines for offline verification", auditRange(), k.exportAuditLogs)
	export.Stream = "application/x-ndjson"
	key := op("/public-key", "getAuditPublicKey", "Get the public key that verifies checkpoints and exports of the audit trail", nil, k.auditPublicKey)
	key.Response = auditKey{}
	return resource.Operations{list, export, key}
}

var organisationParam = resource.Param{Name: "organisation_id", Format: "uuid", Doc: "Organisation of the caller; optional"}

func auditFilters() []resource.Param {
	return []resource.Param{
		{Name: "start_time", Format: "date-time", Required: true, Doc: "inclusive"},
		{Name: "end_time", Format: "date-time", Required: true, Doc: "exclusive"},
		organisationParam,
		{Name: "method", Enum: []string{"POST", "PUT", "DELETE"}},
		{Name: "uri", Doc: "part of the path"},
		{Name: "search", Doc: "part of the path, the action or the resource type", MaxLength: 255},
		{Name: "request_id"},
		{Name: "user_id", Doc: "id of the user or API key"},
		{Name: "user_type", Enum: []string{resource.ActorUser, resource.ActorKey, resource.ActorSystem}},
		{Name: "workspace_id", Doc: "Id of a workspace, including deleted ones, or slug of an existing one"},
		{Name: "response_status_code", Type: "integer", Min: 100, Max: 599},
		{Name: "resource_type", Doc: "policies, configs, …"},
		{Name: "action", Doc: "create, update, delete, …"},
		{Name: "client_ip"},
		{Name: "country", Doc: "Not recorded by this gateway; matches no rows"},
		{Name: "current_page", Doc: "Page number, starting at 0", Type: "integer", Default: "0", Max: 1_000_000},
		{Name: "page_size", Doc: "Rows per page; 0 means the default", Type: "integer", Default: "50", Max: 100},
	}
}

func auditRange() []resource.Param {
	return []resource.Param{
		{Name: "start_time", Format: "date-time", Doc: "Inclusive; omit for the complete trail"},
		{Name: "end_time", Format: "date-time", Doc: "exclusive"},
		organisationParam,
	}
}

// auditList is a page of the audit trail.
type auditList struct {
	Object  string        `json:"object" enum:"analytics-graph"`
	Total   int           `json:"total" doc:"Number of all matching rows"`
	Records []auditRecord `json:"records" nullable:"false"`
}

// auditRecord is an audit row as the interface shows it.
// Source: contract/identity-and-governance.yaml, AuditRecord; the fields after country are ours.
type auditRecord struct {
	Timestamp   string `json:"timestamp" format:"date-time"`
	Method      string `json:"method"`
	URI         string `json:"uri"`
	RequestID   string `json:"request_id"`
	RequestBody string `json:"request_body" doc:"JSON text with masked secrets"`
	QueryParams string `json:"query_params" doc:"JSON text with masked secrets"`
	Headers     string `json:"request_headers" doc:"JSON text of the stored headers, with masked credentials"`
	UserID      string `json:"user_id" doc:"Id of the user, or of the API key when user_type is api_key"`
	UserType    string `json:"user_type" enum:"user,api_key,system"`
	OrgID       string `json:"organisation_id"`
	WorkspaceID string `json:"workspace_id"`
	Status      int    `json:"response_status_code"`
	Resource    string `json:"resource_type"`
	Action      string `json:"action"`
	ClientIP    string `json:"client_ip"`
	Country     string `json:"country" doc:"Always empty: addresses are not resolved"`

	UserName      string `json:"user_name" doc:"Present name of the user or API key; empty when unknown"`
	UserEmail     string `json:"user_email" doc:"Email address of the user, or of the user that the key belongs to"`
	WorkspaceName string `json:"workspace_name"`
	OrgName       string `json:"organisation_name"`

	ID       string          `json:"id" format:"uuid"`
	Seq      int64           `json:"seq" doc:"Position in the chain of the organisation, from 1"`
	Hash     string          `json:"hash" doc:"SHA-256 of the previous hash and the row"`
	TargetID string          `json:"target_id" doc:"Id of the affected record"`
	Notes    json.RawMessage `json:"notes,omitempty" doc:"Additional facts, as an object"`
	Error    string          `json:"error,omitempty" doc:"Reason for the rejection of the call"`
}

func viewAudit(r *audit.Row) auditRecord {
	v := auditRecord{
		Timestamp: r.Timestamp, Method: r.Method, URI: r.URI, RequestID: r.RequestID, UserID: r.ActorID, UserType: r.ActorKind,
		OrgID: r.OrgID, WorkspaceID: r.WorkspaceID, Status: r.Status, Resource: r.Resource, Action: r.Action, ClientIP: r.ClientIP,
		ID: r.ID, Seq: r.Seq, Hash: r.Hash, TargetID: r.TargetID,
	}
	var parts struct {
		Query, Headers, Request, Notes json.RawMessage
		Error                          string
	}
	_ = json.Unmarshal([]byte(r.Details), &parts) // the stored text may have been tampered with; unreadable parts are not shown
	v.QueryParams, v.Headers, v.RequestBody = string(parts.Query), string(parts.Headers), string(parts.Request)
	v.Notes, v.Error = parts.Notes, parts.Error
	return v
}

func (k auditLogs) listAuditLogs(ctx context.Context, c *resource.Call) (any, error) {
	q, err := auditQuery(ctx, c)
	if err != nil {
		return nil, err
	}
	out := auditList{Object: "analytics-graph", Records: []auditRecord{}}
	if c.Query("country") != "" {
		return out, nil
	}
	rows, total, err := k.Audit.AuditRows(ctx, q)
	if err != nil {
		return nil, err
	}
	out.Total = total
	for i := range rows {
		out.Records = append(out.Records, viewAudit(&rows[i]))
	}
	return out, nameAudit(ctx, c, out.Records)
}

func auditQuery(ctx context.Context, c *resource.Call) (q audit.Query, err error) {
	if err := mayAudit(c); err != nil {
		return q, err
	}
	q = audit.Query{
		OrgID: c.OrgID, From: jsonfield.ParseTime(c.Query("start_time")), To: jsonfield.ParseTime(c.Query("end_time")), Method: c.Query("method"), URI: c.Query("uri"), Search: c.Query("search"),
		RequestID: c.Query("request_id"), ActorID: c.Query("user_id"), ActorKind: c.Query("user_type"), WorkspaceID: c.Query("workspace_id"),
		Status: c.Int("response_status_code"), Resource: c.Query("resource_type"), Action: c.Query("action"), ClientIP: c.Query("client_ip"),
		Limit: c.Int("page_size"),
	}
	if q.Limit == 0 {
		q.Limit = 50
	}
	q.Offset = c.Int("current_page") * q.Limit
	if q.WorkspaceID != "" {
		if r, err := directory.FindWorkspace(ctx, c.Reader, c.OrgID, q.WorkspaceID); err == nil {
			q.WorkspaceID = r.ID
		} else if !fault.Has(err, fault.NotFound) {
			return q, err
		}
	}
	return q, inOrder(q.From, q.To)
}

// mayAudit requires the scope on the organisation, because the trail does not belong to a
// workspace.
func mayAudit(c *resource.Call) error {
	if id := c.Query("organisation_id"); id != "" {
		if err := c.RequireOrganisation(id, "organisation_id"); err != nil {
			return err
		}
	}
	return c.May(auditScopes, access.Target{OrgID: c.OrgID})
}

func inOrder(from, to time.Time) error {
	if !to.IsZero() && !from.Before(to) {
		return fault.New(fault.InvalidParameter, "must be after the start").WithParam("end_time")
	}
	return nil
}
