package dataplane

import (
	"sluice/internal/llm"
	"sluice/internal/quota"
)

// metered reports whether limits and ledger entries apply to a call: to every call that makes a
// model work or makes a provider store or do something. Reading data and counting tokens is free,
// even for callers whose budgets are used up.
// Source: contract/identity-and-governance.md section 6, dataplane.md 4.8.
func metered(m llm.Match, method, path string) bool {
	switch {
	case m.Endpoint == llm.Realtime:
		return true
	case freeEndpoints[m.Endpoint], readMethods[method], cancelsWork(path):
		return false
	}
	return m.Endpoint != llm.Proxy || !countsTokens(path)
}

// freeEndpoints are the endpoints that do not only read data but are free.
var freeEndpoints = map[llm.Endpoint]bool{llm.MessagesCountTokens: true, llm.CountResponseInputTokens: true, llm.CancelBatch: true, llm.CancelFinetune: true}

// readMethods are the methods that do not start work.
var readMethods = map[string]bool{"GET": true, "HEAD": true, "DELETE": true, "OPTIONS": true}

// collectHolds lists what the attempt takes from every limit that applies, in the order of the
// checks: first budgets, then, from index rates on, rates.
// Source: contract/identity-and-governance.md section 7.
func (g *Gateway) collectHolds(a *attempt) (holds []quota.Hold, rates int) {
	x, p := a.x, &a.x.key.Principal
	integration, account := quota.NoPlan(), quota.NoPlan()
	if a.account != nil {
		integration = x.dir.IntegrationLimits(a.account.IntegrationID, p.WorkspaceID)
		account = x.dir.Limits(a.account.Kind, a.account.RecordID)
	}
	call, policies := &x.scratch.call, x.dir.Policies(p.WorkspaceID)
	*call = a.policyCall()
	h := append(append(x.scratch.holds[:0], integration.Budgets...), account.Budgets...)
	h = append(append(h, x.limits.workspace.Budgets...), x.limits.key.Budgets...)
	paces := append(append(x.scratch.rateHolds[:0], integration.Rates...), account.Rates...)
	paces = tokenRates(tokenRates(paces, x.limits.workspace), x.limits.key)
	h, paces = policies.Match(call, h, paces)
	rates = len(h)
	h = append(h, paces...)
	for i := range h {
		h[i].Org = p.OrgID
		a.demand(&h[i])
	}
	x.scratch.holds, x.scratch.rateHolds = h, paces
	return h, rates
}

// policyCall returns the attributes of the call that policies match.
func (a *attempt) policyCall() quota.Call {
	x, p := a.x, &a.x.key.Principal
	c := quota.Call{
		OrgID: p.OrgID, Workspace: quota.Named{ID: p.WorkspaceID}, KeyID: p.ID, Provider: a.spec.ID, Config: x.savedAs,
		Model: a.model, Endpoint: x.match.Endpoint, Metadata: x.metadata,
	}
	if x.prompt != nil && x.prompt.saved != nil {
		c.Prompt = quota.Named{Slug: x.prompt.saved.Slug, ID: x.prompt.saved.ID}
	}
	if x.scope != nil {
		c.Workspace.Slug = x.scope.Slug
	}
	if a.account != nil {
		c.Account = quota.Named{Slug: a.account.Slug, ID: a.account.RecordID}
	}
	return c
}
