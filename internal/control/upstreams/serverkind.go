package upstreams

import (
	"context"
	"fmt"
	"slices"

	"sluice/internal/control/grants"
	"sluice/internal/control/resource"
	"sluice/internal/control/secretmapping"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/sealed"
)

// serverKind describes the differences between tool servers and agents for the code that handles
// both. Both are registered once, as integrations, and are used in workspaces as servers. I is
// the stored body of an integration and S that of a server.
// Source: contract/content-and-observability.md 9.1, 11.
type serverKind[I, S any] struct {
	k           Deps
	integration string // kind of the stored records
	server      string // kind of the stored servers
	title       string // of the integrations, for texts: "MCP integration"
	stem        string // of their scopes: "mcp_integrations"
	field       string // field of a server that names its integration: "mcp_integration_id"
	sideDataSet string // link set that stores what was discovered about the upstream

	upstreamOf func(*I) upstream
	fieldsOf   func(*S) serverFields
	found      func(name, integrationID, owner string) S // returns a server that is created with a grant
	put        func(ctx context.Context, tx resource.Tx, c *resource.Call, r *resource.Row[S], to resource.Record) error
	check      func(config map[string]any) error
	addresses  func(config map[string]any) map[string]string
	hides      func(path []string) bool
	mappable   func(field string) bool
}

// upstream shows, and points to, the common fields of the bodies of integrations.
type upstream struct {
	name    string
	url     *string
	headers bool // authenticates with fixed headers
	config  *[]byte
	global  **bool
	owner   *string

	mappings *[]sealed.Mapping
}

// serverFields points to the common fields of the bodies of servers.
type serverFields struct {
	integrationID, owner *string
	deny                 *bool
	users                *map[string]bool
}

func (f *serverKind[I, S]) scopes(action string, r *resource.Row[I]) []access.Scope {
	return grants.LevelScopes(f.stem, action, r)
}

// index returns the index entries and retains the grants, which are written with their links.
func (f *serverKind[I, S]) index(r *resource.Row[I]) []resource.IndexEntry {
	entries := []resource.IndexEntry{grants.LevelEntry(grants.LevelOf(r.WorkspaceID))}
	if r.WorkspaceID != "" {
		return append(entries, resource.IndexEntry{Name: grants.WorkspaceName, Value: r.WorkspaceID})
	}
	if enabled := *f.upstreamOf(&r.Value).global; enabled != nil && *enabled {
		entries = append(entries, grants.GlobalEntry)
	}
	for _, workspaceID := range grants.GrantedTo(r.Index) {
		entries = append(entries, resource.IndexEntry{Name: grants.WorkspaceName, Value: workspaceID})
	}
	return entries
}

// prepare checks the URL of an integration, and seals its credentials.
func (f *serverKind[I, S]) prepare(ctx context.Context, c *resource.Call, ch *resource.Edit[I]) error {
	up := f.upstreamOf(&ch.New.Value)
	if ch.Old == nil {
		*up.owner = c.Principal.Actor()
	}
	if ch.Old != nil {
		if stored := *f.upstreamOf(&ch.Old.Value).url; *up.url == sealed.Address(stored) {
			*up.url = stored // sent back as it was shown
		}
	}
	if err := f.k.Addresses.CheckURL(*up.url); err != nil {
		return fault.From(err).WithParam("url")
	}
	config, err := f.configure(ch)
	if err != nil {
		return err
	}
	mappings, err := secretmapping.Read(ctx, c, ch.Sent, ch.New.WorkspaceID, *up.mappings, f.parseMappingTarget)
	if err != nil {
		return err
	}
	*up.mappings = mappings
	return f.seal(ch.New, config)
}

// after archives what belongs to an archived integration: its servers, and what was discovered
// about its upstream.
func (f *serverKind[I, S]) after(ctx context.Context, tx resource.Tx, c *resource.Call, ch *resource.Edit[I]) error {
	if ch.New.Status != resource.Archived {
		return nil
	}
	if err := tx.PutLinks(ctx, f.sideDataSet, ch.New.ID, nil); err != nil {
		return err
	}
	return resource.ArchiveReferrers(ctx, tx, f.server, ch.New.Record, "", func(s resource.Record) error {
		if err := resource.ArchiveLinked(ctx, tx, c, s); err != nil {
			return err
		}
		return dropConnections(ctx, tx, c, s)
	})
}

// isServerUsable reports whether a server may be used: its integration exists, and its workspace
// may use the integration. Withdrawing the access disables the server.
func isServerUsable(integration resource.Record, workspaceID string) bool {
	return integration.Status == resource.Active && slices.Contains(grants.GrantedTo(integration.Index), workspaceID)
}

// serverStatus returns the status of a server as responses show it.
func serverStatus(integration resource.Record, workspaceID string) string {
	if isServerUsable(integration, workspaceID) {
		return resource.Active
	}
	return resource.Archived
}

// findIntegration returns the integration of a server, which exists as long as the server does.
func (f *serverKind[I, S]) findIntegration(ctx context.Context, from resource.Reader, s *S) (*resource.Row[I], error) {
	rec, err := from.Find(ctx, f.integration, *f.fieldsOf(s).integrationID)
	if err != nil {
		return nil, fmt.Errorf("find the %s of a server: %w", f.integration, err)
	}
	return resource.Decode[I](rec)
}

// switchesShown returns what a caller sees of a switch that both an integration, above, and a
// server, here, may turn off. Users see only the result; callers that are not users see which of
// the two turned it off.
func switchesShown(c *resource.Call, above, here bool) (enabled bool, integration *bool) {
	if c.Principal.UserID != "" {
		return above && here, nil
	}
	return here, &above
}

// refer returns the reference of a server to its integration.
func (f *serverKind[I, S]) refer() resource.Ref[S] {
	return resource.Ref[S]{Kind: f.integration, Cascade: true, Find: func(ctx context.Context, c *resource.Call, r *resource.Row[S]) (*resource.Record, error) {
		rec, err := c.Reader.Find(ctx, f.integration, *f.fieldsOf(&r.Value).integrationID)
		return &rec, err
	}}
}

// prepareServer finds the integration of a new server: one of the workspace, or one of the
// organisation that the workspace may use.
func (f *serverKind[I, S]) prepareServer(ctx context.Context, c *resource.Call, ch *resource.Edit[S]) error {
	if ch.Old != nil {
		return nil
	}
	to := f.fieldsOf(&ch.New.Value)
	*to.owner = c.Principal.Actor()
	integration, err := c.Refer(ctx, f.integration, ch.New.WorkspaceID, *to.integrationID, f.field)
	if fault.Has(err, fault.ReferenceMissing) || err == nil && !isServerUsable(*integration, ch.New.WorkspaceID) {
		return fault.Newf(fault.ReferenceMissing, "the %s does not exist, or the workspace does not have access to it", f.title).WithParam(f.field)
	}
	if err != nil {
		return err
	}
	*to.integrationID = integration.ID
	return nil
}
