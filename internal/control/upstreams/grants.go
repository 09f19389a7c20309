package upstreams

import (
	"context"
	"maps"
	"net/http"
	"slices"

	"sluice/internal/control/grants"
	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/control/resource/listing"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
)

// upstreamGrantsIn lists which workspaces may use an integration of the organisation.
// Source: contract/content-and-observability.yaml, PUT /mcp-integrations/{id}/workspaces.
type upstreamGrantsIn struct {
	Workspaces []upstreamGrantIn                     `json:"workspaces" nullable:"false" maxItems:"900"`
	Global     *jsonfield.Nullable[upstreamGlobalIn] `json:"global_workspace_access,omitempty" nullable:"true"`
	Override   bool                                  `json:"override_existing_workspace_access,omitempty" doc:"Replaces all present grants with the list"`
}

type upstreamGrantIn struct {
	ID      string `json:"id" doc:"Slug or id of the workspace"`
	Enabled bool   `json:"enabled" doc:"true creates a server in the workspace unless it has one; false disables its servers"`
}

// upstreamGlobalIn defines what every new workspace gets.
type upstreamGlobalIn struct {
	Enabled bool `json:"enabled" doc:"Grants the integration to every new workspace"`
}

type globalView struct {
	Enabled bool `json:"enabled"`
}

// upstreamGrantsView lists the grants in the field that the caller requested.
type upstreamGrantsView struct {
	Workspaces *[]grants.GrantView            `json:"workspaces,omitempty" doc:"Present without the parameter version"`
	Data       *[]grants.GrantView            `json:"data,omitempty" doc:"Present with the parameter version"`
	Global     jsonfield.Nullable[globalView] `json:"global_workspace_access"`
	Total      int                            `json:"total"`
}

// grantActions read and change which workspaces may use an integration of the
// organisation.
func (f *serverKind[I, S]) grantActions(idName string) []resource.Action[I] {
	return []resource.Action[I]{
		{
			Name: "read", Method: http.MethodGet, Path: "/workspaces", ID: "list" + idName + "Workspaces", Summary: "List the workspaces that may use an " + f.title,
			Query: append(listing.SearchParams("part of the name or slug of the workspace"), resource.Param{Name: "version", Doc: "Any value; returns the list in data"}), Response: upstreamGrantsView{}, Read: f.viewGrants,
		},
		{
			Name: "manage", Scope: "update", Method: http.MethodPut, Path: "/workspaces", ID: "update" + idName + "Workspaces",
			Summary: "Grant an " + f.title + " to workspaces, or revoke the grant", Body: upstreamGrantsIn{}, Run: f.putGrants,
		},
	}
}

func (f *serverKind[I, S]) grants() grants.Set {
	return grants.Set{Kind: f.integration, Title: f.title}
}

func (f *serverKind[I, S]) putGrants(ctx context.Context, tx resource.Tx, c *resource.Call, ch *resource.Edit[I]) (any, error) {
	var in upstreamGrantsIn
	_, global := c.Sent["global_workspace_access"]
	present, err := f.grants().ReadGrants(ctx, tx, c, ch.New.Record, &in, func() bool { return len(in.Workspaces) > 0 || in.Override || global })
	if err != nil {
		return nil, err
	}
	requested, err := grants.ReadRequested(ctx, tx, c, present, in.Override, in.Workspaces, func(_ int, w upstreamGrantIn) (string, bool) { return w.ID, w.Enabled })
	if err != nil {
		return nil, err
	}
	for _, workspace := range slices.Sorted(maps.Keys(requested)) {
		if err := f.grantOne(ctx, tx, c, ch.New, present, workspace, requested[workspace]); err != nil {
			return nil, err
		}
	}
	if global {
		var sent *upstreamGlobalIn
		if err := c.Sent.Into("global_workspace_access", &sent); err != nil {
			return nil, err
		}
		to := f.upstreamOf(&ch.New.Value).global
		if *to = nil; sent != nil {
			*to = &sent.Enabled
		}
	}
	return nil, f.grants().Save(ctx, tx, &ch.New.Record, present)
}

