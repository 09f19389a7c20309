package access_test

import (
	"encoding/json"
	"slices"
	"testing"

	"sluice/internal/kernel/access"
)

// places of a user who is something in w and nothing elsewhere.
func memberWith(role access.Role, enabled access.Switches) *access.Principal {
	return &access.Principal{Kind: access.BySession, OrgID: "o", UserID: "u", OrgRole: access.Member, Memberships: map[string]access.Membership{"w": {Role: role, Switches: enabled}}}
}

func TestPeople(t *testing.T) {
	t.Parallel()
	usual := access.Effective(nil, nil, nil)
	open := access.Effective(access.Security{"membersWriteConfigs": true, "managersWriteConfigs": false, "managersUpdateWs": false}, nil, nil)
	here, there, org := access.Target{OrgID: "o", WorkspaceID: "w"}, access.Target{OrgID: "o", WorkspaceID: "v"}, access.Target{OrgID: "o"}
	cases := []struct {
		name   string
		p      *access.Principal
		scope  access.Scope
		target access.Target
		ok     bool
	}{
		{"a member reads configs", memberWith(access.Member, usual), "configs.read", here, true},
		{"a member writes none", memberWith(access.Member, usual), "configs.update", here, false},
		{"unless that is open", memberWith(access.Member, open), "configs.update", here, true},
		{"a manager writes configs", memberWith(access.Manager, usual), "configs.update", here, true},
		{"unless that is shut", memberWith(access.Manager, open), "configs.update", here, false},
		{"which binds no workspace admin", memberWith(access.Admin, open), "configs.update", here, true},
		{"nor does it open another workspace", memberWith(access.Admin, usual), "configs.read", there, false},
		{"nor the organisation", memberWith(access.Admin, usual), "organisation_settings.read", org, false},
		{"a workspace admin makes no workspace", memberWith(access.Admin, usual), "workspaces.create", org, false},
		{"a manager changes the workspace", memberWith(access.Manager, usual), "workspaces.update", here, true},
		{"unless that is shut, too", memberWith(access.Manager, open), "workspaces.update", here, false},
		{"a member never makes service keys", memberWith(access.Member, open), "workspace_service_api_keys.create", here, false},
		{"a member lists the organisation's integrations from a workspace", memberWith(access.Member, usual), "organisation_integrations.list", here, true},
		{"and from no other", memberWith(access.Member, usual), "organisation_integrations.list", there, false},
		{"but reads none", memberWith(access.Member, usual), "organisation_integrations.read", org, false},
		{"a member views policies", memberWith(access.Member, usual), "policies.read", here, true},
		{"and writes none", memberWith(access.Member, usual), "policies.create", here, false},
		{"a scope that does not exist opens nothing", memberWith(access.Admin, usual), "nonsense.read", here, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if err := access.Can(c.p, c.scope, c.target); (err == nil) != c.ok {
				t.Error(err)
			}
		})
	}
}

// A user key can do no more than its user, and no more than its scopes.
func TestUserKeys(t *testing.T) {
	t.Parallel()
	p := memberWith(access.Member, access.Effective(nil, nil, nil))
	p.Kind, p.KeyType, p.WorkspaceID = access.ByKey, access.WorkspaceUser, "w"
	p.Scopes = access.NewScopes("configs.read", "configs.update", "completions.write")
	target := access.Target{OrgID: "o", WorkspaceID: "w"}
	for scope, ok := range map[access.Scope]bool{"configs.read": true, "configs.update": false, "configs.list": false} {
		if err := access.Can(p, scope, target); (err == nil) != ok {
			t.Errorf("%s: %v", scope, err)
		}
	}
	if err := access.CanCall(p, access.CompletionsWrite); err != nil {
		t.Error(err)
	}
	p.OrgRole = access.Admin // an admin of the organisation is bound by scopes alone
	if err := access.Can(p, "configs.update", target); err != nil {
		t.Error(err)
	}
	p.OrgRole, p.Memberships = access.Member, nil // and who left the workspace by everything
	if access.Can(p, "configs.read", target) == nil {
		t.Error("the key of somebody who left reads configs")
	}
}

