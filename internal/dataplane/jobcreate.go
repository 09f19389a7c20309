package dataplane

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"sluice/internal/catalog"
	"sluice/internal/dialect"
	"sluice/internal/fault"
	"sluice/internal/jobs"
	"sluice/internal/llm"
	"sluice/internal/quota"
	"sluice/internal/splice"
)

// jobPlan is what a call that begins a job at its provider asks for.
type jobPlan struct {
	kind  jobs.Kind
	input *jobs.Input // of a batch, once it is counted
	units []jobs.Unit // of a video
}

// maxEpochs is how often a provider goes through a training file when the request leaves
// the number to it.
// Source: https://developers.openai.com/cookbook/examples/chat_finetuning_data_prep
// (MAX_DEFAULT_EPOCHS), read 2026-11.
const maxEpochs = 25

// reserveJob works out the maximum cost of a call that begins a job, whose cost is known
// only when the job has ended. Under a budget of cost, a call without a maximum is refused.
func (g *Gateway) reserveJob(ctx context.Context, a *attempt, kind jobs.Kind) error {
	s := a.stake
	a.job, s.later = &jobPlan{kind: kind}, true
	costs := slices.ContainsFunc(s.holds[:s.rates], func(h quota.Hold) bool { return h.Measure == quota.Cost })
	if s.tariff.Free() {
		s.bound = 0
		s.holds, s.rates = g.gather(a)
		return nil
	}
	var err error
	switch kind {
	case jobs.Batch:
		err = g.maxOfBatch(ctx, a, costs)
	case jobs.Finetune:
		err = g.maxOfTraining(ctx, a, costs)
	case jobs.Video:
		err = g.maxOfVideo(a)
	case jobs.Eval:
		err = g.maxOfUnit(a, "eval_run", "the provider reports no usage of evaluations; price one run as additional_units.eval_run, or use a key without a budget of cost")
	case jobs.Unknown:
		err = errJob("its cost depends on a file or an output that the gateway does not read; use a key without a budget of cost")
	}
	if free := (errUnpriced{}); err != nil && costs && (!g.set.AllowUnpriced || !errors.As(err, &free)) {
		return jobRefusal(kind, err)
	}
	s.holds, s.rates = g.gather(a)
	return nil
}

// errJob is why a job has no maximum cost, and what to do about it.
type errJob string

// Error implements error.
func (e errJob) Error() string { return string(e) }

// jobNames are kinds of jobs in texts for callers.
var jobNames = map[jobs.Kind]string{jobs.Batch: "batch", jobs.Finetune: "fine-tuning job", jobs.Video: "video", jobs.Eval: "run of an evaluation", jobs.Unknown: "job"}

func jobRefusal(kind jobs.Kind, why error) *fault.Error {
	return fault.New(fault.BudgetExhausted, "a budget of cost applies, and the maximum cost of this "+jobNames[kind]+" is not known: "+why.Error()).WithAgain(fault.AgainNever)
}

// errUnpriced is an errJob of a model without a price.
type errUnpriced struct{ errJob }

func unpricedJob(model, what string) error {
	return errUnpriced{errJob(what + " of the model " + quoted(model) + " has no price; add one to the price list or to the integration (docs/pricing.md)")}
}

func quoted(model string) string { return string(splice.Quote(clip(model))) }

// maxOfBatch sums up what the requests of a batch can cost at most. Without a budget of
// cost, an input that is not known is not fetched: the batch is billed by its output alone.
func (g *Gateway) maxOfBatch(ctx context.Context, a *attempt, fetch bool) error {
	in, err := g.batchInput(ctx, a, fetch)
	if err != nil || in == nil {
		return err
	}
	s, region := a.stake, a.region()
	a.job.input = in
	if a.model == "" && len(in.Groups) > 0 {
		a.model = in.Groups[0].Model
		s.tariff = g.priceOf(a, a.priceName())
	}
	s.most, s.bound = catalog.Limits{Execution: catalog.Batch, Region: region, Requests: in.Requests()}, 0
	for i := range in.Groups {
		group := &in.Groups[i]
		model := cmp.Or(group.Model, a.priceName())
		tariff := g.priceOf(a, model)
		l := limitsOf(group, g.Prices.Reach(a.spec.ID, model))
		l.Region = region
		if !tariff.Prices(&l) {
			err = unpricedJob(model, "a batch")
		}
		s.most.Images = append(s.most.Images, l.Images...)
		s.bound += min(tariff.Bound(&l), quota.MostUsed)
		s.most.Input += l.Input
		s.most.Output += l.Output
	}
	s.bound = min(s.bound, quota.MostUsed)
	return err
}

// limitsOf is what some requests of one model can use at most.
func limitsOf(group *jobs.Group, reach catalog.Reach) catalog.Limits {
	context := cmp.Or(reach.Input, outputMost)
	l := catalog.Limits{
		Execution: catalog.Batch, Requests: group.Requests, Input: group.Input + group.Context*context, Largest: max(group.Largest, 1),
		Output: group.Output + group.Open*cmp.Or(reach.Output, outputMost), Searches: group.Searches * searchesMost,
	}
	if group.Images > 0 {
		l.Images = []catalog.Images{{Count: group.Images}}
	}
	if group.Context > 0 {
		l.Largest = max(l.Largest, context)
	}
	return l
}

