package live_test

import (
	"testing"

	"sluice/internal/control/resource"
	"sluice/internal/domain/keys"
	"sluice/internal/domain/tenant"
	"sluice/internal/kernel/access"
)

// What a user key may do follows its user, their membership and the toggles, each as
// soon as it changes.
func TestRightsOfUserKeysFollow(t *testing.T) {
	t.Parallel()
	p := newPlane(t)
	hash := keys.NewHasher([]byte("pepper")).Sum("sk-1")
	orgRecord := resource.Record{Kind: tenant.OrganisationKind, ID: org, Slug: "default", Name: "Acme", Status: "active"}
	workspace := resource.Record{Kind: tenant.WorkspaceKind, ID: workspaceID, OrgID: org, Slug: "ws", Name: "ws", Status: "active"}
	p.write(orgRecord, tenant.Organisation{Name: "Acme"})
	p.write(workspace, tenant.Workspace{Name: "ws"})
	user := p.put(tenant.UserKind, "", tenant.User{Email: "mia@acme.example", Role: access.Member})
	member := p.put(tenant.MemberKind, "", tenant.Member{UserID: user, Role: access.Member})
	p.put(keys.Kind, "", keys.Key{Type: access.WorkspaceUser, UserID: user, Scopes: []string{"configs.create"}, Secret: keys.Secret{Hash: hash}})
	if err := p.dir.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	may := func(want bool, when string) {
		t.Helper()
		if err := p.dir.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		k := p.dir.Current().FindKey(hash)
		if k == nil {
			t.Fatalf("%s: the key is gone", when)
		}
		if err := access.Can(&k.Principal, "configs.create", access.Target{OrgID: org, WorkspaceID: workspaceID}); (err == nil) != want {
			t.Errorf("%s: %v", when, err)
		}
	}
	may(false, "a member")
	p.write(orgRecord, tenant.Organisation{Name: "Acme", Security: access.Security{"membersWriteConfigs": true}})
	may(true, "a member, with the toggle on")
	p.write(orgRecord, tenant.Organisation{Name: "Acme", Security: access.Security{"membersWriteConfigs": true}, Open: access.Overrides{"configs": true}})
	p.write(workspace, tenant.Workspace{Name: "ws", Security: access.Security{"membersWriteConfigs": false}})
	may(false, "a member, where the workspace differs")
	p.write(resource.Record{Kind: tenant.MemberKind, ID: member, OrgID: org, WorkspaceID: workspaceID, Status: "active"}, tenant.Member{UserID: user, Role: access.Manager})
	may(true, "a manager")
	p.write(resource.Record{Kind: tenant.MemberKind, ID: member, OrgID: org, WorkspaceID: workspaceID, Status: resource.Archived}, tenant.Member{UserID: user, Role: access.Manager})
	may(false, "somebody who left")
	p.write(resource.Record{Kind: tenant.UserKind, ID: user, OrgID: org, WorkspaceID: workspaceID, Status: "active"}, tenant.User{Email: "mia@acme.example", Role: access.Admin})
	may(true, "an admin of the organisation")
}

// What an organisation and a workspace want of requests is in force when either
// changes.
func TestScopesOfWorkspacesFollow(t *testing.T) {
	t.Parallel()
	p := newPlane(t)
	off := 0
	orgRecord := resource.Record{Kind: tenant.OrganisationKind, ID: org, Slug: "default", Name: "Acme", Status: "active"}
	workspace := resource.Record{Kind: tenant.WorkspaceKind, ID: workspaceID, OrgID: org, Slug: "ws", Name: "ws", Status: "active"}
	p.write(orgRecord, tenant.Organisation{Name: "Acme"})
	p.write(workspace, tenant.Workspace{Name: "ws", Settings: tenant.Settings{DebugLog: &off}})
	if err := p.dir.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	scope := func() *tenant.Scope {
		t.Helper()
		if err := p.dir.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		return p.dir.Current().FindWorkspace(workspaceID)
	}
	if s := scope(); s.MetricsOnly || !s.Attributed || !s.Attributes || s.SavedOnly {
		t.Errorf("a workspace that may not differ: %+v", s)
	}
	p.write(orgRecord, tenant.Organisation{Name: "Acme", Open: access.Overrides{tenant.SectionLogging: true}, DataPlane: tenant.DataPlane{BlockInlineConfig: true}})
	if s := scope(); !s.MetricsOnly || !s.SavedOnly {
		t.Errorf("a workspace that may: %+v", s)
	}
	p.write(orgRecord, tenant.Organisation{Name: "Acme", Settings: tenant.Settings{DebugLog: &off}})
	p.write(workspace, tenant.Workspace{Name: "ws"})
	if s := scope(); !s.MetricsOnly || s.SavedOnly {
		t.Errorf("a workspace of an organisation that wants metrics only: %+v", s)
	}
}
