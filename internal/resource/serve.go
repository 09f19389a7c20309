package resource

import (
	"cmp"
	"context"
	"net/http"

	"sluice/internal/access"
	"sluice/internal/fault"
	"sluice/internal/ident"
)

// serve is the life of every administrative request: identify, rate, feature flag,
// scope, body, workspace, schema; then the operation, which loads, decides and
// writes; then the answer. A step that fails ends it, and the trail has it before it is
// answered; of public operations afterwards.
func (e *Engine) serve(w http.ResponseWriter, r *http.Request, op *Operation, body *schema) {
	ctx := r.Context()
	c := &Call{engine: e, op: op, r: r, RequestID: ident.NewID(), Now: e.Clock.Now(), Reader: newRecall(e.Store), schema: body}
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
	if c.op.Many == 0 { // what is left is the body as it came, and Run may wait for others
		c.releaseBody()
	}
	return c.op.Run(ctx, c)
}

// identify finds out who calls, and counts the call for them.
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
		return err // before the call is anybody's: a flood leaves no rows in the trail
	}
	c.Principal, c.OrgID = p, p.OrgID
	return nil
}

// Reauthorize judges the caller of a long call again, as if it came now: who calls, what they may,
// and whether the workspace is still there. What the Reader knew is forgotten. An error is
// the refusal that the call would meet.
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

// allowed checks the deployment's flags and that the caller holds a scope of the
// operation. Where the thing lies is checked when it is known.
func (e *Engine) allowed(c *Call) error {
	for _, f := range []string{featureAPI, c.op.Feature} {
		if enabled, set := e.Features[f]; set && !enabled {
			return fault.Newf(fault.FeatureOff, "disabled on this deployment (%s)", f)
		}
	}
	if c.op.Public {
		return nil
	}
	return c.anyOf(c.op.Scopes, func(s access.Scope) error {
		if c.Principal.WorkspaceID == "" {
			return access.CanSomewhere(c.Principal, s)
		}
		return access.Can(c.Principal, s, access.Target{OrgID: c.OrgID, WorkspaceID: c.Principal.WorkspaceID})
	})
}

// resolveWorkspace settles which workspace the call is about. A workspace key has its own,
// and may name no other; an Admin key names one by id or slug, in the query of a
// GET or DELETE and in the body of a POST or PUT.
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

// ErrForeignWorkspace is the fault.NotFound of a workspace that does not exist and of one that the
// caller cannot see, so that the response does not reveal which of the two it is. At is the
// field or placeholder that names it, such as "workspace_id".
func ErrForeignWorkspace(path string) error {
	return fault.New(fault.NotFound, "the workspace does not exist").WithParam(path)
}

// RequireOrganisation is fault.NotFound for an id that is not that of the caller's
// organisation, whether or not another one has it. At is the field that holds the id.
func (c *Call) RequireOrganisation(id, path string) error {
	if id != c.OrgID {
		return fault.New(fault.NotFound, "the organisation does not exist").WithParam(path)
	}
	return nil
}

// recheckPermissions decides anew for callers whose rights are those of a person, now that the
// workspace is known: in each of theirs a user may be something else. Who belongs to
// some workspaces only must name one, except where the record that the path names
// settles it.
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

// oneSlug is the workspace that a parameter names by its slug; where the parameter may
// be there several times it selects, and names none.
func (c *Call) oneSlug() string {
	for _, p := range c.op.Query {
		if p.Name == "workspace_slug" && p.Repeated {
			return ""
		}
	}
	return c.query["workspace_slug"]
}

// RequireWorkspace fails unless the call names a workspace.
func (c *Call) RequireWorkspace() error {
	if c.WorkspaceID == "" {
		return fault.New(fault.InvalidParameter, "is required; send the id or slug of a workspace").WithParam("workspace_id")
	}
	return nil
}
