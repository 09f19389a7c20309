package admin

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"sluice/internal/credential"
	"sluice/internal/fault"
	"sluice/internal/resource"
)

// The sets of links of an integration: to the workspaces that were granted it, and
// to its organisation when every new workspace is to be.
const (
	linkWorkspaces = "integration.workspaces"
	linkGlobal     = "integration.global"
)

// maxGrants bounds the workspaces that one integration is granted to one by one.
const maxGrants = 900

// grantActions read and change which workspaces may use an integration of the
// organisation. Source: contract/identity-and-governance.yaml,
// /integrations/{slug}/workspaces; .md section 12.
func (k kinds) grantActions() []resource.Action[credential.Integration] {
	return []resource.Action[credential.Integration]{
		{
			Name: "read", Method: http.MethodGet, Path: "/workspaces", ID: "listIntegrationWorkspaces", Summary: "List the workspaces that may use an integration",
			Answer: grantsView{}, Read: viewGrants,
		},
		{
			Name: "manage", Scope: "update", Method: http.MethodPut, Path: "/workspaces", ID: "updateIntegrationWorkspaces",
			Summary: "Grant an integration to workspaces, or take it away", Body: grantsIn{}, Run: k.putGrants,
		},
	}
}

type grantsIn struct {
	Workspaces   []grantIn `json:"workspaces,omitempty" nullable:"false" maxItems:"900"`
	Global       *globalIn `json:"global_workspace_access,omitempty"`
	Override     bool      `json:"override_existing_workspace_access,omitempty" doc:"the list replaces all present grants"`
	MakeProvider bool      `json:"create_default_provider,omitempty" default:"true"`
	ProviderSlug string    `json:"default_provider_slug,omitempty" maxLength:"255" pattern:"^[a-zA-Z0-9_-]+$" doc:"by default that of the integration"`
}

type grantIn struct {
	ID           string `json:"id" doc:"slug or id of the workspace"`
	Enabled      bool   `json:"enabled" doc:"false takes the integration away"`
	MakeProvider *bool  `json:"create_default_provider,omitempty" doc:"beats the value above"`
	ProviderSlug string `json:"default_provider_slug,omitempty" maxLength:"255" pattern:"^[a-zA-Z0-9_-]+$" doc:"beats the value above"`
}

type globalIn struct {
	Enabled bool `json:"enabled" doc:"every new workspace gets the integration"`
}

type grantsView struct {
	Object     string      `json:"object" enum:"list"`
	Total      int         `json:"total"`
	Workspaces []grantView `json:"workspaces" nullable:"false"`
	Global     *globalView `json:"global_workspace_access,omitempty"`
}

type grantView struct {
	ID            string          `json:"id" doc:"slug of the workspace"`
	Enabled       bool            `json:"enabled"`
	Status        string          `json:"status" enum:"active,archived"`
	CreatedAt     resource.Stamp  `json:"created_at"`
	LastUpdatedAt *resource.Stamp `json:"last_updated_at" nullable:"true"`
}

type globalView struct {
	Enabled bool `json:"enabled"`
}

// grant is the body of a link to a workspace.
type grant struct {
	Enabled bool  `json:"enabled"`
	Created int64 `json:"created_ms"`
	Updated int64 `json:"updated_ms"`
}

// grants are those of an integration by the id of the workspace.
func grants(ctx context.Context, from resource.Reader, integrationID string) (map[string]grant, error) {
	links, err := from.Links(ctx, linkWorkspaces, integrationID)
	if err != nil {
		return nil, err
	}
	m := make(map[string]grant, len(links))
	for _, l := range links {
		var g grant
		if err := json.Unmarshal(l.Body, &g); err != nil {
			return nil, fmt.Errorf("decode a grant of integration %s: %w", integrationID, err)
		}
		m[l.ToID] = g
	}
	return m, nil
}

