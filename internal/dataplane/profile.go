package dataplane

import (
	"context"
	"strings"
	"time"

	"sluice/internal/llm"
	"sluice/internal/wire"
)

// How long it is known which model is behind a profile, and how long nobody asks again
// after no answer.
// Source: contract/provider-transforms.md 3.1 for the day; the minute is ours.
const (
	profileTime   = 24 * time.Hour
	profileFailed = time.Minute
)

// maxProfiles is how many profiles are kept with the models behind them.
const maxProfiles = 1024

// profileKey is who asked for the model behind a profile, and where: what one workspace's
// host says is not believed for another's.
type profileKey struct{ workspace, account, host, model string }

// profiled is what is known of a profile. That nobody could tell is kept for saved providers
// only, because another inline credential may be told.
type profiled struct {
	model string // empty: nobody could tell
	until time.Time
}

// underlying is the model behind the one that the call names, "" when that tells by
// itself or the provider does not tell. A credential that may call a profile need not be
// one that may look at it, so the call goes on then, as one to a model of no known family.
// Source: contract/provider-transforms.md 3.1.
func (g *Gateway) underlying(ctx context.Context, a *attempt) (string, error) {
	d := g.dialects.dialects[a.spec.Dialect]
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
	if p, ok := g.profiles.get(k); ok && g.Clock.Now().Before(p.until) {
		return p.model, nil
	}
	response, err := g.ask(ctx, a, &next)
	a.plan, a.body, a.extra, a.header, a.upstream, a.firstByte = nil, wire.Payload{}, nil, nil, 0, 0
	a.called, a.bodyReadAt, a.queue, a.connect = time.Time{}, time.Time{}, 0, 0
	if ctx.Err() != nil {
		return "", clientGone(ctx, err)
	}
	p := profiled{model: d.Profiles.Underlying(response), until: g.Clock.Now().Add(profileTime)}
	if p.model == "" {
		p.until = g.Clock.Now().Add(profileFailed)
		g.Log.Warn("cannot resolve inference profile", "request_id", a.x.id, "trace_id", a.x.trace.id, "provider", a.spec.ID, "error", err)
	}
	if p.model != "" || a.account != nil {
		k.model, k.host = strings.Clone(k.model), strings.Clone(k.host)
		g.profiles.put(k, p)
	}
	return p.model, nil
}
