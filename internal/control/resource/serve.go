package resource

import (
	"cmp"
	"context"
	"net/http"

	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
)

// serve handles every administrative request in the same steps: identify, rate, feature flag,
// scope, body, workspace, schema; then the operation, which loads, decides and writes; then the
// response. The first step that fails ends the request. The error is written to the audit trail
// before the response, and after it for public operations.
func (e *Engine) serve(w http.ResponseWriter, r *http.Request, op *Operation, body *schema) {
	ctx := r.Context()
	c := &Call{engine: e, incomingRequest: incomingRequest{op: op, r: r}, RequestID: ident.NewID(), Now: e.Clock.Now(), Reader: newRecall(e.Store), schema: body}
	response, err := e.run(ctx, c, body)
	if err != nil && !op.Public {
		e.auditFailure(ctx, c, fault.From(err))
	}
	e.respond(ctx, w, c, response, err)
	if err != nil && op.Public {
		e.auditAfterwards(ctx, w, c, fault.From(err))
	}
}

func (e *Engine) run(ctx context.Context, c *Call, body *schema) (any, error) {
	defer c.releaseBody()
	steps := [...]func() error{
		func() error { return e.identify(c) },
		func() error { return e.allowed(c) },
		c.readHeaders,
		c.readQuery,
		func() error { return c.readBody(ctx, body) },
		func() error { return c.renameCaseVariants(body) },
		func() error { return e.resolveWorkspace(ctx, c) },
		c.recheckPermissions,
		func() error { return c.checkBody(body) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, err
		}
	}
	if c.op.Many == 0 { // the parsed fields stay as they were sent, and Run may wait for other calls
		c.releaseBody()
	}
	return c.op.Run(ctx, c)
}

// identify authenticates the caller and counts the call for it.
func (e *Engine) identify(c *Call) error {
	if c.op.Public {
		return nil
	}
	identify := e.Identify
	if c.op.Identify != nil {
		identify = c.op.Identify
	}
	p, err := identify(c.r)
	if err != nil {
		return err
	}
	if err := e.checkRate(c, p); err != nil {
		return err // before the call has a caller: a flood leaves no rows in the trail
	}
	c.Principal, c.OrgID = p, p.OrgID
	return nil
}

// Reauthorize checks the caller of a long call again, as if the call started now: its identity,
// its permissions, and whether the workspace still exists. It clears the cache of the Reader.
// The error is the one that the call would get.
func (c *Call) Reauthorize(ctx context.Context) error {
	e := c.engine
	c.Reader, c.Now = newRecall(e.Store), e.Clock.Now()
	if !c.op.Public {
		identify := e.Identify
		if c.op.Identify != nil {
			identify = c.op.Identify
		}
		p, err := identify(c.r)
		if err != nil {
			return err
		}
		c.Principal, c.OrgID = p, p.OrgID
	}
	if err := e.allowed(c); err != nil {
		return err
	}
	if err := e.resolveWorkspace(ctx, c); err != nil {
		return err
	}
	return c.recheckPermissions()
}

// allowed checks the feature flags of the deployment and that the caller holds a scope of the
// operation. The workspace of the record is checked once it is known.
func (e *Engine) allowed(c *Call) error {
	for _, f := range []string{featureAPI, c.op.Feature} {
		if enabled, set := e.Features[f]; set && !enabled {
			return fault.Newf(fault.FeatureOff, "disabled on this deployment (%s)", f)
		}
	}
	if c.op.Public {
		return nil
	}
	return anyOf(c.op.Scopes, func(s access.Scope) error {
		if c.Principal.WorkspaceID == "" {
			return access.CanSomewhere(c.Principal, s)
		}
		return access.Can(c.Principal, s, access.Target{OrgID: c.OrgID, WorkspaceID: c.Principal.WorkspaceID})
	})
}

// resolveWorkspace resolves the workspace of the call. A workspace key has its own workspace and
// may not name another one. An Admin key names one by id or slug, in the query of a GET or
// DELETE and in the body of a POST or PUT.
// Source: contract/identity-and-governance.md section 1.
func (e *Engine) resolveWorkspace(ctx context.Context, c *Call) error {
	if c.op.Public {
		return nil
	}
	if org := c.Sent.Text("organisation_id"); org != "" {
		if err := c.RequireOrganisation(org, "organisation_id"); err != nil {
			return err
		}
	}
	if c.op.AnyWorkspace {
		c.WorkspaceID = c.Principal.WorkspaceID
		return nil
	}
	name := cmp.Or(c.query["workspace_id"], c.oneSlug(), c.Sent.Text("workspace_id"))
	callerWorkspace := c.Principal.WorkspaceID
	if name == "" || name == callerWorkspace {
		c.WorkspaceID = callerWorkspace
		return nil
	}
	r, err := e.FindWorkspace(ctx, e.Store, c.OrgID, name)
	missing := fault.Has(err, fault.NotFound)
	if missing && r.Status == Archived && c.op.Archived && c.Principal.IsOrgWide() {
		err, missing = nil, false
	}
	switch {
	case err != nil && !missing:
		return err
	case missing, callerWorkspace != "" && r.ID != callerWorkspace, !c.Principal.IsOrgWide() && !c.Principal.BelongsTo(r.ID):
		return ErrForeignWorkspace("workspace_id")
	}
	c.WorkspaceID = r.ID
	return nil
}

// ErrForeignWorkspace returns the fault.NotFound of a workspace that does not exist or that the
// caller cannot see. The response does not reveal which of the two applies. path is the field or
// placeholder that names the workspace, such as "workspace_id".
func ErrForeignWorkspace(path string) error {
	return fault.New(fault.NotFound, "the workspace does not exist").WithParam(path)
}

// RequireOrganisation returns fault.NotFound if an id is not that of the caller's organisation,
// whether or not another organisation has it. path is the field that contains the id.
func (c *Call) RequireOrganisation(id, path string) error {
	if id != c.OrgID {
		return fault.New(fault.NotFound, "the organisation does not exist").WithParam(path)
	}
	return nil
}

// recheckPermissions checks user callers again, now that the workspace is known, because a user
// may have different rights in each workspace. Users who belong to some workspaces only must
// name one, unless the record in the path determines it.
func (c *Call) recheckPermissions() error {
	switch {
	case c.op.Public || c.Principal.IsOrgWide() || c.Principal.WorkspaceID != "":
		return nil
	case c.WorkspaceID != "":
		return c.May(c.op.Scopes, access.Target{OrgID: c.OrgID, WorkspaceID: c.WorkspaceID})
	case c.op.Anywhere:
		return nil
	}
	return c.RequireWorkspace()
}

// oneSlug returns the workspace that the workspace_slug parameter names. A repeatable parameter
// is a filter and does not name the workspace of the call.
func (in *incomingRequest) oneSlug() string {
	for _, p := range in.op.Query {
		if p.Name == "workspace_slug" && p.Repeated {
			return ""
		}
	}
	return in.query["workspace_slug"]
}

// RequireWorkspace returns an error unless the call names a workspace.
func (c *Call) RequireWorkspace() error {
	if c.WorkspaceID == "" {
		return fault.New(fault.InvalidParameter, "is required; send the id or slug of a workspace").WithParam("workspace_id")
	}
	return nil
}
