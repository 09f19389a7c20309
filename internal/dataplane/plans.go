package dataplane

import (
	"strings"
	"sync"

	"sluice/internal/credential"
	"sluice/internal/llm"
	"sluice/internal/provider"
	"sluice/internal/routing"
)

// plans keeps what was planned lately: a target is asked for the same few models at the
// same address again and again. What is kept holds for one snapshot of the control plane.
type plans struct {
	mu        sync.RWMutex // guards what follows
	directory Directory
	known     map[planKey]*planned
}

// planned is where a call goes, and in whose words. It is shared and must not be changed.
type planned struct {
	plan   provider.Plan
	speech translation
}

// planKey is all that a plan depends on: who is called, with which credentials, and for
// what.
type planKey struct {
	spec    *provider.Spec
	target  *routing.Target
	account *credential.Account // nil: the target's own credentials
	surface llm.Endpoint
	call    provider.Call
}

// plansMax is how many plans are kept; planText bounds, in bytes, the caller's words in
// the key of each.
const (
	plansMax = 1024
	planText = 512
)

// find returns what is kept for an attempt's call, nil when nothing is. Lasts says whether
// a plan made now may be kept: not when it depends on credentials that came with the
// request, or on more of the request than its model.
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

// put keeps a plan for requests that see the same snapshot. Neither it nor its key may
// hold on to the text of a request: both are to be made of an owned call.
func (p *plans) put(dir Directory, k planKey, made *planned) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.directory != dir || len(p.known) >= plansMax {
		p.directory, p.known = dir, make(map[planKey]*planned)
	}
	p.known[k] = made
}

// owned is a call whose words are not parts of a request's text.
func owned(c provider.Call) provider.Call {
	for _, s := range [...]*string{&c.Method, &c.Path, &c.Model, &c.Underlying, &c.CustomHost} {
		*s = strings.Clone(*s)
	}
	return c
}
