package dataplane

import (
	"cmp"
	"context"
	"math"

	"sluice/internal/catalog"
	"sluice/internal/dialect/usage"
	"sluice/internal/gateway/metering"
	"sluice/internal/jobs"
	"sluice/internal/keys"
	"sluice/internal/ledger"
	"sluice/internal/llm"
	"sluice/internal/quota"
	"sluice/internal/record"
	"sluice/internal/tenant"
)

// jobBill computes the usage and the cost of a job. It belongs to one goroutine.
type jobBill struct {
	g       *Gateway
	job     *jobs.Job
	terms   *catalog.PriceOverrides
	tariff  *catalog.RateCard // of the job's model
	tariffs map[string]*catalog.RateCard

	state    ledger.State
	status   string // as the provider spells it
	failed   bool
	reason   string // why the outcome is unknown
	doc      []byte // the provider's description of the job
	model    string // model that responded; the last of several
	usage    llm.Usage
	cost     int64
	lacks    string
	other    []catalog.Other // units that are not in usage
	lines    []catalog.Term  // one for each dimension, rate and factor
	termsBuf []catalog.Term
}

// maxTerms is the maximum number of terms in the bill of a job. Further terms are only added to
// the cost.
const maxTerms = 256

func (g *Gateway) newJobBill(j *jobs.Job) *jobBill {
	dir := g.Directory()
	b := &jobBill{g: g, job: j, state: ledger.Settled, tariffs: map[string]*catalog.RateCard{}}
	if j.ProviderID != "" {
		b.terms = dir.Agreement(dir.FindAccount(j.WorkspaceID, j.ProviderID))
	}
	b.tariff = b.priceOf(j.Model)
	return b
}

func (b *jobBill) priceOf(model string) *catalog.RateCard {
	t := b.tariffs[model]
	if t == nil {
		t = b.g.Prices.Find(b.job.Provider, model, b.terms)
		if len(b.tariffs) < maxTerms {
			b.tariffs[model] = t
		}
	}
	return t
}

// line adds one result line of a batch.
func (b *jobBill) line(line []byte) {
	res := jobs.ReadResult(line)
	if len(res.Body) == 0 {
		return
	}
	ep := b.endpoint()
	u, model := usageIn(ep, res.Body)
	switch {
	case u.Reported:
	case res.Failed:
		return
	default:
		u = b.estimated(ep, res.Body)
	}
	tariff := b.tariff
	if model != "" {
		b.model = model
		if t := b.priceOf(model); t.Reason() == "" {
			tariff = t
		}
	}
	u = u.Bounded()
	u.Tier = ""
	basis := catalog.Basis{Region: cmp.Or(u.Region, b.job.Region), Execution: catalog.Batch, CachedAudio: u.CachedAudioTokens, CachedImages: u.CachedImageTokens, FreeInput: u.FreeInputTokens, FreeOutput: u.FreeOutputTokens}
	units := basis.Units(ep, &u)
	b.add(tariff.Cost(&units, b.termsBuf))
	b.usage = b.usage.Add(u)
}

// endpoint returns the endpoint of the requests of a batch.
func (b *jobBill) endpoint() llm.Endpoint {
	if source := b.job.Input; source != nil && len(source.Groups) > 0 {
		return source.Groups[0].Endpoint
	}
	return llm.ChatComplete
}

// estimated counts a response without reported usage. The output is counted from the body; the
// input is the average of the maximum input of the batch's requests.
func (b *jobBill) estimated(ep llm.Endpoint, body []byte) llm.Usage {
	b.state = ledger.Estimated
	u := llm.Usage{OutputTokens: b.g.counter.ResponseBody(ep, body, b.job.Model).Tokens}
	if source := b.job.Input; source != nil && source.Lines > 0 {
		for i := range source.Groups {
			u.InputTokens += source.Groups[i].Input
		}
		u.InputTokens /= source.Lines
	}
	u.TotalTokens = u.InputTokens + u.OutputTokens
	return u
}

// training bills the trained tokens, or the duration of the training if only that has a price.
func (b *jobBill) training(st *jobs.State) {
	units := catalog.Units{Region: b.job.Region}
	switch {
	case st.Trained > 0 && (b.tariff.HasPrice(catalog.TrainingTokens) || !b.tariff.HasPrice(catalog.TrainingSeconds)):
		b.other = []catalog.Other{{Name: catalog.TrainingTokens, Count: st.Trained}}
	case b.tariff.HasPrice(catalog.TrainingSeconds) && st.Length > 0:
		b.other = []catalog.Other{{Name: catalog.TrainingSeconds, Count: st.Length}}
	case st.Failed || st.Stopped:
		b.state = ledger.Released
		return
	default:
		b.billMaximum()
		b.reason = "the provider reports no trained tokens"
		return
	}
	b.usage = llm.Usage{TotalTokens: st.Trained, Reported: true}
	units.Other = b.other
	b.add(b.tariff.Cost(&units, b.termsBuf))
}

// video bills the reported seconds and size of a video. What is not reported is billed as
// requested. A failed video costs nothing.
func (b *jobBill) video(st *jobs.State) {
	if st.Failed || st.Stopped {
		b.state = ledger.Released
		return
	}
	var units catalog.Units
	for _, u := range b.job.Units {
		if st.Seconds > 0 {
			made := jobs.Times(st.Seconds, cmp.Or(st.Videos, b.job.Videos, 1))
			if b.job.Extends {
				made = min(made, u.Count) // the provider's count includes the video that is extended
			}
			u.Count = made
		}
		if at := jobs.VideoAt(st.Size); st.Size != "" && b.tariff.HasPrice(at) {
			u.Name = at
		}
		b.other = append(b.other, catalog.Other{Name: u.Name, Count: u.Count})
	}
	units.Other = b.other
	b.add(b.tariff.Cost(&units, b.termsBuf))
}

