package dataplane

import (
	"context"
	"strings"
	"sync"
	"time"

	"sluice/internal/llm"
	"sluice/internal/wire"
)

// How long it is known which model is behind a profile, and how long nobody asks again
// after no answer.
// Source: contract/provider-transforms.md 3.1 for the day; the minute is ours.
const (
	behindTime   = 24 * time.Hour
	behindFailed = time.Minute
)

// behindMax is how many profiles are kept.
const behindMax = 1024

// behind keeps the models behind profiles, by who asked and where: what one workspace's
// host says is not believed for another's. That nobody could tell is kept for saved
// providers only, because another inline credential may be told.
type behind struct {
	mu    sync.Mutex // guards known
	known map[profileKey]profiled
}

type profileKey struct{ workspace, account, host, model string }

type profiled struct {
	model string // empty: nobody could tell
	until time.Time
}

func newBehind() *behind { return &behind{known: make(map[profileKey]profiled)} }

func (b *behind) get(k profileKey, now time.Time) (model string, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p, ok := b.known[k]
	return p.model, ok && now.Before(p.until)
}

func (b *behind) put(k profileKey, p profiled) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.known) >= behindMax {
		clear(b.known) // rare, and cheaper than keeping an order for it
	}
	k.model, k.host = strings.Clone(k.model), strings.Clone(k.host)
	b.known[k] = p
}

// underlying is the model behind the one that the call names, "" when that tells by
// itself or the provider does not tell. A credential that may call a profile need not be
// one that may look at it, so the call goes on then, as one to a model of no known family.
// Source: contract/provider-transforms.md 3.1.
func (g *Gateway) underlying(ctx context.Context, a *attempt) (string, error) {
	d := g.tongues.dialects[a.spec.Dialect]
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
	if model, ok := g.behind.get(k, g.Clock.Now()); ok {
		return model, nil
	}
	answer, err := g.ask(ctx, a, &next)
	a.plan, a.body, a.extra, a.header, a.upstream, a.firstByte = nil, wire.Payload{}, nil, nil, 0, 0
	a.called, a.held, a.queue, a.connect = time.Time{}, time.Time{}, 0, 0
	if ctx.Err() != nil {
		return "", gone(ctx, err)
	}
	p := profiled{model: d.Profiles.Underlying(answer), until: g.Clock.Now().Add(behindTime)}
	if p.model == "" {
		p.until = g.Clock.Now().Add(behindFailed)
		g.Log.Warn("the model behind a profile is not known", "request_id", a.x.id, "trace_id", a.x.trace.id, "provider", a.spec.ID, "error", err)
	}
	if p.model != "" || a.account != nil {
		g.behind.put(k, p)
	}
	return p.model, nil
}
