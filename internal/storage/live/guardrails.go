package live

import (
	"encoding/json"
	"fmt"

	"sluice/internal/control/resource"
	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/tenant"
)

// storedGuardrail is a saved guardrail and the place that it belongs to.
type storedGuardrail struct {
	org, workspace string // workspace is empty for a guardrail of the organisation
	saved          guardrail.Saved
}

func decodeGuardrail(d *Directory, r resource.Record) (any, error) {
	var g guardrail.Guardrail
	if err := json.Unmarshal(r.Body, &g); err != nil {
		return nil, err
	}
	checks, err := g.Open(d.box, r.ID)
	if err != nil {
		return nil, fmt.Errorf("decrypt guardrail: %w", err)
	}
	saved := guardrail.Saved{ID: r.ID, Slug: r.ShownSlug(), VersionID: guardrail.VersionID(r.ID, r.Version), Checks: checks, Actions: g.Actions}
	return &storedGuardrail{r.OrgID, r.WorkspaceID, saved}, nil
}

// addGuardrails adds to each workspace its own guardrails and those of its organisation.
func (p parts) addGuardrails(s *Snapshot, _ changedParts) {
	s.guardrails = make(map[ref]*guardrail.Saved, 2*len(p[guardrail.Kind]))
	byOrg := make(map[string][]*guardrail.Saved)
	for _, v := range p[guardrail.Kind] {
		g := v.(*storedGuardrail)
		if g.workspace == "" {
			byOrg[g.org] = append(byOrg[g.org], &g.saved)
			continue
		}
		s.addGuardrail(g.workspace, &g.saved)
	}
	for id, v := range p[tenant.WorkspaceKind] {
		for _, g := range byOrg[v.(*workspace).org] {
			s.addGuardrail(id, g)
		}
	}
}

func (s *Snapshot) addGuardrail(workspace string, g *guardrail.Saved) {
	s.guardrails[ref{workspace, g.ID}], s.guardrails[ref{workspace, g.Slug}] = g, g
}

// FindGuardrail returns a guardrail that calls of a workspace may use, by slug or id: one of the
// workspace or of its organisation. It returns nil if there is none.
func (s *Snapshot) FindGuardrail(workspace, name string) *guardrail.Saved {
	return s.guardrails[ref{workspace, name}]
}
