package fireworks

import (
	"cmp"
	"context"
	"strings"

	"sluice/internal/dialect"
	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/dialect/uploads"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// createJob creates a fine-tuning job. jobs implements listing, retrieval and cancellation.
// Source: https://docs.fireworks.ai/api-reference/create-supervised-fine-tuning-job, read
// 2026-11; contract/provider-transforms.md 7.18 and 12.
type (
	createJob struct{}
	jobs      struct{}
)

var (
	_ dialect.OpenAIEndpoint = createJob{}
	_ dialect.MultiStep      = jobs{}
)

// jobParams lists additional parameters of a job, by names in OpenAI's style.
var jobParams = []fields.Rename{
	{Path: "lora_rank", To: "loraRank"}, {Path: "max_context_length", To: "maxContextLength"}, {Path: "early_stop", To: "earlyStop"},
	{Path: "warm_start_from", To: "warmStartFrom"}, {Path: "jinja_template", To: "jinjaTemplate"},
}

// hyperparameters maps OpenAI's names of the hyperparameters. For "auto" and for missing ones the
// provider chooses the value.
var hyperparameters = []fields.Rename{
	{Path: "n_epochs", To: "epochs"}, {Path: "learning_rate_multiplier", To: "learningRate"}, {Path: "batch_size", To: "batchSize"},
}

// EncodeRequest sends the full names of data and models: "accounts/me/datasets/d1".
func (createJob) EncodeRequest(_ context.Context, r *dialect.Request, to *dialect.Target) (*dialect.Outgoing, error) {
	t := fields.Track(r.Body)
	account := "accounts/" + to.Value("fireworks_account_id")
	training, err := named(t, "training_file", account+"/datasets/")
	switch {
	case err != nil:
		return nil, err
	case training == "":
		return nil, fault.New(fault.InvalidParameter, "training_file is required; send it in the request body").WithParam("training_file")
	case to.Model == "":
		return nil, fault.New(fault.InvalidParameter, "model is required; send it in the request body").WithParam("model")
	}
	validation, err := named(t, "validation_file", account+"/datasets/")
	if err != nil {
		return nil, err
	}
	output, err := named(t, "output_model", account+"/models/")
	if err != nil {
		return nil, err
	}
	suffix, err := named(t, "suffix", "")
	if err != nil {
		return nil, err
	}
	if output == "" && suffix != "" {
		output = account + "/models/" + suffix
	}
	var w jsonwriter.Writer
	w.Open('{')
	w.Str("baseModel", full(to.Model, "accounts/fireworks/models/"))
	w.Str("dataset", training)
	w.Opt("evaluationDataset", validation)
	w.Opt("displayName", suffix)
	w.Opt("outputModel", output)
	writeHyperparameters(&w, t)
	fields.WriteParams(&w, t, jobParams)
	w.Close('}')
	return &dialect.Outgoing{Body: w.B, Dropped: t.Dropped()}, nil
}

// named consumes a field with a name and adds the prefix before, unless the name is already full.
func named(t *llm.FieldTracker, field, before string) (string, error) {
	raw, ok := t.Consume(field)
	if !ok {
		return "", nil
	}
	s, ok := jsonedit.Unquote(raw)
	if !ok {
		return "", fault.Newf(fault.InvalidParameter, "%s must be a string", field).WithParam(field)
	}
	return full(s, before), nil
}

func full(name, before string) string {
	if name == "" || strings.HasPrefix(name, "accounts/") {
		return name
	}
	return before + name
}

// writeHyperparameters reads the hyperparameters from method.supervised, which is OpenAI's current
// field, or else from OpenAI's earlier field.
func writeHyperparameters(w *jsonwriter.Writer, t *llm.FieldTracker) {
	old, _ := t.Consume("hyperparameters")
	method, _ := t.Consume("method")
	kind, _ := jsonedit.Find(method, "type")
	if len(method) > 0 && string(kind) != `"supervised"` {
		t.Drop("method")
	}
	now, _ := jsonedit.Find(method, "supervised", "hyperparameters")
	for _, n := range hyperparameters {
		raw, ok := jsonedit.Find(now, n.Path)
		if !ok {
			raw, _ = jsonedit.Find(old, n.Path)
		}
		if s := string(raw); s != `"auto"` && s != "null" {
			w.Raw(n.To, raw)
		}
	}
}

// TranslateResponse reads the new job.
func (createJob) TranslateResponse(incoming *dialect.Incoming) (*dialect.Response, error) {
	return jobResponse(incoming.Body)
}

// EncodeRequest sets only the query that selects a page of a list.
func (jobs) EncodeRequest(_ context.Context, r *dialect.Request, _ *dialect.Target) (*dialect.Outgoing, error) {
	if r.Endpoint != llm.ListFinetunes {
		return &dialect.Outgoing{}, nil // the provider does not need a body
	}
	return jobsPages.EncodeRequest(r.Query)
}

var jobsPages = pages("supervisedFineTuningJobs", writeJob)

// Follow requests the next page of a list.
func (jobs) Follow(incoming *dialect.Incoming) (dialect.Next, bool, error) {
	return followPages(incoming, llm.ListFinetunes, jobsPages)
}

// TranslateResponse reads a job or {"supervisedFineTuningJobs":[…]}. It does not read the response to
// a cancellation, {}.
func (jobs) TranslateResponse(incoming *dialect.Incoming) (*dialect.Response, error) {
	switch incoming.Sent.Endpoint {
	case llm.CancelFinetune:
		return uploads.FinetuneCancelled(incoming.Sent.ID), nil
	case llm.ListFinetunes:
		return jobsPages.BuildResponse(incoming)
	default:
		return jobResponse(incoming.Body)
	}
}

func jobResponse(body []byte) (*dialect.Response, error) {
	return recordResponse(body, "a fine-tuning job", writeJob)
}

// states maps the states of a job; every other state is "queued".
// Source: contract/provider-transforms.md 7.18.
var states = map[string]string{
	"COMPLETED": "succeeded", "FAILED": "failed", "CANCELLED": "cancelled", "DELETING": "cancelled",
	"CREATING": "running", "EVALUATION": "running", "RUNNING": "running", "WRITING_RESULTS": "running",
}

// writeJob writes a job in OpenAI's format.
func writeJob(w *jsonwriter.Writer, raw []byte) {
	status := cmp.Or(states[strings.TrimPrefix(jsonedit.Text(raw, "state"), "JOB_STATE_")], "queued")
	w.Open('{')
	w.Str("id", lastPart(jsonedit.Text(raw, "name")))
	w.Str("object", "fine_tuning.job")
	w.Str("model", jsonedit.Text(raw, "baseModel"))
	w.Str("status", status)
	w.Int("created_at", seconds(jsonedit.Text(raw, "createTime")))
	if finished := seconds(jsonedit.Text(raw, "completedTime")); finished > 0 {
		w.Int("finished_at", finished)
	} else {
		w.Raw("finished_at", []byte("null"))
	}
	if model := jsonedit.Text(raw, "outputModel"); model != "" && status == "succeeded" {
		w.Str("fine_tuned_model", model)
	} else {
		w.Raw("fine_tuned_model", []byte("null"))
	}
	w.Opt("suffix", jsonedit.Text(raw, "displayName"))
	w.Str("training_file", lastPart(jsonedit.Text(raw, "dataset")))
	w.Opt("validation_file", lastPart(jsonedit.Text(raw, "evaluationDataset")))
	w.Key("hyperparameters").Open('{')
	for _, n := range hyperparameters {
		val, _ := jsonedit.Find(raw, n.To)
		w.Raw(n.Path, val)
	}
	w.Close('}')
	if text := statusError(raw); text != "" {
		w.Key("error").Open('{')
		w.Str("message", text)
		w.Close('}')
	} else {
		w.Raw("error", []byte("null"))
	}
	w.Close('}')
}
