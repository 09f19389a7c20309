package admin

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"sluice/internal/access"
	"sluice/internal/agent"
	"sluice/internal/credential"
	"sluice/internal/fault"
	"sluice/internal/guard"
	"sluice/internal/keys"
	"sluice/internal/mcp"
	"sluice/internal/prompt"
	"sluice/internal/quota"
	"sluice/internal/record"
	"sluice/internal/resource"
	"sluice/internal/routing"
	"sluice/internal/tenant"
)

// contents are the kinds whose records prevent archiving of a workspace, unless it is forced.
var contents = []content{
	{credential.ProviderKind, "provider"},
	{credential.VirtualKeyKind, "virtual key"},
	{credential.IntegrationKind, "integration"},
	{routing.SavedKind, "config"},
	{guard.Kind, "guardrail"},
	{prompt.Kind, "prompt"},
	{prompt.PartialKind, "partial"},
	{mcp.ServerKind, "MCP server"},
	{mcp.IntegrationKind, "MCP integration"},
	{agent.ServerKind, "agent server"},
	{agent.IntegrationKind, "agent integration"},
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
	found, err := describeContents(ctx, c, contents, func(kind string) resource.Query { return contentsQuery(r.Record, kind) })
	if err != nil || found == "" {
		return err
	}
	return fault.Newf(fault.Conflict, "the workspace contains %s; delete them first, or set force_delete", found)
}

// content is a kind whose records are inside another record, and its title for texts.
type content struct{ kind, title string }

// describeContents describes the contents of a record, of the first kind that has any: "2
// config(s)"; empty for none.
func describeContents(ctx context.Context, c *resource.Call, list []content, inside func(kind string) resource.Query) (string, error) {
	for _, one := range list {
		n, err := c.Reader.Count(ctx, inside(one.kind))
		if err != nil {
			return "", err
		}
		if n > 0 {
			return fmt.Sprintf("%d %s(s)", n, one.title), nil
		}
	}
	return "", nil
}

func forced(c *resource.Call) bool { return string(c.Sent["force_delete"]) == "true" }

func contentsQuery(workspace resource.Record, kind string) resource.Query {
	return resource.Query{
		Kind: kind, OrgID: workspace.OrgID, WorkspaceID: workspace.ID, Limit: 1000, Statuses: resource.LiveStatuses(),
	}
}

// afterWorkspace gives a new workspace its collection and the integrations with global access.
// It archives the contents of a workspace that is archived, always including its keys.
func (k deps) afterWorkspace(ctx context.Context, tx resource.Tx, c *resource.Call, ch *resource.Edit[tenant.Workspace]) error {
	if err := meterLimits(ctx, k, tx, c, ch, workspaceLimits); err != nil {
		return err
	}
	if ch.Old == nil {
		if err := ensureDefaultCollection(ctx, tx, c, ch.New.OrgID, ch.New.ID); err != nil {
			return err
		}
		if err := k.firstMembers(ctx, tx, c, ch); err != nil {
			return err
		}
		return k.grantAll(ctx, tx, c, ch.New.Record)
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
			gone = append(gone, k.kind)
		}
	}
	for _, kind := range gone {
		if err := retireAll(ctx, tx, c, contentsQuery(ch.New.Record, kind)); err != nil {
			return err
		}
	}
	return k.withdrawAll(ctx, tx, c, ch.New.Record)
}

// firstMembers adds the users that were named at the creation of a workspace as members.
func (k deps) firstMembers(ctx context.Context, tx resource.Tx, c *resource.Call, ch *resource.Edit[tenant.Workspace]) error {
	var users []string
	if err := ch.Sent.Into("users", &users); err != nil {
		return err
	}
	rec := ch.New.Record
	rec.Body = encode(ch.New.Value)
	for i, id := range users {
		path := "users[" + strconv.Itoa(i) + "]"
		if _, err := userOf(ctx, c, id, path); err != nil {
			return err
		}
		if err := k.join(ctx, tx, c, rec, tenant.Member{UserID: id, Role: access.Member}, path); err != nil {
			return err
		}
	}
	return nil
}

// retireAll archives every record of a query. The query does not find archived records any more,
// so the first page is read until it is empty.
func retireAll(ctx context.Context, tx resource.Tx, c *resource.Call, q resource.Query) error {
	return drainPages(func() ([]resource.Record, error) { return tx.List(ctx, q) }, func(r resource.Record) error { return resource.ArchiveLinked(ctx, tx, c, r) })
}

// retireReferring archives the records of a kind that refer to a record that is archived, in one
// workspace or in all.
func retireReferring(ctx context.Context, tx resource.Tx, kind string, to resource.Record, workspace string, retire func(resource.Record) error) error {
	return drainPages(func() ([]resource.Record, error) { return resource.ListReferrers(ctx, tx, kind, to, workspace) }, retire)
}
