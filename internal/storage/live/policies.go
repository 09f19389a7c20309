package live

import (
	"encoding/json"
	"slices"
	"strings"

	"sluice/internal/control/resource"
	"sluice/internal/limits/quota"
)

// policy is a policy with its workspace. Without a workspace it does not apply to model calls.
type policy struct {
	workspace, id string
	*quota.Policy
}

func decodeUsageLimit(_ *Directory, r resource.Record) (any, error) {
	var p quota.UsageLimit
	if err := json.Unmarshal(r.Body, &p); err != nil {
		return nil, err
	}
	return &policy{r.WorkspaceID, r.ID, p.Compile(r.ID)}, nil
}

func decodeRateLimit(_ *Directory, r resource.Record) (any, error) {
	var p quota.RateLimit
	if err := json.Unmarshal(r.Body, &p); err != nil {
		return nil, err
	}
	if p.Target == quota.Tools {
		return &policy{r.WorkspaceID, r.ID, nil}, nil
	}
	return &policy{r.WorkspaceID, r.ID, p.Compile(r.ID)}, nil
}

// Policies returns the policies of a workspace in the order of their creation, nil if it has
// none. A nil *quota.Policies has no holds.
func (s *Snapshot) Policies(workspace string) *quota.Policies { return s.policies[workspace] }

func (p parts) addPolicies(s *Snapshot, _ changedParts) {
	s.policies = make(map[string]*quota.Policies)
	for _, kind := range []string{quota.UsageLimitKind, quota.RateLimitKind} {
		list := make([]*policy, 0, len(p[kind]))
		for _, v := range p[kind] {
			if one := v.(*policy); one.Policy != nil {
				list = append(list, one)
			}
		}
		slices.SortFunc(list, func(a, b *policy) int { return strings.Compare(a.id, b.id) })
		for _, one := range list {
			wsPolicies := s.policies[one.workspace]
			if wsPolicies == nil {
				wsPolicies = new(quota.Policies)
				s.policies[one.workspace] = wsPolicies
			}
			if kind == quota.UsageLimitKind {
				wsPolicies.Usage = append(wsPolicies.Usage, one.Policy)
			} else {
				wsPolicies.Rates = append(wsPolicies.Rates, one.Policy)
			}
		}
	}
}
