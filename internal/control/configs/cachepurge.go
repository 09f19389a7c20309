package configs

import (
	"context"
	"net/http"
	"strings"
	"time"

	"sluice/internal/control/resource"
	"sluice/internal/domain/respcache"
	"sluice/internal/domain/routing"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
)

// maxCacheAge is the longest time for which a response is cached, in seconds.
// Source: contract/dataplane.md 4.7.
const maxCacheAge = 7_776_000

// routes returns the route that removes cached responses. It is ours.
func (k responseCache) routes() resource.Resource {
	return resource.Operations{{
		Method: http.MethodDelete, Path: "/cache", ID: "purgeCache", Summary: "Remove responses from the response cache", Tag: "Configs",
		Scopes: []access.Scope{"cache.purge"}, Audited: "cache", Action: "purge", Response: purgeView{}, Run: k.purge,
		Query: []resource.Param{
			resource.WorkspaceParam,
			{Name: "cache_key", Doc: "Cache key of one response, as the request log shows it: 64 hexadecimal digits", MaxLength: 64},
			{Name: "api_key_id", Doc: "Id of an API key: responses that its calls stored", Format: "uuid"},
			{Name: "namespace", Doc: "Cache namespace of the calls", MaxLength: 1024},
			{Name: "config", Doc: "Id or slug of a config; inline for configs that requests contained", MaxLength: 255},
			{Name: "model", Doc: "Requested model, for example gpt-4o", MaxLength: 256},
			{Name: "older_than", Doc: "Age in seconds: responses that were stored earlier", Type: "integer", Min: 1, Max: maxCacheAge},
			{Name: "all", Doc: "true removes every response of the workspace, or of the organisation for an Admin key that names no workspace; required without another filter", Type: "boolean"},
		},
	}}
}

// purgeView is the result of a purge.
type purgeView struct {
	Object string `json:"object" enum:"cache_purge"`
	Purged int    `json:"purged" doc:"Number of responses that this node removed, or with a cache in Redis all nodes. The others remove theirs within seconds"`
}

// purge removes the cached responses that the parameters select. All that are sent must match.
func (k responseCache) purge(ctx context.Context, c *resource.Call) (any, error) {
	if k.Cache == nil {
		return nil, fault.New(fault.NotSupported, "this gateway has no response cache; set RESPONSE_CACHE_STORE to memory, disk or redis")
	}
	f, err := purgeFilter(ctx, c)
	if err != nil {
		return nil, err
	}
	// Audit trail and record contain the purge before anything is removed.
	if err := c.Change(ctx, func(tx resource.Tx) error { return recordPurge(ctx, tx, f, c.Now) }); err != nil {
		return nil, err
	}
	n, err := k.Cache.Purge(ctx, f)
	return purgeView{Object: "cache_purge", Purged: n}, err
}

// purgeFilter reads the filter of a call.
func purgeFilter(ctx context.Context, c *resource.Call) (*respcache.Filter, error) {
	f := &respcache.Filter{
		Organisation: c.OrgID, Workspace: c.WorkspaceID, Key: strings.ToLower(c.Query("cache_key")), APIKey: c.Query("api_key_id"),
		Namespace: c.Query("namespace"), Model: c.Query("model"),
	}
	if seconds := c.Int("older_than"); seconds > 0 {
		f.Before = c.Now.Add(-time.Duration(seconds) * time.Second)
	}
	switch {
	case f.Key != "" && !respcache.ValidKey(f.Key):
		return nil, fault.New(fault.InvalidParameter, "must have 64 hexadecimal digits; send the cache key of a log").WithParam("cache_key")
	case f.APIKey != "" && !ident.ValidID(f.APIKey):
		return nil, fault.New(fault.InvalidParameter, "must be the id of an API key").WithParam("api_key_id")
	}
	var err error
	if f.Config, err = purgedConfig(ctx, c); err != nil {
		return nil, err
	}
	if narrowed := *f; narrowed == (respcache.Filter{Organisation: f.Organisation, Workspace: f.Workspace}) && c.Query("all") != "true" {
		return nil, fault.New(fault.InvalidParameter, "send a filter such as model or older_than, or all=true to remove every response").WithParam("all")
	}
	return f, nil
}

// purgedConfig returns the slug of the config that a call names: the cache stores slugs. Without a
// config of that name it returns the name, because responses of a deleted config may be cached.
func purgedConfig(ctx context.Context, c *resource.Call) (string, error) {
	name := c.Query("config")
	if name == "" {
		return "", nil
	}
	r, err := resource.FindByName(ctx, c.Reader, routing.SavedKind, access.Target{OrgID: c.OrgID, WorkspaceID: c.WorkspaceID}, name)
	switch {
	case fault.Has(err, fault.NotFound):
		return name, nil
	case err != nil:
		return "", err
	}
	return r.ShownSlug(), nil
}
