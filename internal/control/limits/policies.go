package limits

import (
	"context"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/limits/quota"
)

// PolicyIn contains the common fields of the bodies that create a policy.
type PolicyIn struct {
	jsonfield.OwnerIn
	Name        *string       `json:"name,omitempty" nullable:"true" maxLength:"255"`
	Description *string       `json:"description,omitempty" nullable:"true" maxLength:"500"`
	Conditions  []conditionIn `json:"conditions" nullable:"false" minItems:"1" maxItems:"100" doc:"Conditions that must all be met"`
	GroupBy     []groupIn     `json:"group_by,omitempty" nullable:"false" minItems:"1" maxItems:"100" doc:"One counter for each combination; absent: one counter for all"`
}

// PolicyPatch contains the common fields of the bodies that change a policy.
type PolicyPatch struct {
	Name        *string       `json:"name,omitempty" nullable:"true" maxLength:"255"`
	Description *string       `json:"description,omitempty" nullable:"true" maxLength:"500"`
	Conditions  []conditionIn `json:"conditions,omitempty" nullable:"false" minItems:"1" maxItems:"100"`
	Status      string        `json:"status,omitempty" enum:"active,archived"`
	WorkspaceID string        `json:"workspace_id,omitempty" doc:"Id or slug of the workspace; for Admin keys"`
}

type conditionIn struct {
	Key      string  `json:"key" doc:"api_key, workspace_id, organisation_id, virtual_key, provider, config, prompt, model, endpoint_type or metadata.<name>"`
	Value    oneMore `json:"value" doc:"Values, any of which matches; * stands for any value"`
	Excludes oneMore `json:"excludes,omitempty" doc:"Values that do not meet the condition"`
}

type groupIn struct {
	Key string `json:"key" doc:"Same keys as in conditions, without endpoint_type"`
}

// oneMore is a string or a list of strings.
type oneMore struct{}

// Schema describes oneMore.
func (oneMore) Schema(huma.Registry) *huma.Schema {
	minimum, maxItems, longest := 1, quota.MaxValues, 1024
	text := &huma.Schema{Type: huma.TypeString, MinLength: &minimum, MaxLength: &longest}
	text.PrecomputeMessages()
	list := &huma.Schema{Type: huma.TypeArray, Items: text, MinItems: &minimum, MaxItems: &maxItems}
	list.PrecomputeMessages()
	return &huma.Schema{OneOf: []*huma.Schema{text, list}}
}

// PolicyView contains the common fields of the views of policies.
type PolicyView struct {
	ID             string          `json:"id" format:"uuid"`
	Name           *string         `json:"name" nullable:"true"`
	Description    *string         `json:"description" nullable:"true"`
	Conditions     []conditionView `json:"conditions" nullable:"false"`
	GroupBy        []quota.GroupBy `json:"group_by" nullable:"false"`
	Status         string          `json:"status" enum:"active,archived"`
	WorkspaceID    string          `json:"workspace_id" format:"uuid"`
	OrganisationID string          `json:"organisation_id" format:"uuid"`
	CreatedAt      resource.Stamp  `json:"created_at"`
	LastUpdatedAt  resource.Stamp  `json:"last_updated_at"`
}

// conditionView is a condition as clients see it; package quota encodes its values.
type conditionView quota.Condition

// Schema describes a condition as it is sent.
func (conditionView) Schema(r huma.Registry) *huma.Schema {
	return huma.SchemaFromType(r, reflect.TypeFor[conditionIn]())
}

func viewPolicy(r resource.Record, name, description string, conditions []quota.Condition, groups []quota.GroupBy) PolicyView {
	v := PolicyView{
		ID: r.ID, Name: jsonfield.OrNull(name), Description: jsonfield.OrNull(description), Conditions: make([]conditionView, len(conditions)), GroupBy: groups,
		Status: r.Status, WorkspaceID: r.WorkspaceID, OrganisationID: r.OrgID, CreatedAt: resource.Stamp(r.Created), LastUpdatedAt: resource.Stamp(r.Updated),
	}
	for i, c := range conditions {
		v.Conditions[i] = conditionView(c)
	}
	if groups == nil {
		v.GroupBy = []quota.GroupBy{}
	}
	return v
}

// checkConditions rejects conditions of a body that no call can meet because they name something
// that does not exist. Conditions that the policy had before may stay unchanged.
func (k policies) checkConditions(ctx context.Context, c *resource.Call, r resource.Record, sent resource.Sent, before, conditions []quota.Condition) error {
	if !sent.Has("conditions") {
		return nil
	}
	if err := quota.CheckKinds(conditions, k.specID); err != nil {
		return err
	}
	return checkNamed(ctx, c, r, before, conditions)
}

// specID returns the id of the provider with a name or alias.
func (k policies) specID(name string) (id string, ok bool) {
	spec, ok := k.Specs.Find(name)
	if !ok {
		return "", false
	}
	return spec.ID, true
}
