package providerjobs

import (
	"cmp"
	"context"
	"errors"

	"sluice/internal/domain/providerjob"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/limits/catalog"
	"sluice/internal/limits/quota"
)

// maxEpochs is the maximum number of passes over a training file when the request leaves the
// number to the provider.
// Source: https://developers.openai.com/cookbook/examples/chat_finetuning_data_prep
// (MAX_DEFAULT_EPOCHS), read 2026-11.
const maxEpochs = 25

// Estimate computes the maximum usage and cost of a call that creates a job. The plan begins with
// those of an immediate response. The actual cost is known only when the job has ended. Under a
// cost budget, a call without a maximum cost is refused with fault.BudgetExhausted. Estimate may
// name the model of the plan.
func (t *Jobs) Estimate(ctx context.Context, c *Call, p *Plan) error {
	if p.RateCard.Free() {
		p.MaxCostNano = 0
		return nil
	}
	var err error
	switch e := (&estimate{t, c, p}); p.Kind {
	case providerjob.Batch:
		err = e.batch(ctx)
	case providerjob.Finetune:
		err = e.training(ctx)
	case providerjob.Video:
		err = e.video()
	case providerjob.Eval:
		err = e.unit("eval_run", "the provider does not report the usage of evaluations; set additional_units.eval_run to the price of one run, or use a key without a cost budget")
	case providerjob.Unknown:
		err = errJob("its cost depends on a file or an output that the gateway does not read; use a key without a cost budget")
	}
	if free := (errUnpriced{}); err != nil && c.Budgeted && (!t.AllowUnpriced || !errors.As(err, &free)) {
		return jobRefusal(p.Kind, err)
	}
	return nil
}

// estimate computes the maximum usage and cost of one call. Without a cost budget it does not
// fetch an input that this node has not counted.
type estimate struct {
	*Jobs
	call *Call
	plan *Plan
}

// priceOf returns the price of a model at the call's provider, for the call's account.
func (e *estimate) priceOf(model string) *catalog.RateCard {
	return e.Prices.Find(e.call.Provider, model, e.call.Overrides)
}

// setModel sets the model of a call that names none.
func (e *estimate) setModel(name string) {
	e.plan.Model, e.plan.PriceName = name, cmp.Or(e.plan.PriceName, name)
	e.plan.RateCard = e.priceOf(e.plan.PriceName)
}

// nameModels sets the model of a job from the models in its description, such as Amazon's modelId.
// It returns an errJob when such a model differs from the model that routes the call, because the
// gateway does not know which one counts.
func (e *estimate) nameModels(models []string) error {
	p := e.plan
	for _, name := range models {
		switch {
		case p.Model == "":
			e.setModel(name)
		case name != providerjob.LastPart(p.Model) && name != p.PriceName:
			return errJob("the call names the models " + quoted(p.Model) + " and " + quoted(name) + "; name one")
		}
	}
	return nil
}

// errJob states why a job does not have a maximum cost, and how to fix it.
type errJob string

// Error implements error.
func (e errJob) Error() string { return string(e) }

// jobNames are the names of job kinds in texts for callers.
var jobNames = map[providerjob.Kind]string{providerjob.Batch: "batch", providerjob.Finetune: "fine-tuning job", providerjob.Video: "video", providerjob.Eval: "run of an evaluation", providerjob.Unknown: "job"}

func jobRefusal(kind providerjob.Kind, why error) *fault.Error {
	return fault.New(fault.BudgetExhausted, "a cost budget applies, and the maximum cost of this "+jobNames[kind]+" is unknown: "+why.Error()).WithAgain(fault.AgainNever)
}

// errUnpriced is the errJob of a model without a price.
type errUnpriced struct{ errJob }

func unpricedJob(model, what string) error {
	return errUnpriced{errJob(what + " of the model " + quoted(model) + " has no price; add one to the price list or to the integration (docs/pricing.md)")}
}

func quoted(model string) string { return string(jsonedit.Quote(fault.Clip(model))) }

// training computes the maximum cost of a training job: the tokens of all training files,
// multiplied by the epochs.
func (e *estimate) training(ctx context.Context) error {
	body := e.call.body()
	if body == nil {
		return errJob("the body is not read; send it as application/json")
	}
	from, err := providerjob.TrainingSource(body)
	if err != nil {
		return errJob(err.Error())
	}
	if err := e.nameModels(from.Models); err != nil {
		return err
	}
	p := e.plan
	switch {
	case p.RateCard.HasPrice(catalog.TrainingTokens):
	case p.RateCard.HasPrice(catalog.TrainingSeconds):
		return errJob("training of the model " + quoted(p.PriceName) + " is priced by the hour, and its duration is unknown in advance; use a key without a cost budget")
	default:
		return unpricedJob(p.PriceName, "training")
	}
	epochs, err := providerjob.Epochs(body, maxEpochs)
	if err != nil {
		return errJob(err.Error())
	}
	once, err := e.trainingTokens(ctx, from)
	if err != nil || once == nil {
		return err
	}
	n := providerjob.Times(*once, epochs)
	p.MaxCostNano = min(p.RateCard.MaxCost(&catalog.Limits{Other: []catalog.Other{{Name: catalog.TrainingTokens, Count: n}}}), quota.MaxCallUnits)
	p.MaxUsage = catalog.Limits{Input: n}
	return nil
}

// video computes the maximum cost of a video from the requested seconds.
func (e *estimate) video() error {
	body := e.call.body()
	if body == nil {
		return errJob("the body is not parsed; send it as application/json or multipart/form-data")
	}
	p := e.plan
	if p.Model == "" {
		e.setModel(jsonedit.Text(body, "model"))
	}
	v := providerjob.ReadVideo(body)
	p.Videos = v.Videos
	for _, size := range v.Sizes { // the most expensive size counts
		unit := providerjob.Unit{Name: providerjob.VideoAt(size), Count: v.Seconds}
		maxUsage := catalog.Limits{Other: []catalog.Other{{Name: unit.Name, Count: unit.Count}}}
		if cost := p.RateCard.MaxCost(&maxUsage); p.Units == nil || cost > p.MaxCostNano {
			p.Units, p.MaxUsage, p.MaxCostNano = []providerjob.Unit{unit}, maxUsage, cost
		}
		if !p.RateCard.HasPrice(unit.Name) {
			return unpricedJob(p.PriceName, "video")
		}
	}
	return nil
}

// unit sets the maximum cost to one unit with the given name. It returns an errJob with why when
// the unit does not have a price.
func (e *estimate) unit(name, why string) error {
	p := e.plan
	if !p.RateCard.HasPrice(name) {
		return errJob(why)
	}
	p.Units = []providerjob.Unit{{Name: name, Count: 1}}
	p.MaxUsage = catalog.Limits{Other: []catalog.Other{{Name: name, Count: 1}}}
	p.MaxCostNano = p.RateCard.MaxCost(&p.MaxUsage)
	return nil
}