func TestInForce(t *testing.T) {
	t.Parallel()
	const name = "membersWritePrompts" // usually off; section prompts
	cases := []struct {
		org, ws access.Security
		open    access.Overrides
		enabled bool
	}{
		{nil, nil, nil, false},
		{access.Security{name: true}, nil, nil, true},
		{access.Security{name: true}, access.Security{name: false}, nil, true},
		{access.Security{name: true}, access.Security{name: false}, access.Overrides{"prompts": true}, false},
		{nil, access.Security{name: true}, access.Overrides{"prompts": true}, true},
		{nil, access.Security{name: true}, access.Overrides{"configs": true}, false},
	}
	for _, c := range cases {
		effective := access.Effective(c.org, c.open, c.ws)
		if enabled := effective.Map()[name]; enabled != c.enabled {
			t.Errorf("%+v: %v", c, enabled)
		}
		if want, err := json.Marshal(effective.Map()); err != nil || string(effective.JSON()) != string(want) {
			t.Errorf("%+v is shown as %s, want %s, %v", c, effective.JSON(), want, err)
		}
	}
}

// Every scope that a key may hold has a line in the table of people's rights, so that
// none falls to a default that nobody thought about.
func TestEveryScopeHasARule(t *testing.T) {
	t.Parallel()
	admin := memberWith(access.Admin, access.Effective(nil, nil, nil))
	all := slices.Concat(access.Allowed(access.OrganisationService), access.Allowed(access.WorkspaceService), access.Allowed(access.WorkspaceUser))
	for _, s := range all {
		if !access.Ruled(access.Scope(s)) {
			t.Errorf("%s has no rule", s)
		}
	}
	if got := admin.Allowed("w"); !slices.IsSorted(got) || !slices.Contains(got, "configs.create") || slices.Contains(got, "audit_logs.list") {
		t.Errorf("a workspace admin may %v", got)
	}
}

func TestOwnDataOnly(t *testing.T) {
	t.Parallel()
	shut := access.Effective(access.Security{"membersViewAllData": false}, nil, nil)
	for role, want := range map[access.Role]bool{access.Member: true, access.Manager: false, access.Admin: false} {
		if got := memberWith(role, shut).IsLimitedToUserData("w"); got != want {
			t.Errorf("%s: %v", role, got)
		}
	}
	service := &access.Principal{Kind: access.ByKey, KeyType: access.WorkspaceService, WorkspaceID: "w"}
	if service.IsLimitedToUserData("w") {
		t.Error("a service key is nobody, and bound by no toggle")
	}
}

// What a role narrows is narrowed for managers and members, and for nobody above them.
func TestNarrowed(t *testing.T) {
	t.Parallel()
	open := access.Effective(nil, nil, nil)
	blind := access.Effective(access.Security{"managersViewAllData": false}, nil, nil)
	for _, c := range []struct {
		role    access.Role
		enabled access.Switches
		scope   access.Scope
		want    bool
	}{
		{access.Manager, open, "workspace_users.update", true},
		{access.Manager, open, "workspace_users.list", false},
		{access.Manager, open, "workspaces.update", true},
		{access.Manager, open, "logs.view", false},
		{access.Manager, blind, "logs.view", true},
		{access.Manager, blind, "configs.list", false},
		{access.Admin, blind, "logs.view", false},
		{access.Admin, blind, "workspace_users.update", false},
	} {
		if got := memberWith(c.role, c.enabled).HasPartialScope(c.scope, "w"); got != c.want {
			t.Errorf("%s %s: %v", c.role, c.scope, got)
		}
	}
	owner := memberWith(access.Manager, blind)
	owner.OrgRole = access.Owner
	if owner.HasPartialScope("logs.view", "w") || owner.HasPartialScope("workspaces.update", "w") {
		t.Error("an owner of the organisation is narrowed by nothing")
	}
}