// billMaximum bills the maximum cost of a job whose outcome cannot be determined.
func (b *jobBill) billMaximum() {
	b.state, b.cost, b.lines = ledger.Unknown, b.job.MaxCostNano, nil
	b.usage = llm.Usage{TotalTokens: b.job.Tokens}
}

// add adds the cost and the terms of a bill. The cost saturates at the largest int64.
func (b *jobBill) add(bill catalog.Cost) {
	b.termsBuf = bill.Terms
	if b.cost += bill.Cost; b.cost < 0 {
		b.cost = math.MaxInt64
	}
	if b.lacks == "" {
		b.lacks = bill.MissingPrice()
	}
	for i := range bill.Terms {
		b.term(&bill.Terms[i])
	}
}

// term adds t to the term with the same dimension, rate and factor.
func (b *jobBill) term(t *catalog.Term) {
	for i := range b.lines {
		if l := &b.lines[i]; l.Dimension == t.Dimension && l.Key == t.Key && l.Rate == t.Rate && l.Factor == t.Factor && l.Per == t.Per {
			l.Units, l.Nano = l.Units+t.Units, l.Nano+t.Nano
			return
		}
	}
	if len(b.lines) < maxTerms {
		b.lines = append(b.lines, *t)
	}
}

// spend returns the money part of the job's record.
func (b *jobBill) spend() record.Spend {
	return record.Spend{
		State: b.state.String(), Cost: b.cost, MaxCost: b.job.MaxCostNano, Unpriced: b.lacks, Version: b.tariff.Version(),
		Terms: string(metering.WriteTerms(nil, b.lines)), Basis: b.basis(),
	}
}

// basis returns what the job was billed by, apart from its usage. A batch has one bill per request.
// If the cost of the total usage differs from the sum of the bills, as with context tiers or
// several models, basis returns "", and the job is not billed again.
func (b *jobBill) basis() string {
	if b.state != ledger.Settled && b.state != ledger.Estimated {
		return ""
	}
	basis := catalog.Basis{Region: b.job.Region, Other: b.other}
	if b.job.Kind == jobs.Batch {
		basis.Execution = catalog.Batch
	}
	units := basis.Units(b.job.Endpoint, &b.usage)
	if bill := b.tariff.Cost(&units, nil); bill.Cost != b.cost {
		return ""
	}
	return basis.Text()
}

func (b *jobBill) tokens() int64 {
	if b.state == ledger.Released {
		return 0
	}
	return max(b.usage.TotalTokens, b.usage.InputTokens+b.usage.OutputTokens)
}

// usageIn returns the usage that a response reports, in the format of its endpoint or of
// another provider.
func usageIn(ep llm.Endpoint, body []byte) (u llm.Usage, model string) {
	for _, source := range [...]llm.Endpoint{ep, llm.Messages, llm.CreateModelResponse, llm.Proxy} {
		if u, model = usage.Read(source, body, ""); u.Reported {
			return u, model
		}
	}
	return u, model
}

// countLate subtracts the tokens of a finished job from the rates that apply to its caller. They
// count in the window in which the job is settled.
//
//nolint:contextcheck // the usage counts, whatever becomes of the round that found it
func (g *Gateway) countLate(j *jobs.Job, n int64) {
	if n <= 0 {
		return
	}
	dir := g.Directory()
	call := quota.Call{
		OrgID: j.OrgID, Workspace: quota.Named{ID: j.WorkspaceID}, KeyID: j.KeyID, Provider: j.Provider, Model: j.Model, Endpoint: j.Endpoint, Metadata: j.Metadata,
	}
	if p := dir.FindWorkspace(j.WorkspaceID); p != nil {
		call.Workspace.Slug = p.Slug
	}
	var all []quota.Hold
	if account := dir.FindAccount(j.WorkspaceID, j.ProviderID); j.ProviderID != "" && account != nil {
		call.Account = quota.Named{Slug: account.Slug, ID: account.RecordID}
		all = append(append(all, dir.IntegrationLimits(account.IntegrationID, j.WorkspaceID).Rates...), dir.Limits(account.Kind, account.RecordID).Rates...)
	}
	all = append(append(all, dir.Limits(tenant.WorkspaceKind, j.WorkspaceID).Rates...), dir.Limits(keys.Kind, j.KeyID).Rates...)
	_, all = dir.Policies(j.WorkspaceID).Match(&call, nil, all)
	holds, used := all[:0], []int64(nil)
	for _, h := range all {
		if h.Unit != "" && h.Measure == quota.TokenCount {
			h.Org, h.Amount, h.Limit, h.Soft = j.OrgID, 0, math.MaxInt64, true // used in any case, whatever is left
			holds, used = append(holds, h), append(used, n)
		}
	}
	if len(holds) == 0 {
		return
	}
	now := g.Clock.Now()
	if i, _, _, err := g.Limiter.Reserve(context.Background(), now, holds); err == nil && i < 0 {
		g.Limiter.Settle(now, holds, used)
	}
}