// maxOfTraining is the tokens of the training file, times the epochs.
func (g *Gateway) maxOfTraining(ctx context.Context, a *attempt, fetch bool) error {
	s := a.stake
	switch {
	case s.tariff.Pays(catalog.TrainingTokens):
	case s.tariff.Pays(catalog.TrainingSeconds):
		return errJob("training of the model " + quoted(a.priceName()) + " is priced by the hour, and its length is not known before it ends; use a key without a budget of cost")
	default:
		return unpricedJob(a.priceName(), "training")
	}
	in, err := g.fileInput(ctx, a, a.firstParam("training_file", "training_files", "trainingDatasetUri", "dataset"), fetch)
	if err != nil || in == nil {
		return err
	}
	n := in.Training * a.epochs()
	s.bound = s.tariff.Bound(&catalog.Limits{Other: []catalog.Other{{Name: catalog.TrainingTokens, Count: n}}})
	s.most = catalog.Limits{Input: n}
	return nil
}

// epochs is how often a training file is gone through at most.
func (a *attempt) epochs() int64 {
	if n := tokensOf(a.param("n_epochs")); n > 0 {
		return n
	}
	for _, path := range [...]string{"hyperparameters", "method"} {
		raw, ok := paramOf(a, path)
		if !ok {
			continue
		}
		for _, in := range [...][]string{{"n_epochs"}, {"supervised", "hyperparameters", "n_epochs"}, {"dpo", "hyperparameters", "n_epochs"}} {
			if n := jobs.Number(raw, in...); n > 0 {
				return n
			}
		}
	}
	return maxEpochs
}

// maxOfVideo is the seconds that the request asks for.
func (g *Gateway) maxOfVideo(a *attempt) error {
	body := g.jobBody(a)
	if body == nil {
		return errJob("the body is not read; send it as application/json or multipart/form-data")
	}
	if a.model == "" {
		a.model = splice.Text(body, "model")
		a.stake.tariff = g.priceOf(a, a.priceName())
	}
	v := jobs.ReadVideo(body)
	unit := jobs.Unit{Name: jobs.VideoAt(v.Size), Count: v.Seconds}
	a.job.units = []jobs.Unit{unit}
	if !a.stake.tariff.Pays(unit.Name) {
		return unpricedJob(a.priceName(), "video")
	}
	a.stake.most = catalog.Limits{Other: []catalog.Other{{Name: unit.Name, Count: unit.Count}}}
	a.stake.bound = a.stake.tariff.Bound(&a.stake.most)
	return nil
}

// maxOfUnit is one unit of a name, where that has a price.
func (g *Gateway) maxOfUnit(a *attempt, name, why string) error {
	if !a.stake.tariff.Pays(name) {
		return errJob(why)
	}
	a.job.units = []jobs.Unit{{Name: name, Count: 1}}
	a.stake.most = catalog.Limits{Other: []catalog.Other{{Name: name, Count: 1}}}
	a.stake.bound = a.stake.tariff.Bound(&a.stake.most)
	return nil
}

// jobBody is the request with what the target's config changes, as a JSON object, that of a
// form with its fields; nil for a body that is not read.
func (g *Gateway) jobBody(a *attempt) []byte {
	switch {
	case a.x.doc != nil:
		return g.asked(a, a.shaping())
	case a.x.form == nil:
		return nil
	}
	w := dialect.JSON{}
	w.Open('{')
	for i := range a.x.form.Parts {
		if p := &a.x.form.Parts[i]; !p.HasFileName {
			w.Str(p.Name, string(p.Value))
		}
	}
	w.Close('}')
	return w.B
}

// firstParam is the first of some parameters that is a string, or a list or object with
// one: a file by its id.
func (a *attempt) firstParam(names ...string) string {
	for _, name := range names {
		raw, ok := paramOf(a, name)
		if !ok {
			continue
		}
		if s := fileIn(raw); s != "" {
			return s
		}
	}
	return ""
}

// fileIn is the id of a file in a value: "file-1", ["file-1"], [{"file_id":"file-1"}].
func fileIn(raw []byte) string {
	if s, ok := splice.Unquote(raw); ok {
		return s
	}
	for one := range splice.Elements(raw) {
		if s, ok := splice.Unquote(one); ok {
			return s
		}
		return splice.Text(one, "file_id")
	}
	return ""
}

// beginsJob is what job a metered call begins; empty for none.
func (a *attempt) beginsJob() jobs.Kind {
	if a.x.match.Endpoint == llm.ChatComplete { // by far the most
		return ""
	}
	return jobs.KindOf(a.x.match.Endpoint, a.x.in.Method, a.x.path)
}
