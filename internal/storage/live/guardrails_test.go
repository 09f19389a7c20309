package live_test

import (
	"testing"

	"sluice/internal/control/resource"
	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/tenant"
	"sluice/internal/kernel/ident"
)

// The snapshot knows which guardrails stop calls and where they run by default.
func TestGuardrailsThatStopCalls(t *testing.T) {
	t.Parallel()
	p := newPlane(t)
	p.write(resource.Record{Kind: tenant.OrganisationKind, ID: org, Slug: "o", Name: "o", Status: "active"}, tenant.Organisation{Defaults: tenant.OrgDefaults{InputGuardrails: []string{"pg-org"}}})
	p.write(resource.Record{Kind: tenant.WorkspaceKind, ID: workspaceID, OrgID: org, Slug: "ws", Name: "ws", Status: "active"}, tenant.Workspace{Name: "ws"})
	add := func(slug, workspace string, deny bool) {
		p.write(resource.Record{Kind: guardrail.Kind, ID: ident.NewID(), OrgID: org, WorkspaceID: workspace, Slug: slug, Name: slug, Status: "active"}, guardrail.Guardrail{Actions: guardrail.Actions{Deny: deny}})
	}
	add("pg-own", workspaceID, true)
	add("pg-soft", workspaceID, false)
	add("pg-elsewhere", ident.NewID(), true)
	if err := p.dir.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	s := p.dir.Current().FindWorkspace(workspaceID)
	if s.Guardrails["pg-own"] != "pg-own" || s.Guardrails["pg-soft"] != "pg-soft" || s.Guardrails["pg-elsewhere"] != "" {
		t.Errorf("guardrails %+v", s.Guardrails)
	}
	if s.Denying["pg-own"] != "pg-own" || s.Denying["pg-soft"] != "" || s.Denying["pg-elsewhere"] != "" || s.Mandatory != nil {
		t.Errorf("%+v, bound by %+v", s.Denying, s.Mandatory)
	}
	add("pg-org", "", true)
	if err := p.dir.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s = p.dir.Current().FindWorkspace(workspaceID); s.Mandatory == nil || s.Mandatory.Slug != "pg-org" {
		t.Errorf("bound by %+v", s.Mandatory)
	}
}
