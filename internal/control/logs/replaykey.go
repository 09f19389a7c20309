package logs

import (
	"context"

	"sluice/internal/control/resource"
	"sluice/internal/domain/keys"
	"sluice/internal/domain/record"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/sealed"
)

// needsKey is the hint for callers whose credential cannot pay.
const needsKey = "send an API key of the log's workspace with the scopes logs.view and completions.write"

// mayReplay rejects callers who cannot replay at all. Model traffic needs a key of a workspace,
// whose limits and budgets apply: an Admin key does not belong to one, whatever its scopes. A
// session uses the role of its user, and names the key that pays.
// Source: contract/identity-and-governance.md section 1.
func mayReplay(c *resource.Call) error {
	named := c.Sent.Text("api_key_id") != ""
	switch p := c.Principal; {
	case p.IsAdminKey():
		return fault.New(fault.Forbidden, "a replay is model traffic, which an Admin key cannot send: "+needsKey).WithParam("x-gateway-api-key")
	case p.Kind == access.BySession && !named:
		return fault.New(fault.Forbidden, "a session cannot pay for a replay: send api_key_id with your own user key or a service key you can edit, in the log's workspace; or "+needsKey).WithParam("api_key_id")
	case p.Kind != access.BySession && named:
		return fault.New(fault.InvalidParameter, "the API key of the request pays for the replay; only signed-in users can send api_key_id").WithParam("api_key_id")
	}
	return access.CanCall(c.Principal, access.CompletionsWrite)
}

// replayKey returns the value of the key that sends the replay of an attempt; empty for the key
// of the call. A user may use the keys that they could use anyway: their own keys, whose values
// they may read, and service keys that they may change.
func (k replayer) replayKey(ctx context.Context, c *resource.Call, a *record.Attempt) (raw sealed.String, err error) {
	id := c.Sent.Text("api_key_id")
	if id == "" {
		return raw, nil
	}
	none := fault.New(fault.InvalidParameter, "must be one of your user keys or a service key you can edit, in the log's workspace").WithParam("api_key_id")
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
	if r.OrgID != c.OrgID || r.WorkspaceID != a.WorkspaceID || r.Status == resource.Archived || !k.mayPayWith(c, r) {
		return raw, none
	}
	if len(r.Value.Secret.Sealed) == 0 {
		return raw, fault.New(fault.InvalidParameter, "the value of this API key is not stored; rotate it, or send another key").WithParam("api_key_id")
	}
	plain, err := k.Box.Open(r.Value.Secret.Sealed, keys.Context(r.ID))
	if err != nil {
		return raw, err
	}
	return sealed.New(string(plain)), c.Change(ctx, func(resource.Tx) error { // the log names the key, the trail its user
		c.Target(r.Record)
		c.Note("replay_of", a.ID)
		return nil
	})
}

// mayPayWith reports whether the caller may use a key: their own, or a service key that they may
// change.
func (k replayer) mayPayWith(c *resource.Call, r *resource.Row[keys.Key]) bool {
	if r.Value.Type == access.WorkspaceUser {
		return r.Value.UserID == c.Principal.UserID
	}
	return k.MayEditKey(c, r)
}
