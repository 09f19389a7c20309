package access_test

import (
	"slices"
	"testing"

	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
)

func TestCan(t *testing.T) {
	t.Parallel()
	admin := &access.Principal{Kind: access.ByKey, KeyType: access.OrganisationService, OrgID: "o", Scopes: access.NewScopes(access.Allowed(access.OrganisationService)...)}
	service := &access.Principal{Kind: access.ByKey, KeyType: access.WorkspaceService, OrgID: "o", WorkspaceID: "w", Scopes: access.NewScopes("logs.view", "completions.write")}
	owner := &access.Principal{Kind: access.BySession, OrgRole: access.Owner, OrgID: "o"}
	cases := []struct {
		name   string
		p      *access.Principal
		scope  access.Scope
		target access.Target
		ok     bool
	}{
		{"admin key anywhere in its organisation", admin, "logs.view", access.Target{OrgID: "o", WorkspaceID: "any"}, true},
		{"admin key in another organisation", admin, "logs.view", access.Target{OrgID: "p"}, false},
		{"service key in its workspace", service, "logs.view", access.Target{OrgID: "o", WorkspaceID: "w"}, true},
		{"service key in another workspace", service, "logs.view", access.Target{OrgID: "o", WorkspaceID: "v"}, false},
		{"service key on the organisation", service, "logs.view", access.Target{OrgID: "o"}, false},
		{"service key without the scope", service, "logs.list", access.Target{OrgID: "o", WorkspaceID: "w"}, false},
		{"owner's session", owner, "audit_logs.list", access.Target{OrgID: "o"}, true},
		{"owner's session elsewhere", owner, "audit_logs.list", access.Target{OrgID: "p"}, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			err := access.Can(c.p, c.scope, c.target)
			if (err == nil) != c.ok || err != nil && !fault.Has(err, fault.Forbidden) {
				t.Errorf("%v", err)
			}
		})
	}
	if access.CanCall(admin, access.CompletionsWrite) == nil {
		t.Error("an Admin key may send model traffic")
	}
	if err := access.CanCall(service, access.CompletionsWrite); err != nil {
		t.Errorf("a service key may not send model traffic: %v", err)
	}
}

func TestHolders(t *testing.T) {
	t.Parallel()
	cases := []struct {
		t          access.KeyType
		scope      string
		may, known bool
	}{
		{access.OrganisationService, "completions.write", false, true},
		{access.WorkspaceUser, "completions.write", true, true},
		{access.WorkspaceUser, "workspace_user_api_keys.create", false, true},
		{access.WorkspaceService, "workspace_user_api_keys.create", true, true},
		{access.WorkspaceService, "nonsense.create", false, false},
		{access.OrganisationService, "workspaces.create", true, true},
		{access.WorkspaceService, "workspaces.create", false, true},
	}
	for _, c := range cases {
		if may, known := access.MayHold(c.t, c.scope); may != c.may || known != c.known {
			t.Errorf("%s %s: %v %v", c.t, c.scope, may, known)
		}
	}
	for _, kt := range []access.KeyType{access.OrganisationService, access.WorkspaceService, access.WorkspaceUser} {
		if l := access.Allowed(kt); len(slices.Compact(slices.Clone(l))) != len(l) {
			t.Errorf("%s: a scope stands twice", kt)
		}
	}
}
