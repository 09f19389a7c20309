package admin

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"sluice/internal/fault"
	"sluice/internal/resource"
	"sluice/internal/tenant"
)

// grantSet is where the grants of integrations of one kind are kept: as links to the
// workspaces, and for those that may use the integration in its index too.
type grantSet struct {
	kind  string // of the integrations: "mcp_integration"
	title string // of them, for texts: "MCP integration"
}

// maxGrants bounds the workspaces that one integration is granted to one by one.
const maxGrants = 900

// grant is the body of a link to a workspace.
type grant struct {
	Enabled bool  `json:"enabled"`
	Created int64 `json:"created_ms"`
	Updated int64 `json:"updated_ms"`
	// Global says that it came with global access, whose limits are its limits until it
	// gets some of its own.
	Global bool `json:"global,omitempty"`
}

func (l grantSet) set() string { return l.kind + ".workspaces" }

// load are the grants of an integration by the id of the workspace.
func (l grantSet) load(ctx context.Context, from resource.Reader, id string) (map[string]grant, error) {
	links, err := from.Links(ctx, l.set(), id)
	if err != nil {
		return nil, err
	}
	m := make(map[string]grant, len(links))
	for _, link := range links {
		var g grant
		if err := json.Unmarshal(link.Body, &g); err != nil {
			return nil, fmt.Errorf("decode a grant of %s %s: %w", l.kind, id, err)
		}
		m[link.ToID] = g
	}
	return m, nil
}

// grantedWorkspace is a grant with the workspace that has it.
type grantedWorkspace struct {
	resource.Record
	grant grant
}

// listWorkspaces are the grants of an integration to workspaces that are still there, by the ids
// of the workspaces.
func (l grantSet) listWorkspaces(ctx context.Context, c *resource.Call, id string) ([]grantedWorkspace, error) {
	present, err := l.load(ctx, c.Reader, id)
	if err != nil || len(present) == 0 {
		return nil, err
	}
	rows, err := c.Reader.List(ctx, resource.Query{
		Kind: tenant.WorkspaceKind, OrgID: c.OrgID, IDs: slices.Sorted(maps.Keys(present)), Statuses: resource.LiveStatuses(), Limit: maxGrants, Bare: true,
	})
	slices.SortFunc(rows, func(a, b resource.Record) int { return cmp.Compare(a.ID, b.ID) })
	return each(rows, func(workspace resource.Record) grantedWorkspace {
		return grantedWorkspace{workspace, present[workspace.ID]}
	}), err
}

// readGrants reads the body of a change of grants, and what is granted so far. Asks says
// whether the body wants anything.
func (l grantSet) readGrants(ctx context.Context, tx resource.Tx, c *resource.Call, in resource.Record, body any, asks func() bool) (map[string]grant, error) {
	if in.WorkspaceID != "" {
		return nil, fault.Newf(fault.InvalidRequest, "an %s that belongs to a workspace cannot be granted to other workspaces", l.title)
	}
	if err := json.Unmarshal(encode(c.Sent), body); err != nil {
		return nil, fault.New(fault.InvalidRequest, "invalid body").WithCause(err)
	}
	if !asks() && !c.ChangesNothing() {
		return nil, fault.New(fault.InvalidRequest, "must not be empty; set override_existing_workspace_access to revoke all grants").WithParam("workspaces")
	}
	return l.load(ctx, tx, in.ID)
}

// readRequested is what the list of a body asks for its workspaces, by their ids; want reads
// the entry at i, and which workspace it names. With override those of the present
// grants that the list does not name get the zero value, which takes them away.
func readRequested[Entry, W any](ctx context.Context, tx resource.Tx, c *resource.Call, present map[string]grant, override bool, list []Entry, parse func(i int, in Entry) (name string, w W)) (map[string]W, error) {
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
	workspaces, err := namedWorkspaces(ctx, tx, c.OrgID, names, fault.ReferenceMissing)
	if err != nil {
		return nil, err
	}
	for i, workspace := range workspaces {
		out[workspace.ID] = wants[i]
	}
	return out, nil
}

// save writes the grants of an integration as links, and into the index of its record,
// which is written by who holds it.
func (l grantSet) save(ctx context.Context, tx resource.Tx, in *resource.Record, present map[string]grant) error {
	if len(present) > maxGrants {
		return fault.Newf(fault.InvalidParameter, "an %s must not be granted to more than %d workspaces", l.title, maxGrants).WithParam("workspaces")
	}
	links := make([]resource.Link, 0, len(present))
	in.Index = slices.DeleteFunc(in.Index, func(e resource.IndexEntry) bool { return e.Name == entryWorkspace })
	for _, workspace := range slices.Sorted(maps.Keys(present)) {
		links = append(links, resource.Link{ToID: workspace, Body: encode(present[workspace])})
		if present[workspace].Enabled {
			in.Index = append(in.Index, resource.IndexEntry{Name: entryWorkspace, Value: workspace})
		}
	}
	return tx.PutLinks(ctx, l.set(), in.ID, links)
}

// regrant changes the grants of those integrations of an organisation that have an index
// entry. Change does what goes with that, and has the grants by the id of the workspace.
func regrant[I any](ctx context.Context, tx resource.Tx, c *resource.Call, l grantSet, orgID string, having resource.IndexEntry, change func(in *resource.Row[I], present map[string]grant) error) error {
	rows, err := rowsOf[I](ctx, tx, resource.Query{
		Kind: l.kind, OrgID: orgID, Statuses: []string{resource.Active},
		Index: []resource.IndexEntry{levelEntry(orgLevel), having}, Limit: 1000,
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
		if err := l.save(ctx, tx, &in.Record, present); err != nil {
			return err
		}
		rec := in.Record
		rec.Body, rec.Updated = encode(in.Value), c.Now
		if err := tx.Update(ctx, rec); err != nil {
			return err
		}
	}
	return nil
}

// grantedTo lists the workspaces that may use an integration.
func grantedTo(entries []resource.IndexEntry) []string {
	var ids []string
	for _, e := range entries {
		if e.Name == entryWorkspace {
			ids = append(ids, e.Value)
		}
	}
	slices.Sort(ids)
	return ids
}
