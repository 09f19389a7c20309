package live_test

import (
	"slices"
	"testing"

	"sluice/internal/control/resource"
	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/tenant"
	"sluice/internal/kernel/ident"
)

// A snapshot has the guardrails of each workspace and of its organisation, and the defaults that run
// on each call.
func TestGuardrails_AreFoundByTheirWorkspaceAndRunByDefault(t *testing.T) {
	t.Parallel()
	p := newPlane(t)
	p.write(resource.Record{Kind: tenant.OrganisationKind, ID: org, Slug: "o", Name: "o", Status: "active"}, tenant.Organisation{Defaults: tenant.OrgDefaults{InputGuardrails: []string{"pg-org"}}})
	p.write(resource.Record{Kind: tenant.WorkspaceKind, ID: workspaceID, OrgID: org, Slug: "ws", Name: "ws", Status: "active"}, tenant.Workspace{Name: "ws", Defaults: tenant.Defaults{OutputGuardrails: []string{"pg-own"}}})
	add := func(slug, workspace string, deny bool) string {
		id := ident.NewID()
		p.write(resource.Record{Kind: guardrail.Kind, ID: id, OrgID: org, WorkspaceID: workspace, Slug: slug, Name: slug, Status: "active"}, p.sealedGuardrail(id, deny))
		return id
	}
	native := add("pg-own", workspaceID, true)
	add("pg-elsewhere", ident.NewID(), true)
	if err := p.dir.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	current := p.dir.Current()
	for _, name := range []string{"pg-own", native} {
		g := current.FindGuardrail(workspaceID, name)
		if g == nil || g.Slug != "pg-own" || !g.Actions.Deny || len(g.Checks) != 1 || g.VersionID == "" {
			t.Errorf("%s: %+v", name, g)
		}
	}
	for _, name := range []string{"pg-elsewhere", "pg-org", "pg-nowhere"} {
		if g := current.FindGuardrail(workspaceID, name); g != nil {
			t.Errorf("%s: %+v", name, g)
		}
	}
	s := current.FindWorkspace(workspaceID)
	if !slices.Equal(s.InputGuardrails, []string{"pg-org"}) || !slices.Equal(s.OutputGuardrails, []string{"pg-own"}) {
		t.Errorf("input %q, output %q", s.InputGuardrails, s.OutputGuardrails)
	}
	add("pg-org", "", true)
	if err := p.dir.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if g := p.dir.Current().FindGuardrail(workspaceID, "pg-org"); g == nil || g.Slug != "pg-org" {
		t.Errorf("guardrail of the organisation: %+v", g)
	}
}

// sealedGuardrail returns a stored guardrail with one check.
func (p *plane) sealedGuardrail(id string, deny bool) guardrail.Guardrail {
	p.t.Helper()
	g := guardrail.Guardrail{Actions: guardrail.Actions{Deny: deny}}
	if err := g.Seal(p.box, id, []byte(`[{"id":"default.notNull"}]`)); err != nil {
		p.t.Fatal(err)
	}
	return g
}
