package apikeys

import (
	"context"
	"slices"
	"strings"

	"sluice/internal/control/budgets"
	"sluice/internal/control/defaults"
	"sluice/internal/control/directory"
	"sluice/internal/control/resource"
	"sluice/internal/domain/keys"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
)

// apiKeys are the API keys. Only the creation of a key and a rotation show its raw value. The
// store contains its hash, and the value sealed.
// Source: contract/identity-and-governance.yaml, API keys; .md sections 1 and 5.
func (k apiKeys) apiKeys() resource.Resource {
	return &resource.Kind[keys.Key, apiKeyView]{
		Name: keys.Kind, Object: "api-key", Title: "API key", Tag: "API keys", Audited: "api_keys",
		Path: "/api-keys", Param: "id", ByID: true, Scopes: Scopes,
		Verbs: resource.AllVerbs, Scope: resource.Located, Locate: locateKey,
		Create: apiKeyIn{}, Update: apiKeyPatch{}, PreparedFields: append([]string{rotationField}, budgets.Fields...),
		Creation: resource.Creation{Path: "/api-keys/{type}/{sub_type}", Params: []resource.Param{
			{Name: "type", Enum: []string{"organisation", "workspace"}}, {Name: "sub_type", Enum: []string{"service", "user"}},
		}},
		Filters: []resource.Filter{
			{Param: resource.Param{Name: "type", Enum: []string{"user", "service"}}, Apply: func(*resource.Call, string, *resource.Query) error { return nil }},
			{Param: resource.Param{Name: "ids", Doc: "Ids separated by commas, at most 100"}, Apply: keysNamed},
			{Param: resource.Param{Name: "status", Enum: []string{"active", "exhausted", "expired"}}, Apply: func(_ *resource.Call, v string, q *resource.Query) error {
				q.Statuses = []string{v}
				return nil
			}},
		},
		Bare:       true,
		Select:     selectKeys,
		Authorize:  authorizeKey,
		Prepare:    k.prepareKey,
		Refs:       []resource.Ref[keys.Key]{defaults.ConfigRef(func(d *keys.Key) string { return d.Defaults.ConfigID }, "defaults.config_id", fault.NotFound)},
		CanArchive: canArchiveKey,
		Index:      func(r *resource.Row[keys.Key]) []resource.IndexEntry { return KeyIndex(&r.Value) },
		After: func(ctx context.Context, tx resource.Tx, c *resource.Call, ch *resource.Edit[keys.Key]) error {
			return budgets.UpdateMeters(ctx, k.Budgets, tx, c, ch, budgets.KeyLimits)
		},
		View: k.viewKey,
		Receipt: &resource.WriteResponse[keys.Key]{Shape: keyReceipt{}, Make: func(_ context.Context, _ *resource.Call, ch *resource.Edit[keys.Key]) (any, error) {
			return keyReceipt{ch.New.ID, ch.Raw.Reveal(), "api-key"}, nil
		}},
		Actions: []resource.Action[keys.Key]{k.rotation()},
	}
}

// timedEntry is the index entry of keys that change with time.
const timedEntry = "timed"

// KeyIndex returns the index entries of an API key, also for keys that other packages create:
// its hashes, its type, its owner, and whether it changes with time.
func KeyIndex(key *keys.Key) []resource.IndexEntry {
	entries := []resource.IndexEntry{{Name: "type", Value: string(key.Type)}}
	if key.UserID != "" {
		entries = append(entries, resource.IndexEntry{Name: directory.UserEntry, Value: key.UserID})
	}
	if key.Timed() {
		entries = append(entries, resource.IndexEntry{Name: timedEntry, Value: "1"})
	}
	for _, h := range key.Hashes() {
		entries = append(entries, resource.IndexEntry{Name: "hash", Value: h.String(), Unique: true})
	}
	return entries
}