// putGrants does what was asked for, workspace by workspace: first what is taken
// away, then what is given.
func (k kinds) putGrants(ctx context.Context, tx resource.Tx, c *resource.Call, ch *resource.Edit[credential.Integration]) (any, error) {
	if ch.New.WorkspaceID != "" {
		return nil, fault.New(fault.InvalidRequest, "an integration of a workspace cannot be granted to others")
	}
	in := grantsIn{MakeProvider: true}
	if err := json.Unmarshal(encode(c.Sent), &in); err != nil {
		return nil, fault.New(fault.InvalidRequest, "the body cannot be used").Because(err)
	}
	if len(in.Workspaces) == 0 && !in.Override && in.Global == nil {
		return nil, fault.New(fault.InvalidRequest, "the list is empty; set override_existing_workspace_access to take all grants away").At("workspaces")
	}
	present, err := grants(ctx, tx, ch.New.ID)
	if err != nil {
		return nil, err
	}
	wanted, err := wantedGrants(ctx, tx, c, in, present)
	if err != nil {
		return nil, err
	}
	g := granter{k, tx, c, ch.New, present}
	for _, enabled := range []bool{false, true} {
		for id, w := range wanted {
			if w.enabled != enabled {
				continue
			}
			if err := g.set(ctx, id, w); err != nil {
				return nil, err
			}
		}
	}
	if in.Global != nil {
		if err := g.global(ctx, in.Global.Enabled); err != nil {
			return nil, err
		}
	}
	return nil, g.save(ctx)
}

// wanted is what was asked for a workspace.
type wanted struct {
	enabled, provider bool
	slug              string // of the default provider; empty for the usual one
}

func wantedGrants(ctx context.Context, tx resource.Tx, c *resource.Call, in grantsIn, present map[string]grant) (map[string]wanted, error) {
	out := make(map[string]wanted, len(in.Workspaces))
	if in.Override {
		for id := range present {
			out[id] = wanted{}
		}
	}
	names := make([]string, len(in.Workspaces))
	for i, w := range in.Workspaces {
		names[i] = w.ID
	}
	places, err := namedWorkspaces(ctx, tx, c.OrgID, names, fault.ReferenceMissing)
	if err != nil {
		return nil, err
	}
	for i, w := range in.Workspaces {
		one := wanted{w.Enabled, in.MakeProvider, in.ProviderSlug}
		if w.MakeProvider != nil {
			one.provider = *w.MakeProvider
		}
		if w.ProviderSlug != "" {
			one.slug = w.ProviderSlug
		}
		out[places[i].ID] = one
	}
	return out, nil
}

func viewGrants(ctx context.Context, c *resource.Call, r resource.Row[credential.Integration]) (any, error) {
	links, err := c.Reader.Links(ctx, linkWorkspaces, r.ID)
	if err != nil {
		return nil, err
	}
	out := grantsView{Object: "list", Workspaces: make([]grantView, 0, len(links))}
	for _, l := range links {
		var g grant
		if err := json.Unmarshal(l.Body, &g); err != nil {
			return nil, fmt.Errorf("decode a grant of integration %s: %w", r.ID, err)
		}
		place, err := c.Reader.Find(ctx, "workspace", l.ToID)
		if fault.Has(err, fault.NotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		out.Workspaces = append(out.Workspaces, viewGrant(place, g))
	}
	out.Total = len(out.Workspaces)
	out.Global, err = readGlobal(ctx, c.Reader, r.ID)
	return out, err
}

func viewGrant(place resource.Record, g grant) grantView {
	updated := fromMillis(g.Updated)
	v := grantView{ID: place.ShownSlug(), Enabled: g.Enabled, Status: place.Status, CreatedAt: stamp(fromMillis(g.Created)), LastUpdatedAt: resource.StampOf(&updated)}
	if !g.Enabled {
		v.Status = resource.Archived
	}
	return v
}

// grantedTo lists the workspaces that may use an integration.
func grantedTo(entries []resource.IndexEntry) []string {
	var ids []string
	for _, e := range entries {
		if e.Name == entryPlace {
			ids = append(ids, e.Value)
		}
	}
	slices.Sort(ids)
	return ids
}
