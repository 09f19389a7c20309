package limits

import (
	"cmp"
	"context"

	"sluice/internal/control/resource"
	"sluice/internal/limits/quota"
)

// rateLimits are the rate-limit policies: how many requests or tokens the callers that a policy
// applies to may use in a minute, hour, day or week. This file shows all parts of a kind: what
// clients send, what they see, and its definition for the engine. The rules of the body are in
// quota.RateLimit.
// Source: contract/identity-and-governance.yaml, rate-limit policies.
func (k rateLimits) rateLimits() resource.Resource {
	return &resource.Kind[quota.RateLimit, rateLimitView]{
		Name: quota.RateLimitKind, Object: "policy_rate_limits", Title: "rate-limit policy",
		Tag: "Policies", Audited: "policies", Feature: "POLICY_ENABLED",
		Path: "/policies/rate-limits", Param: "rateLimitsPolicyId", ByID: true,
		Perm: "policies", Verbs: resource.AllVerbs, Scope: resource.InWorkspace, Archived: true, Restorable: true,
		Create: rateLimitIn{}, Update: rateLimitPatch{},
		Filters: []resource.Filter{
			{Param: resource.Param{Name: "type", Enum: []string{"requests", "tokens"}}, Index: "type"},
			{Param: resource.Param{Name: "unit", Enum: []string{"rpm", "rph", "rpd", "rpw"}}, Index: "unit"},
		},
		Index: func(r *resource.Row[quota.RateLimit]) []resource.IndexEntry {
			return []resource.IndexEntry{{Name: "type", Value: string(r.Value.Type)}, {Name: "unit", Value: string(r.Value.Unit)}}
		},
		Prepare: k.prepareRateLimit,
		View:    viewRateLimit,
	}
}

// prepareRateLimit checks what the policy cannot check alone: whether the records in its
// conditions exist.
func (k rateLimits) prepareRateLimit(ctx context.Context, c *resource.Call, ch *resource.Edit[quota.RateLimit]) error {
	var before []quota.Condition
	if ch.Old != nil {
		before = ch.Old.Value.Conditions
	}
	return policies(k).checkConditions(ctx, c, ch.New.Record, ch.Sent, before, ch.New.Value.Conditions)
}

// rateLimitIn is the body of a creation.
type rateLimitIn struct {
	PolicyIn
	Type  string `json:"type" enum:"requests,tokens" doc:"Measure of the limit"`
	Unit  string `json:"unit" enum:"rpm,rph,rpd,rpw" doc:"Window: minute, hour, day or week, in UTC"`
	Value int64  `json:"value" minimum:"1" doc:"Maximum in a window"`

	Target string `json:"target,omitempty" enum:"llm,mcp_tools" default:"llm" doc:"Model calls, or tool calls"`
}

// rateLimitPatch is the body of an update: type, target and group_by cannot change.
type rateLimitPatch struct {
	PolicyPatch
	Unit  string `json:"unit,omitempty" enum:"rpm,rph,rpd,rpw"`
	Value int64  `json:"value,omitempty" minimum:"1"`
}

// rateLimitView is a policy as clients see it.
type rateLimitView struct {
	PolicyView
	Type   quota.Type   `json:"type" enum:"requests,tokens"`
	Unit   quota.Unit   `json:"unit" enum:"rpm,rph,rpd,rpw"`
	Value  int64        `json:"value"`
	Target quota.Target `json:"target" enum:"llm,mcp_tools"`
	Object string       `json:"object" enum:"policy_rate_limits"`
}

func viewRateLimit(_ context.Context, _ *resource.Call, r resource.Row[quota.RateLimit], _ bool) (rateLimitView, error) {
	p := r.Value
	return rateLimitView{
		viewPolicy(r.Record, p.Name, p.Description, p.Conditions, p.GroupBy), p.Type, p.Unit, p.Value, cmp.Or(p.Target, quota.Models), "policy_rate_limits",
	}, nil
}
