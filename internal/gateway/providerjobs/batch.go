package providerjobs

import (
	"cmp"
	"context"

	"sluice/internal/domain/providerjob"
	"sluice/internal/limits/catalog"
	"sluice/internal/limits/quota"
)

// batch computes the maximum usage and cost of a batch from its requests. If it does not read the
// input, the batch is billed by its output alone.
func (e *estimate) batch(ctx context.Context) error {
	body := e.call.body()
	if body == nil {
		return errJob("the body is not read; send it as application/json")
	}
	from, err := providerjob.BatchSource(body)
	if err != nil {
		return errJob(err.Error())
	}
	if err := e.nameModels(from.Models); err != nil {
		return err
	}
	in, err := e.batchInput(ctx, from)
	if err != nil || in == nil {
		return err
	}
	p := e.plan
	p.Input = in
	named := p.Model != ""
	if !named && len(in.Groups) > 0 {
		e.setModel(in.Groups[0].Model)
	}
	p.MaxUsage, p.MaxCostNano = catalog.Limits{Execution: catalog.Batch, Region: e.call.Region, Requests: in.Requests()}, 0
	for i := range in.Groups {
		l, cost, unpriced := e.group(&in.Groups[i], named)
		if unpriced != nil {
			err = unpriced
		}
		p.MaxUsage.Images = append(p.MaxUsage.Images, l.Images...)
		p.MaxCostNano += cost
		p.MaxUsage.Input += l.Input
		p.MaxUsage.Output += l.Output
	}
	p.MaxCostNano = min(p.MaxCostNano, quota.MaxCallUnits)
	return err
}

// group returns the maximum usage and cost of the requests in a group. When the requests name one
// model and the batch names another, the more expensive one counts, because the provider chooses
// which model responds.
func (e *estimate) group(group *providerjob.Group, named bool) (maxUsage catalog.Limits, maxCostNano int64, err error) {
	models := []string{cmp.Or(group.Model, e.plan.PriceName)}
	if named && models[0] != e.plan.PriceName {
		models = append(models, e.plan.PriceName)
	}
	for _, model := range models {
		rates := e.priceOf(model)
		l := limitsOf(group, e.Prices.ContextLimits(e.call.Provider, model))
		l.Region = e.call.Region
		if !rates.Prices(&l) {
			err = unpricedJob(model, "a batch")
		}
		maxUsage.Images = l.Images
		maxUsage.Input, maxUsage.Output = max(maxUsage.Input, l.Input), max(maxUsage.Output, l.Output)
		maxCostNano = max(maxCostNano, min(rates.MaxCost(&l), quota.MaxCallUnits))
	}
	return maxUsage, maxCostNano, err
}

// limitsOf returns the maximum usage of a group of requests for one model.
func limitsOf(group *providerjob.Group, reach catalog.ContextLimits) catalog.Limits {
	context, longest := cmp.Or(reach.Input, catalog.DefaultMaxOutputTokens), cmp.Or(reach.Output, catalog.DefaultMaxOutputTokens)
	l := catalog.Limits{
		Execution: catalog.Batch, Requests: group.Requests, Input: group.Input + providerjob.Times(group.Context, context), Largest: max(group.Largest, 1),
		Output: group.Output + providerjob.Times(group.Open, longest), Searches: providerjob.Times(group.Searches, catalog.MaxSearches),
	}
	if group.Images > 0 {
		l.Images = []catalog.Images{{Count: group.Images}}
	}
	if group.Context > 0 {
		l.Largest = max(l.Largest, context)
	}
	return l
}
