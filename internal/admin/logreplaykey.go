package admin

import (
	"context"

	"sluice/internal/access"
	"sluice/internal/fault"
	"sluice/internal/ident"
	"sluice/internal/keys"
	"sluice/internal/record"
	"sluice/internal/resource"
	"sluice/internal/sealed"
)

// needsKey says what a caller is to do whose credential cannot pay.
const needsKey = "send one of the workspace of the log, with the scopes logs.view and completions.write"

// mayReplay refuses callers who cannot replay at all. Model traffic needs a key of a
// workspace, whose limits and budgets hold: an Admin key is none, whatever its scopes. A
// session acts by the role of its user, and names the key that pays.
// Source: contract/identity-and-governance.md section 1.
func mayReplay(c *resource.Call) error {
	named := c.Sent.Text("api_key_id") != ""
	switch p := c.Principal; {
	case p.IsAdminKey():
		return fault.New(fault.Forbidden, "an Admin key cannot send model traffic, and a replay is some: "+needsKey).WithParam("x-gateway-api-key")
	case p.Kind == access.BySession && !named:
		return fault.New(fault.Forbidden, "a replay costs money of an API key, and a session is none: name one of the workspace of the log, a user key of your own, or a service key that you may change; or "+needsKey).WithParam("api_key_id")
	case p.Kind != access.BySession && named:
		return fault.New(fault.InvalidParameter, "the API key that is sent pays for the replay; only who is signed in names another").WithParam("api_key_id")
	}
	return access.CanCall(c.Principal, access.CompletionsWrite)
}

// replayKey is the value of the key with which the replay of an attempt is sent; empty for
// that of the call. A person may use what they could use anyway: their own keys, whose
// values they may read, and service keys that they may change.
func (k deps) replayKey(ctx context.Context, c *resource.Call, a *record.Attempt) (raw sealed.String, err error) {
	id := c.Sent.Text("api_key_id")
	if id == "" {
		return raw, nil
	}
	none := fault.New(fault.InvalidParameter, "there is no such API key in the workspace of the log that you may use: name a user key of your own there, or a service key that you may change").WithParam("api_key_id")
	if !ident.ValidID(id) {
		return raw, none
	}
	rec, err := c.Reader.Find(ctx, keys.Kind, id)
	if fault.Has(err, fault.NotFound) {
		return raw, none
	}
	if err != nil {
		return raw, err
	}
	r, err := resource.Decode[keys.Key](rec)
	if err != nil {
		return raw, err
	}
	if r.OrgID != c.OrgID || r.WorkspaceID != a.WorkspaceID || r.Status == resource.Archived || !mayPayWith(c, r) {
		return raw, none
	}
	if len(r.Value.Secret.Sealed) == 0 {
		return raw, fault.New(fault.InvalidParameter, "the value of this API key is not stored; rotate it, or name another").WithParam("api_key_id")
	}
	plain, err := k.Box.Open(r.Value.Secret.Sealed, keys.Context(r.ID))
	if err != nil {
		return raw, err
	}
	return sealed.New(string(plain)), c.Change(ctx, func(resource.Tx) error { // the log names the key, the trail who used it
		c.Target(r.Record)
		c.Note("replay_of", a.ID)
		return nil
	})
}

func mayPayWith(c *resource.Call, r *resource.Row[keys.Key]) bool {
	if r.Value.Type == access.WorkspaceUser {
		return isCallerKey(c, r)
	}
	return c.May(apiKeyScopes("update", r), access.Target{OrgID: r.OrgID, WorkspaceID: r.WorkspaceID}) == nil
}
