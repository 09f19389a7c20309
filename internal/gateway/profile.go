package gateway

import (
	"context"
	"strings"
	"time"

	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/wire"
)

// How long a resolved inference profile is cached, and how long a failed lookup is not repeated.
// Source: contract/provider-transforms.md 3.1 for the day; the minute is ours.
const (
	profileTime   = 24 * time.Hour
	profileFailed = time.Minute
)

// maxProfiles is the maximum number of cached profiles.
const maxProfiles = 1024

// profileKey identifies the lookup of a profile. A result from one workspace's host is not used
// for another workspace.
type profileKey struct{ workspace, account, host, model string }

// profiled is a cached lookup. A failed lookup is cached for saved providers only, because
// another inline credential may succeed.
type profiled struct {
	model string // empty: the lookup failed
	until time.Time
}

// underlying returns the model of an inference profile. It returns "" when the model name is not
// a profile or the provider does not return the model. A credential that may call a profile may
// lack the permission to read it, so the call continues then, as one to a model of an unknown
// family.
// Source: contract/provider-transforms.md 3.1.
func (c *callPlanner) underlying(ctx context.Context, a *attempt) (string, error) {
	d := c.dialects.dialects[a.spec.Dialect]
	if d == nil || d.Profiles == nil || a.x.match.Endpoint == llm.Proxy {
		return "", nil
	}
	next, ok := d.Profiles.Lookup(a.model)
	if !ok {
		return "", nil
	}
	k := profileKey{workspace: a.x.key.Principal.WorkspaceID, host: a.customHost(), model: a.model}
	if a.account != nil {
		k.account = a.account.Slug
	}
	if p, ok := c.profiles.Get(k); ok && c.clock.Now().Before(p.until) {
		return p.model, nil
	}
	response, err := c.followUps.ask(ctx, a, &next)
	a.plan, a.body, a.extra, a.header, a.upstream, a.firstByte = nil, wire.Payload{}, nil, nil, 0, 0
	a.called, a.bodyReadAt, a.queue, a.connect = time.Time{}, time.Time{}, 0, 0
	if ctx.Err() != nil {
		return "", clientGone(ctx, err)
	}
	p := profiled{model: d.Profiles.Underlying(response), until: c.clock.Now().Add(profileTime)}
	if p.model == "" {
		p.until = c.clock.Now().Add(profileFailed)
		c.log.Warn("cannot resolve inference profile", "request_id", a.x.id, "trace_id", a.x.trace.ID, "provider", a.spec.ID, "error", err)
	}
	if p.model != "" || a.account != nil {
		k.model, k.host = strings.Clone(k.model), strings.Clone(k.host)
		c.profiles.Put(k, p)
	}
	return p.model, nil
}
