package admin

import (
	"slices"

	"sluice/internal/access"
	"sluice/internal/fault"
	"sluice/internal/keys"
	"sluice/internal/resource"
)

// checkKeyScopes checks the scopes of a key: each must exist, be one that the type may hold,
// and be the caller's to give.
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

// checkGrantableScope refuses to put a scope into a key whose value the caller gets: whoever has the
// value can use it, and nobody gains by a key what they have not got. It must be held
// where the key counts, unless no key of the caller's type may hold it: an Admin key makes
// the keys that send model traffic. And what binds the role of a person binds neither
// the keys of nobody nor those of others.
func checkGrantableScope(c *resource.Call, r *resource.Row[keys.Key], s access.Scope) error {
	p := c.Principal
	ofType, _ := access.MayHold(p.KeyType, string(s))
	if (ofType || p.Kind != access.ByKey) && access.Can(p, s, access.Target{OrgID: r.OrgID, WorkspaceID: r.WorkspaceID}) != nil {
		return fault.Newf(fault.Forbidden, "you do not have the scope %s and cannot grant it", s).WithParam("scopes")
	}
	if !isCallerKey(c, r) && p.HasPartialScope(s, r.WorkspaceID) {
		return fault.Newf(fault.Forbidden, "your role restricts the scope %s; you cannot grant it without restriction to another key", s).WithParam("scopes")
	}
	return nil
}

// mayHave refuses to show the value of a key that exists to somebody who would gain by
// it. With a key of their own people can do no more than without.
func mayHave(c *resource.Call, r *resource.Row[keys.Key]) error {
	if isCallerKey(c, r) {
		return nil
	}
	if outlives(r.Value.ExpiresAt, c.Principal.Expires) {
		return fault.Newf(fault.Forbidden, "this key would outlive your API key, which expires at %s; sign in, or use a longer-lived key", forPeople(c.Principal.Expires)).WithParam("id")
	}
	for _, s := range r.Value.Scopes {
		if err := checkGrantableScope(c, r, access.Scope(s)); err != nil {
			return fault.Newf(fault.Forbidden, "this key would have more rights than you have: %s", fault.From(err).Text()).WithParam("id")
		}
	}
	return nil
}

// isCallerKey reports whether a key is a user key of the caller's user.
func isCallerKey(c *resource.Call, r *resource.Row[keys.Key]) bool {
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
