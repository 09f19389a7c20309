package configs

import (
	"context"
	"net/http"
	"slices"

	"sluice/internal/control/directory"
	"sluice/internal/control/resource"
	"sluice/internal/domain/tenant"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
)

// exclusions are the workspaces in which guardrails of the organisation do not run. They have
// separate routes because they are a list in the organisation's record.
// Source: contract/identity-and-governance.yaml, /workspace-exclusions/{direction}.
func (k guardrails) exclusions() resource.Resource {
	direction := []resource.Param{{Name: "direction", Enum: []string{inputGuardrails, outputGuardrails}}}
	return resource.Operations{
		{
			Method: http.MethodGet, Path: "/workspace-exclusions/{direction}", ID: "listWorkspaceExclusions", Summary: "List the workspaces that are exempt from the organisation's guardrails",
			Tag: "Organisation", Params: direction, Scopes: []access.Scope{"organisation_exclusions.list"}, Response: resource.ListOf[exclusionView]{}, Run: listExclusions,
		},
		{
			Method: http.MethodPut, Path: "/workspace-exclusions/{direction}", ID: "updateWorkspaceExclusions", Summary: "Exempt workspaces from the organisation's guardrails, or end their exemption",
			Tag: "Organisation", Params: direction, Scopes: []access.Scope{"organisation_exclusions.update"}, Body: exclusionsIn{},
			Audited: "organisations", Action: "update", Run: k.putExclusions,
		},
	}
}

const (
	inputGuardrails  = "input-guardrails"
	outputGuardrails = "output-guardrails"
)

type exclusionsIn struct {
	OrganisationID string        `json:"organisation_id,omitempty" format:"uuid"`
	Workspaces     []exclusionIn `json:"workspaces" nullable:"false" maxItems:"1000"`
	Override       bool          `json:"override_existing,omitempty" doc:"Replaces all present exemptions with the list"`
}

type exclusionIn struct {
	WorkspaceID string `json:"workspace_id" maxLength:"255" doc:"Id or slug of the workspace"`
	Excluded    bool   `json:"excluded"`
}

type exclusionView struct {
	WorkspaceID string `json:"workspace_id" format:"uuid"`
	Slug        string `json:"slug"`
	Excluded    bool   `json:"excluded"`
}

// exemptList returns the list of a direction. An unknown direction is fault.InvalidParameter.
func exemptList(c *resource.Call, o *tenant.Organisation) (*[]string, error) {
	switch c.Path("direction") {
	case inputGuardrails:
		return &o.Exempt.Input, nil
	case outputGuardrails:
		return &o.Exempt.Output, nil
	}
	return nil, fault.New(fault.InvalidParameter, "must be input-guardrails or output-guardrails").WithParam("direction")
}

func listExclusions(ctx context.Context, c *resource.Call) (any, error) {
	row, err := directory.FindOrganisation(ctx, c)
	if err != nil {
		return nil, err
	}
	list, err := exemptList(c, &row.Value)
	if err != nil {
		return nil, err
	}
	var shown []exclusionView
	for _, id := range *list {
		ws, err := resource.FindLive[tenant.Workspace](ctx, c.Reader, tenant.WorkspaceKind, id)
		switch {
		case fault.Has(err, fault.NotFound):
		case err != nil:
			return nil, err
		default:
			shown = append(shown, exclusionView{ws.ID, ws.Slug, true})
		}
	}
	return resource.CompleteList(shown), nil
}

func (k guardrails) putExclusions(ctx context.Context, c *resource.Call) (any, error) {
	var sent exclusionsIn
	if err := c.Sent.Into("workspaces", &sent.Workspaces); err != nil {
		return nil, err
	}
	if err := c.Sent.Into("override_existing", &sent.Override); err != nil {
		return nil, err
	}
	return resource.Empty{}, directory.ChangeOrganisation(ctx, c, func(o *tenant.Organisation) error {
		list, err := exemptList(c, o)
		if err != nil {
			return err
		}
		if sent.Override {
			*list = nil
		}
		for _, w := range sent.Workspaces {
			rec, err := directory.FindWorkspace(ctx, c.Reader, c.OrgID, w.WorkspaceID)
			if err != nil {
				return fault.New(fault.ReferenceMissing, "the workspace does not exist").WithParam("workspaces").WithCause(err)
			}
			*list = slices.DeleteFunc(*list, func(id string) bool { return id == rec.ID })
			if w.Excluded {
				*list = append(*list, rec.ID)
			}
		}
		return nil
	})
}
