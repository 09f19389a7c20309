package deployments

import (
	"context"
	"maps"
	"slices"

	"sluice/internal/control/directory"
	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/domain/deployment"
	"sluice/internal/domain/keys"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/sealed"
)

// Limits of a deployment.
const (
	maxDeploymentSlug   = 50
	maxDeploymentConfig = 64 << 10 // bytes
)

// prepareDeployment sets type, access and token.
func (k deployments) prepareDeployment(ctx context.Context, c *resource.Call, ch *resource.Edit[deployment.Deployment]) error {
	d := &ch.New.Value
	if len(d.Config) > maxDeploymentConfig {
		return fault.Newf(fault.InvalidParameter, "must not exceed %d bytes", maxDeploymentConfig).WithParam("deployment_config")
	}
	if err := jsonfield.SetFlag(ch.Sent, "is_default", &d.IsDefault); err != nil {
		return err
	}
	if ch.Old == nil {
		d.Type, d.CreatedBy = deployment.NonProduction, c.Principal.ID
	}
	if t := ch.Sent.Text("type"); t != "" {
		d.Type = deployment.ReadType(t)
	}
	if ch.Old == nil || ch.Old.Value.Type != d.Type {
		if err := k.checkDeploymentLimit(ctx, c, d.Type); err != nil {
			return err
		}
	}
	if ch.Old == nil || string(ch.Sent["rotate_auth"]) == "true" {
		raw := ident.NewKey(k.KeyPrefix)
		ch.Raw, d.Hash, d.Masked = sealed.New(raw), k.Hasher.Sum(raw).String(), keys.Mask(raw)
	}
	return k.prepareAccess(ctx, c, ch)
}

// checkDeploymentLimit rejects a deployment beyond the limit of its type.
func (k deployments) checkDeploymentLimit(ctx context.Context, c *resource.Call, t deployment.Type) error {
	n, err := c.Reader.Count(ctx, resource.Query{
		Kind: deployment.Kind, OrgID: c.OrgID, Statuses: []string{resource.Active}, Index: []resource.IndexEntry{{Name: "type", Value: string(t)}},
	})
	if err != nil {
		return err
	}
	if limit, limited := k.Limits[t]; limited && n >= limit {
		return fault.Newf(fault.InvalidRequest, "the maximum of %d %s deployments is reached; archive one first", n, t).WithParam("type")
	}
	return nil
}

// prepareAccess merges the settings that were sent into the present ones.
func (k deployments) prepareAccess(ctx context.Context, c *resource.Call, ch *resource.Edit[deployment.Deployment]) error {
	if !ch.Sent.Has("auth_settings") {
		return nil
	}
	var sent resource.Sent
	if err := ch.Sent.Into("auth_settings", &sent); err != nil {
		return err
	}
	a := &ch.New.Value.Auth
	for field, to := range map[string]*string{"gateway_base_url": &a.BaseURL, "mcp_gateway_base_url": &a.MCPBaseURL} {
		if _, isSent := sent[field]; !isSent {
			continue
		}
		*to = sent.Text(field)
		if *to == "" {
			continue
		}
		if err := k.Addresses.CheckURL(*to); err != nil {
			return fault.From(err).WithParam("auth_settings." + field)
		}
	}
	for field, to := range map[string]*bool{"is_dataservice_hosted": &a.DataService, "is_playground_proxy_allowed": &a.Playground} {
		if err := jsonfield.SetFlag(sent, field, to); err != nil {
			return err
		}
	}
	change, err := readAccess(ctx, c, sent)
	if err != nil {
		return err
	}
	change.Replace = string(ch.Sent["override_existing"]) == "true"
	return a.Apply(change)
}

// readAccess reads the access lists that were sent, with workspaces by their ids.
func readAccess(ctx context.Context, c *resource.Call, sent resource.Sent) (change deployment.Change, err error) {
	if err := jsonfield.SetFlag(sent, "allow_all_workspaces", &change.All); err != nil {
		return change, err
	}
	for field, to := range map[string]*[]string{
		"workspaces_allowed": &change.Workspaces, "remove_workspaces_allowed": &change.RemoveWorkspaces,
		"jwt_subs_allowed": &change.Subjects, "remove_subs_allowed": &change.RemoveSubjects,
	} {
		if err := sent.Into(field, to); err != nil {
			return change, err
		}
	}
	if err := sent.Into("jwt_sub_workspace_mapping", &change.SubjectWorkspaces); err != nil {
		return change, err
	}
	if change.All && len(change.Workspaces)+len(change.SubjectWorkspaces) > 0 {
		return change, fault.New(fault.InvalidParameter, "set allow_all_workspaces or a list of workspaces, not both").WithParam("auth_settings.allow_all_workspaces")
	}
	for field, to := range map[string]*[]string{"workspaces_allowed": &change.Workspaces, "remove_workspaces_allowed": &change.RemoveWorkspaces} {
		if *to == nil {
			continue
		}
		if *to, err = directory.FindWorkspaceIDs(ctx, c, *to, "auth_settings."+field); err != nil {
			return change, err
		}
	}
	for _, sub := range slices.Sorted(maps.Keys(change.SubjectWorkspaces)) {
		ids, err := directory.FindWorkspaceIDs(ctx, c, []string{change.SubjectWorkspaces[sub]}, "auth_settings.jwt_sub_workspace_mapping")
		if err != nil {
			return change, err
		}
		change.SubjectWorkspaces[sub] = ids[0]
	}
	return change, nil
}
