package dataplane

import (
	"context"
	"errors"

	"sluice/internal/catalog"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/fault"
	"sluice/internal/jobs"
	"sluice/internal/llm"
	"sluice/internal/quota"
	"sluice/internal/splice"
)

// jobPlan is what a call that creates a job at its provider requests.
type jobPlan struct {
	kind  jobs.Kind
	input *jobs.Input // of a batch, once it is counted
	units []jobs.Unit // of a video
	// videos is the number of requested videos.
	videos int64
}

// maxEpochs is the maximum number of passes over a training file when the request leaves the
// number to the provider.
// Source: https://developers.openai.com/cookbook/examples/chat_finetuning_data_prep
// (MAX_DEFAULT_EPOCHS), read 2026-11.
const maxEpochs = 25

// reserveJob computes the maximum cost of a call that creates a job. Its actual cost is known
// only when the job has ended. Under a cost budget, a call without a maximum cost is refused.
func (g *Gateway) reserveJob(ctx context.Context, a *attempt, kind jobs.Kind) error {
	s := a.money
	a.job = &jobPlan{kind: kind}
	s.CountTokensLater()
	costs := s.HasCostBudget()
	if s.Card().Free() {
		s.SetMax(*s.MaxUsage(), 0)
		g.collectHolds(a)
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
		err = g.maxOfUnit(a, "eval_run", "the provider does not report the usage of evaluations; set additional_units.eval_run to the price of one run, or use a key without a cost budget")
	case jobs.Unknown:
		err = errJob("its cost depends on a file or an output that the gateway does not read; use a key without a cost budget")
	}
	if free := (errUnpriced{}); err != nil && costs && (!g.set.AllowUnpriced || !errors.As(err, &free)) {
		return jobRefusal(kind, err)
	}
	g.collectHolds(a)
	return nil
}

// errJob states why a job does not have a maximum cost, and how to fix it.
type errJob string

// Error implements error.
func (e errJob) Error() string { return string(e) }

// jobNames are the names of job kinds in texts for callers.
var jobNames = map[jobs.Kind]string{jobs.Batch: "batch", jobs.Finetune: "fine-tuning job", jobs.Video: "video", jobs.Eval: "run of an evaluation", jobs.Unknown: "job"}

func jobRefusal(kind jobs.Kind, why error) *fault.Error {
	return fault.New(fault.BudgetExhausted, "a cost budget applies, and the maximum cost of this "+jobNames[kind]+" is unknown: "+why.Error()).WithAgain(fault.AgainNever)
}

// errUnpriced is the errJob of a model without a price.
type errUnpriced struct{ errJob }

func unpricedJob(model, what string) error {
	return errUnpriced{errJob(what + " of the model " + quoted(model) + " has no price; add one to the price list or to the integration (docs/pricing.md)")}
}

func quoted(model string) string { return string(splice.Quote(clip(model))) }

// maxOfTraining computes the maximum cost of a training job: the tokens of all training files,
// multiplied by the epochs.
func (g *Gateway) maxOfTraining(ctx context.Context, a *attempt, fetch bool) error {
	body := g.jobBody(a)
	if body == nil {
		return errJob("the body is not read; send it as application/json")
	}
	from, err := jobs.TrainingSource(body)
	if err != nil {
		return errJob(err.Error())
	}
	if err := g.nameJob(a, from.Models); err != nil {
		return err
	}
	card := a.money.Card()
	switch {
	case card.HasPrice(catalog.TrainingTokens):
	case card.HasPrice(catalog.TrainingSeconds):
		return errJob("training of the model " + quoted(a.priceName()) + " is priced by the hour, and its duration is unknown in advance; use a key without a cost budget")
	default:
		return unpricedJob(a.priceName(), "training")
	}
	epochs, err := jobs.Epochs(body, maxEpochs)
	if err != nil {
		return errJob(err.Error())
	}
	once, err := g.trainingTokens(ctx, a, from, fetch)
	if err != nil || once == nil {
		return err
	}
	n := jobs.Times(*once, epochs)
	maxCost := card.MaxCost(&catalog.Limits{Other: []catalog.Other{{Name: catalog.TrainingTokens, Count: n}}})
	a.money.SetMax(catalog.Limits{Input: n}, min(maxCost, quota.MaxCallUnits))
	return nil
}

// maxOfVideo computes the maximum cost of a video from the requested seconds.
func (g *Gateway) maxOfVideo(a *attempt) error {
	body := g.jobBody(a)
	if body == nil {
		return errJob("the body is not parsed; send it as application/json or multipart/form-data")
	}
	if a.model == "" {
		a.model = splice.Text(body, "model")
		a.money.SetCard(g.priceOf(a, a.priceName()))
	}
	v := jobs.ReadVideo(body)
	a.job.videos = v.Videos
	for _, size := range v.Sizes { // the most expensive size counts
		unit := jobs.Unit{Name: jobs.VideoAt(size), Count: v.Seconds}
		maxLimits := catalog.Limits{Other: []catalog.Other{{Name: unit.Name, Count: unit.Count}}}
		if maxCost := a.money.Card().MaxCost(&maxLimits); a.job.units == nil || maxCost > a.money.MaxCostNano() {
			a.job.units = []jobs.Unit{unit}
			a.money.SetMax(maxLimits, maxCost)
		}
		if !a.money.Card().HasPrice(unit.Name) {
			return unpricedJob(a.priceName(), "video")
		}
	}
	return nil
}

// maxOfUnit sets the maximum cost to one unit with the given name. It returns an errJob with why
// when the unit does not have a price.
func (g *Gateway) maxOfUnit(a *attempt, name, why string) error {
	card := a.money.Card()
	if !card.HasPrice(name) {
		return errJob(why)
	}
	a.job.units = []jobs.Unit{{Name: name, Count: 1}}
	usage := catalog.Limits{Other: []catalog.Other{{Name: name, Count: 1}}}
	a.money.SetMax(usage, card.MaxCost(&usage))
	return nil
}

// jobBody returns the request as a JSON object, after the changes of the target's config. A form
// becomes an object of its fields. The result is nil for a body that is not parsed.
func (g *Gateway) jobBody(a *attempt) []byte {
	switch {
	case a.x.doc != nil:
		return g.requestedCall(a, a.shaping())
	case a.x.form == nil:
		return nil
	}
	w := jsonwriter.Writer{}
	w.Open('{')
	for i := range a.x.form.Parts {
		if p := &a.x.form.Parts[i]; !p.HasFileName {
			w.Str(p.Name, string(p.Value))
		}
	}
	w.Close('}')
	return w.B
}

// beginsJob returns the kind of job that a metered call creates, or "" when it creates none.
func (a *attempt) beginsJob() jobs.Kind {
	if a.x.match.Endpoint == llm.ChatComplete { // by far the most frequent endpoint
		return ""
	}
	return jobs.KindOf(a.x.match.Endpoint, a.x.req.Method, a.x.path)
}
