package providerjobs

import (
	"cmp"
	"math"

	"sluice/internal/dialect/usage"
	"sluice/internal/domain/providerjob"
	"sluice/internal/domain/record"
	"sluice/internal/kernel/llm"
	"sluice/internal/limits/catalog"
	"sluice/internal/limits/ledger"
	"sluice/internal/limits/tokens"
)

// bill computes the usage and the cost of a job. It belongs to one goroutine.
type bill struct {
	prices  Prices
	counter *tokens.Counter
	job     *providerjob.Job
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

func (t *Jobs) newBill(j *providerjob.Job) *bill {
	dir := t.Snapshot()
	b := &bill{prices: t.Prices, counter: t.Counter, job: j, state: ledger.Settled, tariffs: map[string]*catalog.RateCard{}}
	if j.ProviderID != "" {
		b.terms = dir.Agreement(dir.FindAccount(j.WorkspaceID, j.ProviderID))
	}
	b.tariff = b.priceOf(j.Model)
	return b
}

func (b *bill) priceOf(model string) *catalog.RateCard {
	t := b.tariffs[model]
	if t == nil {
		t = b.prices.Find(b.job.Provider, model, b.terms)
		if len(b.tariffs) < maxTerms {
			b.tariffs[model] = t
		}
	}
	return t
}

// line adds one result line of a batch.
func (b *bill) line(line []byte) {
	res := providerjob.ReadResult(line)
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
func (b *bill) endpoint() llm.Endpoint {
	if source := b.job.Input; source != nil && len(source.Groups) > 0 {
		return source.Groups[0].Endpoint
	}
	return llm.ChatComplete
}

// estimated counts a response without reported usage. The output is counted from the body; the
// input is the average of the maximum input of the batch's requests.
func (b *bill) estimated(ep llm.Endpoint, body []byte) llm.Usage {
	b.state = ledger.Estimated
	u := llm.Usage{OutputTokens: b.counter.ResponseBody(ep, body, b.job.Model).Tokens}
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
func (b *bill) training(st *providerjob.State) {
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
func (b *bill) video(st *providerjob.State) {
	if st.Failed || st.Stopped {
		b.state = ledger.Released
		return
	}
	var units catalog.Units
	for _, u := range b.job.Units {
		if st.Seconds > 0 {
			made := providerjob.Times(st.Seconds, cmp.Or(st.Videos, b.job.Videos, 1))
			if b.job.Extends {
				made = min(made, u.Count) // the provider's count includes the video that is extended
			}
			u.Count = made
		}
		if at := providerjob.VideoAt(st.Size); st.Size != "" && b.tariff.HasPrice(at) {
			u.Name = at
		}
		b.other = append(b.other, catalog.Other{Name: u.Name, Count: u.Count})
	}
	units.Other = b.other
	b.add(b.tariff.Cost(&units, b.termsBuf))
}

// billMaximum bills the maximum cost of a job whose outcome cannot be determined.
func (b *bill) billMaximum() {
	b.state, b.cost, b.lines = ledger.Unknown, b.job.MaxCostNano, nil
	b.usage = llm.Usage{TotalTokens: b.job.Tokens}
}

// add adds the cost and the terms of a bill. The cost saturates at the largest int64.
func (b *bill) add(bill catalog.Cost) {
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
func (b *bill) term(t *catalog.Term) {
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
func (b *bill) spend() record.Spend {
	return record.Spend{
		State: b.state.String(), Cost: b.cost, MaxCost: b.job.MaxCostNano, Unpriced: b.lacks, Version: b.tariff.Version(),
		Terms: string(catalog.AppendTerms(nil, b.lines)), Basis: b.basis(),
	}
}

// basis returns what the job was billed by, apart from its usage. A batch has one bill per request.
// If the cost of the total usage differs from the sum of the bills, as with context tiers or
// several models, basis returns "", and the job is not billed again.
func (b *bill) basis() string {
	if b.state != ledger.Settled && b.state != ledger.Estimated {
		return ""
	}
	basis := catalog.Basis{Region: b.job.Region, Other: b.other}
	if b.job.Kind == providerjob.Batch {
		basis.Execution = catalog.Batch
	}
	units := basis.Units(b.job.Endpoint, &b.usage)
	if bill := b.tariff.Cost(&units, nil); bill.Cost != b.cost {
		return ""
	}
	return basis.Text()
}

func (b *bill) tokens() int64 {
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
