package grants

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"sluice/internal/control/directory"
	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/domain/tenant"
	"sluice/internal/kernel/fault"
)

// Set stores the grants of integrations of one kind: as links to the workspaces, and in the
// index of the integration for those that may use it.
type Set struct {
	Kind  string // of the integrations: "mcp_integration"
	Title string // of the integrations, for texts: "MCP integration"
}

// maxGrants limits the workspaces that one integration is granted to individually.
const maxGrants = 900

// Grant is the body of a link to a workspace.
type Grant struct {
	Enabled bool  `json:"enabled"`
	Created int64 `json:"created_ms"`
	Updated int64 `json:"updated_ms"`
	// Global marks a grant that came with global access. It uses the limits of global access
	// until it gets its own.
	Global bool `json:"global,omitempty"`
}

func (l Set) set() string { return l.Kind + ".workspaces" }

// load returns the grants of an integration by workspace id.
func (l Set) load(ctx context.Context, from resource.Reader, id string) (map[string]Grant, error) {
	links, err := from.Links(ctx, l.set(), id)
	if err != nil {
		return nil, err
	}
	m := make(map[string]Grant, len(links))
	for _, link := range links {
		var g Grant
		if err := json.Unmarshal(link.Body, &g); err != nil {
			return nil, fmt.Errorf("decode a grant of %s %s: %w", l.Kind, id, err)
		}
		m[link.ToID] = g
	}
	return m, nil
}

// GrantedWorkspace is a grant with the workspace that has it.
type GrantedWorkspace struct {
	resource.Record
	grant Grant
}

// ListWorkspaces returns the grants of an integration to workspaces that still exist, by
// workspace id.
func (l Set) ListWorkspaces(ctx context.Context, c *resource.Call, id string) ([]GrantedWorkspace, error) {
	present, err := l.load(ctx, c.Reader, id)
	if err != nil || len(present) == 0 {
		return nil, err
	}
	rows, err := c.Reader.List(ctx, resource.Query{
		Kind: tenant.WorkspaceKind, OrgID: c.OrgID, IDs: slices.Sorted(maps.Keys(present)), Statuses: resource.LiveStatuses(), Limit: maxGrants, Bare: true,
	})
	slices.SortFunc(rows, func(a, b resource.Record) int { return cmp.Compare(a.ID, b.ID) })
	return jsonfield.Convert(rows, func(workspace resource.Record) GrantedWorkspace {
		return GrantedWorkspace{workspace, present[workspace.ID]}
	}), err
}

// ReadGrants reads the body of a change of grants and returns the present grants. asks reports
// whether the body requests anything.
func (l Set) ReadGrants(ctx context.Context, tx resource.Tx, c *resource.Call, in resource.Record, body any, asks func() bool) (map[string]Grant, error) {
	if in.WorkspaceID != "" {
		return nil, fault.Newf(fault.InvalidRequest, "an %s that belongs to a workspace cannot be granted to other workspaces", l.Title)
	}
	if err := json.Unmarshal(jsonfield.Encode(c.Sent), body); err != nil {
		return nil, fault.New(fault.InvalidRequest, "invalid body").WithCause(err)
	}
	if !asks() && !c.ChangesNothing() {
		return nil, fault.New(fault.InvalidRequest, "must not be empty; set override_existing_workspace_access to revoke all grants").WithParam("workspaces")
	}
	return l.load(ctx, tx, in.ID)
}

// ReadRequested returns what the list of a body requests for its workspaces, by workspace id.
// parse reads the entry at i and the workspace that it names. With override, present grants that
// the list does not name get the zero value, which withdraws them.
func ReadRequested[Entry, W any](ctx context.Context, tx resource.Tx, c *resource.Call, present map[string]Grant, override bool, list []Entry, parse func(i int, in Entry) (name string, w W)) (map[string]W, error) {
	out := make(map[string]W, len(list))
	if override {
		for id := range present {
			var none W
			out[id] = none
		}
	}
	names, wants := make([]string, len(list)), make([]W, len(list))
	for i, in := range list {
		names[i], wants[i] = parse(i, in)
	}
	workspaces, err := directory.NamedWorkspaces(ctx, tx, c.OrgID, names, fault.ReferenceMissing)
	if err != nil {
		return nil, err
	}
	for i, workspace := range workspaces {
		out[workspace.ID] = wants[i]
	}
	return out, nil
}

// Save writes the grants of an integration as links, and into the index of its record. The
// caller writes the record.
func (l Set) Save(ctx context.Context, tx resource.Tx, in *resource.Record, present map[string]Grant) error {
	if len(present) > maxGrants {
		return fault.Newf(fault.InvalidParameter, "an %s must not be granted to more than %d workspaces", l.Title, maxGrants).WithParam("workspaces")
	}
	links := make([]resource.Link, 0, len(present))
	in.Index = slices.DeleteFunc(in.Index, func(e resource.IndexEntry) bool { return e.Name == WorkspaceName })
	for _, workspace := range slices.Sorted(maps.Keys(present)) {
		links = append(links, resource.Link{ToID: workspace, Body: jsonfield.Encode(present[workspace])})
		if present[workspace].Enabled {
			in.Index = append(in.Index, resource.IndexEntry{Name: WorkspaceName, Value: workspace})
		}
	}
	return tx.PutLinks(ctx, l.set(), in.ID, links)
}

// Regrant changes the grants of those integrations of an organisation that have an index entry.
// change gets the grants by workspace id and makes all changes that belong together.
func Regrant[I any](ctx context.Context, tx resource.Tx, c *resource.Call, l Set, orgID string, having resource.IndexEntry, change func(in *resource.Row[I], present map[string]Grant) error) error {
	rows, err := resource.ListRows[I](ctx, tx, resource.Query{
		Kind: l.Kind, OrgID: orgID, Statuses: []string{resource.Active},
		Index: []resource.IndexEntry{LevelEntry(OrganisationLevel), having}, Limit: 1000,
	})
	if err != nil {
		return err
	}
	for _, in := range rows {
		present, err := l.load(ctx, tx, in.ID)
		if err != nil {
			return err
		}
		if err := change(in, present); err != nil {
			return err
		}
		if err := l.Save(ctx, tx, &in.Record, present); err != nil {
			return err
		}
		rec := in.Record
		rec.Body, rec.Updated = jsonfield.Encode(in.Value), c.Now
		if err := tx.Update(ctx, rec); err != nil {
			return err
		}
	}
	return nil
}

// GrantedTo lists the workspaces that may use an integration.
func GrantedTo(entries []resource.IndexEntry) []string {
	var ids []string
	for _, e := range entries {
		if e.Name == WorkspaceName {
			ids = append(ids, e.Value)
		}
	}
	slices.Sort(ids)
	return ids
}
