package people

import (
	"context"
	"slices"
	"strconv"

	"sluice/internal/control/budgets"
	"sluice/internal/control/directory"
	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/domain/agent"
	"sluice/internal/domain/credential"
	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/keys"
	"sluice/internal/domain/mcp"
	"sluice/internal/domain/prompt"
	"sluice/internal/domain/record"
	"sluice/internal/domain/routing"
	"sluice/internal/domain/tenant"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
	"sluice/internal/limits/quota"
)

// contents are the kinds whose records prevent archiving of a workspace, unless it is forced.
var contents = []resource.Content{
	{Kind: credential.ProviderKind, Title: "provider"},
	{Kind: credential.VirtualKeyKind, Title: "virtual key"},
	{Kind: credential.IntegrationKind, Title: "integration"},
	{Kind: routing.SavedKind, Title: "config"},
	{Kind: guardrail.Kind, Title: "guardrail"},
	{Kind: prompt.Kind, Title: "prompt"},
	{Kind: prompt.PartialKind, Title: "partial"},
	{Kind: mcp.ServerKind, Title: "MCP server"},
	{Kind: mcp.IntegrationKind, Title: "MCP integration"},
	{Kind: agent.ServerKind, Title: "agent server"},
	{Kind: agent.IntegrationKind, Title: "agent integration"},
}

// fixtures are archived with a workspace in any case.
var fixtures = []string{keys.Kind, tenant.MemberKind, quota.RateLimitKind, quota.UsageLimitKind, prompt.CollectionKind, prompt.LabelKind, prompt.VersionKind, prompt.PartialVersionKind, mcp.ConnectionKind, record.ExportKind}

// canArchiveWorkspace rejects archiving of the default workspace, of a workspace that the body
// names incorrectly, and of one that is not empty.
func canArchiveWorkspace(ctx context.Context, c *resource.Call, r *resource.Row[tenant.Workspace]) error {
	if r.Value.IsDefault {
		return fault.New(fault.InvalidRequest, "the default workspace cannot be deleted")
	}
	if name := c.Sent.Text("name"); name != r.Value.Name && name != displayName(&r.Value) {
		return fault.New(fault.InvalidParameter, "must be the name of the workspace").WithParam("name")
	}
	if forced(c) {
		return nil
	}
	found, err := resource.DescribeContents(ctx, c, contents, func(kind string) resource.Query { return contentsQuery(r.Record, kind) })
	if err != nil || found == "" {
		return err
	}
	return fault.Newf(fault.Conflict, "the workspace contains %s; delete them first, or set force_delete", found)
}

func forced(c *resource.Call) bool { return string(c.Sent["force_delete"]) == "true" }

func contentsQuery(workspace resource.Record, kind string) resource.Query {
	return resource.Query{
		Kind: kind, OrgID: workspace.OrgID, WorkspaceID: workspace.ID, Limit: 1000, Statuses: resource.LiveStatuses(),
	}
}

// afterWorkspace gives a new workspace its collection and the integrations with global access.
// It archives the contents of a workspace that is archived, always including its keys.
func (k workspaces) afterWorkspace(ctx context.Context, tx resource.Tx, c *resource.Call, ch *resource.Edit[tenant.Workspace]) error {
	if err := budgets.UpdateMeters(ctx, k.Budgets, tx, c, ch, budgets.WorkspaceLimits); err != nil {
		return err
	}
	if ch.Old == nil {
		if err := k.DefaultCollection(ctx, tx, c, ch.New.OrgID, ch.New.ID); err != nil {
			return err
		}
		if err := k.firstMembers(ctx, tx, c, ch); err != nil {
			return err
		}
		return k.Integrations.GrantAll(ctx, tx, c, ch.New.Record)
	}
	if ch.Old.Status == resource.Archived {
		return k.restoreContents(ctx, tx, c, ch)
	}
	if ch.New.Status != resource.Archived {
		return nil
	}
	gone := slices.Clone(fixtures)
	if forced(c) {
		for _, k := range contents {
			gone = append(gone, k.Kind)
		}
	}
	for _, kind := range gone {
		if err := resource.ArchiveAll(ctx, tx, c, contentsQuery(ch.New.Record, kind)); err != nil {
			return err
		}
	}
	return k.Integrations.WithdrawAll(ctx, tx, c, ch.New.Record)
}

// firstMembers adds the users that were named at the creation of a workspace as members.
func (k workspaces) firstMembers(ctx context.Context, tx resource.Tx, c *resource.Call, ch *resource.Edit[tenant.Workspace]) error {
	var users []string
	if err := ch.Sent.Into("users", &users); err != nil {
		return err
	}
	rec := ch.New.Record
	rec.Body = jsonfield.Encode(ch.New.Value)
	for i, id := range users {
		path := "users[" + strconv.Itoa(i) + "]"
		if _, err := directory.FindUser(ctx, c, id, path); err != nil {
			return err
		}
		if err := members(k).join(ctx, tx, c, rec, tenant.Member{UserID: id, Role: access.Member}, path); err != nil {
			return err
		}
	}
	return nil
}