// grantOne grants the integration to a workspace, with a server unless there is one, or
// withdraws it.
func (f *serverKind[I, S]) grantOne(ctx context.Context, tx resource.Tx, c *resource.Call, in *resource.Row[I], present map[string]grants.Grant, workspace string, enabled bool) error {
	old, known := present[workspace]
	if known && old.Enabled == enabled {
		return nil
	}
	if !known {
		old.Created = c.Now.UnixMilli()
	}
	present[workspace] = grants.Grant{Enabled: enabled, Created: old.Created, Updated: c.Now.UnixMilli()}
	if !enabled {
		return nil
	}
	servers, err := resource.ListReferrers(ctx, tx, f.server, in.Record, workspace)
	if err != nil || len(servers) > 0 {
		return err
	}
	slug, err := f.freeSlug(ctx, tx, in)
	if err != nil {
		return err
	}
	name := f.upstreamOf(&in.Value).name
	r := &resource.Row[S]{
		Record: resource.Record{ID: ident.NewID(), OrgID: in.OrgID, WorkspaceID: workspace, Name: name, Slug: slug},
		Value:  f.found(name, in.ID, c.Principal.Actor()),
	}
	return f.put(ctx, tx, c, r, in.Record)
}

// Length limits of server slugs.
const (
	minServerSlug = 3
	maxServerSlug = 50
)

// freeSlug returns the slug of the integration if no server has it and it is valid for a server;
// otherwise a slug that begins like it.
func (f *serverKind[I, S]) freeSlug(ctx context.Context, from resource.Reader, in *resource.Row[I]) (string, error) {
	if len(in.Slug) >= minServerSlug && len(in.Slug) <= maxServerSlug {
		_, err := from.FindSlug(ctx, f.server, in.OrgID, in.Slug)
		if fault.Has(err, fault.NotFound) {
			return in.Slug, nil
		}
		if err != nil {
			return "", err
		}
	}
	return ident.NewSlug(in.Slug[:min(len(in.Slug), maxServerSlug-10)]), nil
}

// grantNew grants the integrations with global access to a new workspace.
func (f *serverKind[I, S]) grantNew(ctx context.Context, tx resource.Tx, c *resource.Call, workspace resource.Record) error {
	return grants.Regrant(ctx, tx, c, f.grants(), workspace.OrgID, grants.GlobalEntry, func(in *resource.Row[I], present map[string]grants.Grant) error {
		return f.grantOne(ctx, tx, c, in, present, workspace.ID, true)
	})
}

func (f *serverKind[I, S]) viewGrants(ctx context.Context, c *resource.Call, r resource.Row[I]) (any, error) {
	workspaces, err := f.grants().ListWorkspaces(ctx, c, r.ID)
	if err != nil {
		return nil, err
	}
	text, err := listing.SearchText(c)
	if err != nil {
		return nil, err
	}
	list := make([]grants.GrantView, 0, len(workspaces))
	for _, workspace := range workspaces {
		if listing.HasText(text, workspace.Name, workspace.ShownSlug()) {
			v := grants.View(workspace)
			v.ID = workspace.ID
			list = append(list, v)
		}
	}
	out := upstreamGrantsView{Global: globalOf(*f.upstreamOf(&r.Value).global), Total: len(list)}
	if c.Query("version") != "" {
		out.Data = &list
	} else {
		out.Workspaces = &list
	}
	return out, nil
}

// globalOf shows whether every new workspace gets an integration; null if it was never set.
func globalOf(enabled *bool) jsonfield.Nullable[globalView] {
	if enabled == nil {
		return jsonfield.Nullable[globalView]{}
	}
	return jsonfield.Nullable[globalView]{Object: &globalView{*enabled}}
}
