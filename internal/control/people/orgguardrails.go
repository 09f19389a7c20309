package people

import (
	"context"

	"sluice/internal/control/defaults"
	"sluice/internal/control/directory"
	"sluice/internal/control/resource"
	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/tenant"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
)

// orgGuardrailsIn sets the guardrails that run on every request of the organisation.
type orgGuardrailsIn struct {
	InputGuardrails  []string `json:"input_guardrails,omitempty" nullable:"false" maxItems:"100" doc:"Slugs or ids of guardrails"`
	OutputGuardrails []string `json:"output_guardrails,omitempty" nullable:"false" maxItems:"100" doc:"Slugs or ids of guardrails"`
	OrganisationID   string   `json:"organisation_id,omitempty" format:"uuid"`
}

type orgGuardrailsView struct {
	InputGuardrails  []guardrailName `json:"input_guardrails" nullable:"false"`
	OutputGuardrails []guardrailName `json:"output_guardrails" nullable:"false"`
}

type guardrailName struct {
	ID   string `json:"id" format:"uuid"`
	Slug string `json:"slug"`
}

func getOrgGuardrails(ctx context.Context, c *resource.Call) (any, error) {
	row, err := directory.FindOrganisation(ctx, c)
	if err != nil {
		return nil, err
	}
	input, err := guardrailNames(ctx, c, row.Value.Defaults.InputGuardrails)
	if err != nil {
		return nil, err
	}
	out, err := guardrailNames(ctx, c, row.Value.Defaults.OutputGuardrails)
	return orgGuardrailsView{input, out}, err
}

// guardrailNames finds the guardrails of a list; deleted ones are left out.
func guardrailNames(ctx context.Context, c *resource.Call, list []string) ([]guardrailName, error) {
	names := make([]guardrailName, 0, len(list))
	for _, name := range list {
		r, err := resource.FindByName(ctx, c.Reader, guardrail.Kind, access.Target{OrgID: c.OrgID}, name)
		switch {
		case fault.Has(err, fault.NotFound) || err == nil && r.Status == resource.Archived:
		case err != nil:
			return nil, err
		default:
			names = append(names, guardrailName{r.ID, r.ShownSlug()})
		}
	}
	return names, nil
}

func (k organisation) putOrgGuardrails(ctx context.Context, c *resource.Call) (any, error) {
	return resource.Empty{}, directory.ChangeOrganisation(ctx, c, func(o *tenant.Organisation) error {
		fields := make(resource.Sent)
		for _, name := range []string{"input_guardrails", "output_guardrails"} {
			if v, sent := c.Sent[name]; sent {
				fields[name] = v
			}
		}
		if len(fields) == 0 && !c.ChangesNothing() {
			return fault.New(fault.InvalidRequest, "the body must contain at least one field to change")
		}
		if err := resource.MergeFields(fields, &o.Defaults); err != nil {
			return err
		}
		return defaults.CheckGuardrails(ctx, c, []defaults.GuardrailList{{Field: "input_guardrails", Names: o.Defaults.InputGuardrails}, {Field: "output_guardrails", Names: o.Defaults.OutputGuardrails}})
	})
}
