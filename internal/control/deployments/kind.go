package deployments

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"sluice/internal/control/directory"
	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/control/resource/listing"
	"sluice/internal/domain/deployment"
)

// kind defines deployments, the gateways that are registered here. Each has a token, its client_auth, with
// which it reads its own record as /deployments/self.
// Source: contract/identity-and-governance.yaml, gateway deployments.
func (k deployments) kind() resource.Resource {
	return &resource.Kind[deployment.Deployment, deploymentView]{
		Name: deployment.Kind, Object: "deployment", Title: "deployment", Tag: "Deployments", Audited: "deployments",
		Path: "/deployments", Param: "deploymentId", Slug: "dp", Perm: "deployments", Verbs: resource.AllVerbs, Scope: resource.InOrganisation,
		Create: gatewayIn{}, Update: gatewayPatch{}, PreparedFields: []string{"type", "is_default", "auth_settings", "rotate_auth", "override_existing"},
		Filters: []resource.Filter{
			{Param: resource.Param{Name: "type", Enum: []string{"production", "non-production", "non_production"}}, Apply: func(_ *resource.Call, v string, q *resource.Query) error {
				q.Index = append(q.Index, resource.IndexEntry{Name: "type", Value: string(deployment.ReadType(v))})
				return nil
			}},
			{Param: resource.Param{Name: "status", Enum: []string{"active", "archived"}, Doc: "absent: both"}, Apply: func(_ *resource.Call, v string, q *resource.Query) error {
				q.Statuses = []string{v}
				return nil
			}},
			listing.SearchFilter(),
			{Param: resource.Param{Name: "workspace_slug", Doc: "Slug of a workspace that may use the deployments; repeatable", Repeated: true}, Apply: func(*resource.Call, string, *resource.Query) error { return nil }},
			{Param: resource.Param{Name: "organisation_id", Format: "uuid", Doc: "Organisation of the API key"}, Apply: sameOrganisation},
		},
		Select:  selectDeployments,
		Prepare: k.prepareDeployment,
		Index:   deploymentIndex,
		After:   onlyDefaultDeployment,
		View:    k.viewDeployment,
		Receipt: &resource.WriteResponse[deployment.Deployment]{Shape: deploymentReceipt{}, Make: func(_ context.Context, _ *resource.Call, ch *resource.Edit[deployment.Deployment]) (any, error) {
			return deploymentReceipt{ch.New.ID, ch.Raw.Reveal(), ch.New.OrgID, "deployment"}, nil
		}},
		Done: &resource.WriteResponse[deployment.Deployment]{Shape: deploymentDone{}, Make: func(_ context.Context, _ *resource.Call, ch *resource.Edit[deployment.Deployment]) (any, error) {
			return deploymentDone{ch.Raw.Reveal()}, nil
		}},
		Actions: []resource.Action[deployment.Deployment]{{
			Name: "ping", Scope: "read", Method: "GET", Path: "/ping", ID: "pingDeployment", Summary: "Check the connections to and from a deployment",
			Response: pingView{}, Read: k.pingDeployment,
		}},
	}
}

func deploymentIndex(r *resource.Row[deployment.Deployment]) []resource.IndexEntry {
	entries := []resource.IndexEntry{
		{Name: "type", Value: string(r.Value.Type)}, {Name: "client_auth", Value: r.Value.Hash, Unique: true},
	}
	if r.Value.IsDefault {
		entries = append(entries, resource.IndexEntry{Name: "default", Value: "1"})
	}
	return entries
}

func sameOrganisation(c *resource.Call, id string, _ *resource.Query) error {
	return c.RequireOrganisation(id, "organisation_id")
}

// selectDeployments also lists archived deployments unless a status was requested. It selects
// those that one of the named workspaces may use.
func selectDeployments(ctx context.Context, c *resource.Call, q *resource.Query) error {
	if len(q.Statuses) == 0 {
		q.Statuses = []string{resource.Active, resource.Archived}
	}
	requested := c.Query("workspace_slug")
	if requested == "" {
		return nil
	}
	workspaceIDs, err := directory.FindWorkspaceIDs(ctx, c, strings.Split(requested, ","), "workspace_slug")
	if err != nil {
		return err
	}
	rows, err := c.Reader.List(ctx, resource.Query{Kind: deployment.Kind, OrgID: c.OrgID, Statuses: q.Statuses, Newest: true, Limit: 1000})
	if err != nil {
		return err
	}
	q.IDs = []string{}
	for _, rec := range rows {
		r, err := resource.Decode[deployment.Deployment](rec)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(workspaceIDs, r.Value.Auth.Serves) {
			q.IDs = append(q.IDs, r.ID)
		}
	}
	return nil
}

// onlyDefaultDeployment removes the default mark from the previous default deployment.
func onlyDefaultDeployment(ctx context.Context, tx resource.Tx, c *resource.Call, ch *resource.Edit[deployment.Deployment]) error {
	if !ch.New.Value.IsDefault || ch.New.Status == resource.Archived || ch.Old != nil && ch.Old.Value.IsDefault {
		return nil
	}
	rows, err := tx.List(ctx, resource.Query{
		Kind: deployment.Kind, OrgID: ch.New.OrgID, Statuses: []string{resource.Active}, Index: []resource.IndexEntry{{Name: "default", Value: "1"}},
	})
	for _, r := range rows {
		if r.ID == ch.New.ID {
			continue
		}
		var d deployment.Deployment
		if err := json.Unmarshal(r.Body, &d); err != nil {
			return err
		}
		d.IsDefault = false
		r.Body, r.Updated = jsonfield.Encode(d), c.Now
		r.Index = slices.DeleteFunc(r.Index, func(e resource.IndexEntry) bool { return e.Name == "default" })
		if err := tx.Update(ctx, r); err != nil {
			return err
		}
	}
	return err
}
