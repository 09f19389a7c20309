package dataplane

import (
	"cmp"
	"context"

	"sluice/internal/catalog"
	"sluice/internal/gateway/metering/bound"
	"sluice/internal/jobs"
	"sluice/internal/quota"
)

// maxOfBatch computes the maximum usage and cost of a batch from its requests. Without a cost
// budget it does not fetch an input that this node has not counted: the batch is then billed by
// its output alone.
func (g *Gateway) maxOfBatch(ctx context.Context, a *attempt, fetch bool) error {
	body := g.jobBody(a)
	if body == nil {
		return errJob("the body is not read; send it as application/json")
	}
	from, err := jobs.BatchSource(body)
	if err != nil {
		return errJob(err.Error())
	}
	if err := g.nameJob(a, from.Models); err != nil {
		return err
	}
	in, err := g.batchInput(ctx, a, from, fetch)
	if err != nil || in == nil {
		return err
	}
	a.job.input = in
	named := a.model != ""
	if !named && len(in.Groups) > 0 {
		a.model = in.Groups[0].Model
		a.money.SetCard(g.priceOf(a, a.priceName()))
	}
	usage, maxCost := catalog.Limits{Execution: catalog.Batch, Region: a.bounds().Region(), Requests: in.Requests()}, int64(0)
	for i := range in.Groups {
		l, groupCost, unpriced := g.mostOfGroup(a, &in.Groups[i], named)
		if unpriced != nil {
			err = unpriced
		}
		usage.Images = append(usage.Images, l.Images...)
		maxCost += groupCost
		usage.Input += l.Input
		usage.Output += l.Output
	}
	a.money.SetMax(usage, min(maxCost, quota.MaxCallUnits))
	return err
}

// nameJob sets the model of a job from the models in its description, such as Amazon's modelId.
// It returns an errJob when such a model differs from the model that routes the call, because the
// gateway does not know which one counts.
func (g *Gateway) nameJob(a *attempt, models []string) error {
	for _, name := range models {
		switch {
		case a.model == "":
			a.model = name
			a.money.SetCard(g.priceOf(a, a.priceName()))
		case name != jobs.LastPart(a.model) && name != a.priceName():
			return errJob("the call names the models " + quoted(a.model) + " and " + quoted(name) + "; name one")
		}
	}
	return nil
}

// mostOfGroup returns the maximum usage and cost of the requests in a group. When the requests
// name one model and the batch names another, the more expensive one counts, because the provider
// chooses which model responds.
func (g *Gateway) mostOfGroup(a *attempt, group *jobs.Group, named bool) (maxLimits catalog.Limits, maxCost int64, err error) {
	models := []string{cmp.Or(group.Model, a.priceName())}
	if named && models[0] != a.priceName() {
		models = append(models, a.priceName())
	}
	for _, model := range models {
		tariff := g.priceOf(a, model)
		l := limitsOf(group, g.Prices.ContextLimits(a.spec.ID, model))
		l.Region = a.bounds().Region()
		if !tariff.Prices(&l) {
			err = unpricedJob(model, "a batch")
		}
		maxLimits.Images = l.Images
		maxLimits.Input, maxLimits.Output = max(maxLimits.Input, l.Input), max(maxLimits.Output, l.Output)
		maxCost = max(maxCost, min(tariff.MaxCost(&l), quota.MaxCallUnits))
	}
	return maxLimits, maxCost, err
}

// limitsOf returns the maximum usage of a group of requests for one model.
func limitsOf(group *jobs.Group, reach catalog.ContextLimits) catalog.Limits {
	context, longest := cmp.Or(reach.Input, bound.DefaultMaxOutputTokens), cmp.Or(reach.Output, bound.DefaultMaxOutputTokens)
	l := catalog.Limits{
		Execution: catalog.Batch, Requests: group.Requests, Input: group.Input + jobs.Times(group.Context, context), Largest: max(group.Largest, 1),
		Output: group.Output + jobs.Times(group.Open, longest), Searches: jobs.Times(group.Searches, bound.MaxSearches),
	}
	if group.Images > 0 {
		l.Images = []catalog.Images{{Count: group.Images}}
	}
	if group.Context > 0 {
		l.Largest = max(l.Largest, context)
	}
	return l
}
