package apikeys

import (
	"slices"

	"sluice/internal/control/outbox"
	"sluice/internal/control/resource"
	"sluice/internal/domain/keys"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
)

// checkKeyScopes checks the scopes of a key. Each must exist, be valid for the type of key, and
// be one that the caller may grant.
func checkKeyScopes(c *resource.Call, r *resource.Row[keys.Key]) error {
	t, scopes := r.Value.Type, r.Value.Scopes
	for _, s := range scopes {
		may, known := access.MayHold(t, s)
		switch {
		case !known:
			return fault.Newf(fault.InvalidParameter, "unknown scope %q", s).WithParam("scopes")
		case !may:
			return fault.Newf(fault.InvalidParameter, "a key of type %s cannot have the scope %s", t, s).WithParam("scopes")
		}
		if err := checkGrantableScope(c, r, access.Scope(s)); err != nil {
			return err
		}
	}
	if i := firstTwice(scopes); i >= 0 {
		return fault.Newf(fault.InvalidParameter, "duplicate scope %s", scopes[i]).WithParam("scopes")
	}
	return nil
}

// checkGrantableScope rejects a scope for a key whose value the caller gets, because a caller
// must not gain rights through a key. The caller must hold the scope where the key counts,
// unless keys of the caller's type can never hold it: an Admin key creates the keys that send
// model traffic. A scope that the caller's role restricts cannot be granted to service keys or
// to keys of other users, because the restriction does not apply there.
func checkGrantableScope(c *resource.Call, r *resource.Row[keys.Key], s access.Scope) error {
	p := c.Principal
	ofType, _ := access.MayHold(p.KeyType, string(s))
	if (ofType || p.Kind != access.ByKey) && access.Can(p, s, access.Target{OrgID: r.OrgID, WorkspaceID: r.WorkspaceID}) != nil {
		return fault.Newf(fault.Forbidden, "you do not have the scope %s and cannot grant it", s).WithParam("scopes")
	}
	if !IsCallerKey(c, r) && p.HasPartialScope(s, r.WorkspaceID) {
		return fault.Newf(fault.Forbidden, "your role restricts the scope %s; you cannot grant it without restriction to another key", s).WithParam("scopes")
	}
	return nil
}

// mayHave rejects showing the value of an existing key to a caller who would gain rights by it.
// A user's own key permits nothing that the user could not do without it.
func mayHave(c *resource.Call, r *resource.Row[keys.Key]) error {
	if IsCallerKey(c, r) {
		return nil
	}
	if outlives(r.Value.ExpiresAt, c.Principal.Expires) {
		return fault.Newf(fault.Forbidden, "this key would outlive your API key, which expires at %s; sign in, or use a longer-lived key", outbox.FormatTime(c.Principal.Expires)).WithParam("id")
	}
	for _, s := range r.Value.Scopes {
		if err := checkGrantableScope(c, r, access.Scope(s)); err != nil {
			return fault.Newf(fault.Forbidden, "this key would have more rights than you have: %s", fault.From(err).Text()).WithParam("id")
		}
	}
	return nil
}

// IsCallerKey reports whether a key is a user key of the caller's user.
func IsCallerKey(c *resource.Call, r *resource.Row[keys.Key]) bool {
	return r.Value.Type == access.WorkspaceUser && r.Value.UserID == c.Principal.UserID
}

func firstTwice(list []string) int {
	for i, v := range list {
		if slices.Contains(list[:i], v) {
			return i
		}
	}
	return -1
}
