package live

import (
	"encoding/json"
	"fmt"
	"maps"

	"sluice/internal/control/resource"
	"sluice/internal/domain/credential"
	"sluice/internal/domain/keys"
	"sluice/internal/domain/tenant"
	"sluice/internal/limits/quota"
)

// carriers are the kinds of records that have limits.
var carriers = []string{keys.Kind, tenant.WorkspaceKind, credential.ProviderKind, credential.VirtualKeyKind, credential.IntegrationKind}

// limitsOf returns the kind under which the limits of records of a kind are stored in parts.
func limitsOf(kind string) string { return "limits of " + kind }

// limitKinds returns the kinds of all limits.
func limitKinds() (kinds []string) {
	for _, kind := range carriers {
		kinds = append(kinds, limitsOf(kind))
	}
	return kinds
}

// planRef identifies the subject of a plan: a record, or an integration in a workspace.
type planRef struct{ kind, id, workspaceID string }

// namedPlan is a plan with its subject. The limits in parts are lists of them.
type namedPlan struct {
	planRef
	plan *quota.Plan
}

// planLeaves is the number of shards of a planIndex.
const planLeaves = 256

// planIndex maps subjects to plans. As with keyIndex, an updated copy shares unchanged shards.
// The zero value is empty.
type planIndex [planLeaves]map[planRef]*quota.Plan

func planLeaf(id string) int {
	h := uint32(0)
	for i := range len(id) {
		h = h*31 + uint32(id[i])
	}
	return int(h % planLeaves)
}

// Limits returns the limits of a key, workspace, provider or virtual key by the kind and id of
// its record. Without limits the plan is empty, never nil.
func (s *Snapshot) Limits(kind, id string) *quota.Plan { return s.plan(planRef{kind: kind, id: id}) }

// IntegrationLimits returns the limits of an integration in one workspace.
func (s *Snapshot) IntegrationLimits(integration, workspace string) *quota.Plan {
	return s.plan(planRef{quota.IntegrationWorkspace, integration, workspace})
}

func (s *Snapshot) plan(r planRef) *quota.Plan {
	if s.plans == nil {
		return quota.NoPlan()
	}
	if p := s.plans[planLeaf(r.id)][r]; p != nil {
		return p
	}
	return quota.NoPlan()
}

// addLimits builds the planIndex from all limits or, given changed parts, from the old one.
func (p parts) addLimits(s *Snapshot, t changedParts) {
	index, copied := new(planIndex), [planLeaves]bool{}
	if t != nil && s.plans != nil {
		*index = *s.plans
	}
	writable := func(r planRef) map[planRef]*quota.Plan {
		i := planLeaf(r.id)
		if !copied[i] {
			copied[i] = true
			if index[i] = maps.Clone(index[i]); index[i] == nil {
				index[i] = make(map[planRef]*quota.Plan)
			}
		}
		return index[i]
	}
	put := func(v any) {
		list, _ := v.([]namedPlan) // nil if the record was deleted
		for _, one := range list {
			writable(one.planRef)[one.planRef] = one.plan
		}
	}
	for _, kind := range carriers {
		kind = limitsOf(kind)
		if t == nil {
			for _, v := range p[kind] {
				put(v)
			}
			continue
		}
		for id, was := range t[kind] {
			list, _ := was.([]namedPlan) // nil if the record is new
			for _, one := range list {
				delete(writable(one.planRef), one.planRef)
			}
			put(p[kind][id])
		}
	}
	s.plans = index
}

// plansOf returns the plans of a record that was decoded as v.
func (d *Directory) plansOf(r resource.Record, v any) ([]namedPlan, error) {
	subject := quota.Subject{Kind: r.Kind, ID: r.ID, OrgID: r.OrgID, WorkspaceID: r.WorkspaceID}
	switch v := v.(type) {
	case *keys.Entry:
		return d.planOf(nil, subject, r, v.Key.UsageLimits, v.Key.RateLimits)
	case *workspace:
		return d.planOf(nil, subject, r, v.UsageLimits, v.RateLimits)
	case *savedProvider:
		return d.planOf(nil, subject, r, v.limits.UsageLimits, v.limits.RateLimits)
	case *virtualKey:
		return d.planOf(nil, subject, r, v.limits.UsageLimits, v.limits.RateLimits)
	case *integration:
		return d.workspacePlans(subject, r, v.limits)
	}
	return nil, nil
}

func (d *Directory) workspacePlans(subject quota.Subject, r resource.Record, limits map[string]credential.WorkspaceLimits) (list []namedPlan, err error) {
	subject.Kind = quota.IntegrationWorkspace
	for workspaceID, l := range limits {
		subject.WorkspaceID = workspaceID
		if list, err = d.planOf(list, subject, r, l.UsageLimits, l.RateLimits); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// planOf appends the plan of stored limits, if there are any.
func (d *Directory) planOf(list []namedPlan, subject quota.Subject, r resource.Record, budgets, rates json.RawMessage) ([]namedPlan, error) {
	if len(budgets) == 0 && len(rates) == 0 {
		return list, nil
	}
	l, err := quota.StoredLimits(budgets, rates)
	if err != nil {
		return nil, fmt.Errorf("read limits: %w", err)
	}
	if d.counted.NoBudgets {
		l.Budgets = nil
	}
	name := r.ShownSlug()
	if name == "" {
		name = r.Name
	}
	ref := planRef{kind: subject.Kind, id: subject.ID}
	if subject.Kind == quota.IntegrationWorkspace {
		ref.workspaceID = subject.WorkspaceID
	}
	return append(list, namedPlan{ref, quota.NewPlan(subject, name, l)}), nil
}