// keyScopes are the prefixes of the scopes that manage each type of key.
var keyScopes = []struct {
	key  access.KeyType
	stem string
}{
	{access.OrganisationService, "organisation_service_api_keys."},
	{access.WorkspaceService, "workspace_service_api_keys."},
	{access.WorkspaceUser, "workspace_user_api_keys."},
}

// Scopes returns the scopes that permit an action on a key, or on any type of key if r is nil.
func Scopes(action string, r *resource.Row[keys.Key]) []access.Scope {
	var scopes []access.Scope
	for _, s := range keyScopes {
		if r == nil || r.Value.Type == s.key {
			scopes = append(scopes, access.Scope(s.stem+action))
		}
	}
	return scopes
}

// locateKey takes the type of a new key from the path. A user key or a service key belongs to a
// workspace, an Admin key does not.
func locateKey(_ context.Context, c *resource.Call, r *resource.Row[keys.Key]) error {
	switch c.Path("type") + "/" + c.Path("sub_type") {
	case "organisation/service":
		r.Value.Type = access.OrganisationService
		if !c.Principal.IsOrgWide() {
			return fault.New(fault.Forbidden, "only an Admin key, or an owner or admin of the organisation, can create Admin keys").WithParam("type")
		}
		return nil
	case "workspace/service":
		r.Value.Type = access.WorkspaceService
	case "workspace/user":
		r.Value.Type = access.WorkspaceUser
	default:
		return fault.New(fault.InvalidParameter, "must be organisation/service, workspace/service or workspace/user").WithParam("type")
	}
	r.WorkspaceID = c.WorkspaceID
	return c.RequireWorkspace()
}

// selectKeys narrows a list to the types that the caller may list. Without a workspace, an Admin
// key lists the keys of the organisation and of all its workspaces.
func selectKeys(_ context.Context, c *resource.Call, q *resource.Query) error {
	var types []access.KeyType
	for _, s := range keyScopes {
		isWorkspaceKey := s.key != access.OrganisationService
		fits := c.Query("type") == "" || (c.Query("type") == "user") == (s.key == access.WorkspaceUser)
		if (isWorkspaceKey || c.WorkspaceID == "") && fits && c.Holds(access.Scope(s.stem+"list")) {
			types = append(types, s.key)
		}
	}
	if leads := c.Principal.CanManageUsers(c.WorkspaceID); !leads { // they do not see the keys of other users
		q.Index = append(q.Index, resource.IndexEntry{Name: directory.UserEntry, Value: c.Principal.UserID})
	}
	if len(types) == len(keyScopes) {
		return nil
	}
	q.OneOf = []resource.IndexEntry{{Name: "type", Value: "none"}}
	for _, t := range types {
		q.OneOf = append(q.OneOf, resource.IndexEntry{Name: "type", Value: string(t)})
	}
	return nil
}

// keysNamed selects keys by their ids.
func keysNamed(_ *resource.Call, v string, q *resource.Query) error {
	q.IDs = strings.Split(v, ",")
	if len(q.IDs) > 100 || slices.ContainsFunc(q.IDs, func(id string) bool { return !ident.ValidID(id) }) {
		return fault.New(fault.InvalidParameter, "must be a list of at most 100 API key ids, separated by commas").WithParam("ids")
	}
	return nil
}

// authorizeKey restricts callers who do not manage the workspace to their own keys.
func authorizeKey(_ context.Context, c *resource.Call, r *resource.Row[keys.Key]) error {
	if r.Value.Type == access.WorkspaceUser && !IsCallerKey(c, r) && !c.Principal.CanManageUsers(r.WorkspaceID) {
		return fault.New(fault.NotFound, "the API key belongs to another user")
	}
	return nil
}

func canArchiveKey(_ context.Context, c *resource.Call, r *resource.Row[keys.Key]) error {
	if c.Principal.Kind == access.ByKey && c.Principal.ID == r.ID {
		return fault.New(fault.InvalidRequest, "a key cannot delete itself")
	}
	return nil
}
