package gateway

import (
	"strings"
	"sync"

	"sluice/internal/domain/credential"
	"sluice/internal/domain/routing"
	"sluice/internal/kernel/llm"
	"sluice/internal/provider"
)

// plans caches recent plans, because a target receives calls for the same few models at the same
// address. The cache is valid for one snapshot of the control plane.
type plans struct {
	mu        sync.RWMutex // guards the fields below
	directory Directory
	known     map[planKey]*planned
}

// planned is the address of a call and its translation. It is shared and must not be changed.
type planned struct {
	plan   provider.Plan
	speech translation
}

// planKey is everything that a plan depends on: the provider, its credentials and the call.
type planKey struct {
	spec    *provider.Spec
	target  *routing.Target
	account *credential.Account // nil: the target's own credentials
	surface llm.Endpoint
	call    provider.Call
}

// plansMax is the maximum number of cached plans. planText is the maximum size, in bytes, of the
// caller's text in each key.
const (
	plansMax = 1024
	planText = 512
)

// find returns the cached plan of an attempt's call, or nil. lasts reports whether a new plan may
// be cached. It is false when the plan depends on credentials from the request, or on more of the
// request than its model.
func (p *plans) find(a *attempt, call provider.Call, surface llm.Endpoint) (k planKey, cached *planned, lasts bool) {
	if !a.cacheable || call.Endpoint == llm.Proxy || call.ID != "" || call.RawQuery != "" || call.User != "" {
		return k, nil, false
	}
	k = planKey{a.spec, a.target, a.account, surface, call}
	p.mu.RLock()
	defer p.mu.RUnlock()
	if p.directory == a.x.dir {
		cached = p.known[k]
	}
	return k, cached, len(call.Path)+len(call.Model)+len(call.Underlying)+len(call.CustomHost) <= planText
}

// put caches a plan for requests that use the same snapshot. The plan and its key must not
// reference the memory of a request: build both from an owned call.
func (p *plans) put(dir Directory, k planKey, made *planned) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.directory != dir || len(p.known) >= plansMax {
		p.directory, p.known = dir, make(map[planKey]*planned)
	}
	p.known[k] = made
}

// owned returns a copy of a call whose strings do not reference a request's memory.
func owned(c provider.Call) provider.Call {
	for _, s := range [...]*string{&c.Method, &c.Path, &c.Model, &c.Underlying, &c.CustomHost} {
		*s = strings.Clone(*s)
	}
	return c
}
