package bedrock

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"sluice/internal/dialect"
	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// newTuning implements the endpoint that creates a fine-tuning job, called a model customization
// job by Amazon.
// Source: contract/provider-transforms.md 3.12 and 12;
// https://docs.aws.amazon.com/bedrock/latest/APIReference/API_CreateModelCustomizationJob.html, read 2026-11.
type newTuning struct{}

// tunings implements the other fine-tuning endpoints.
// Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_GetModelCustomizationJob.html, read 2026-11.
type tunings struct{}

var (
	_ dialect.OpenAIEndpoint = newTuning{}
	_ dialect.MultiStep      = tunings{}
)

// EncodeRequest builds the job. Fields in provider_options use Amazon's names and take
// precedence, except for the model.
func (newTuning) EncodeRequest(_ context.Context, r *dialect.Request, to *dialect.Target) (*dialect.Outgoing, error) {
	t := fields.Track(r.Body)
	training, role, err := jobInput(t, "training_file", to)
	if err != nil {
		return nil, err
	}
	job, named := t.Consume("job_name")
	if !named {
		job = jsonedit.Quote("job-" + ident.NewID())
	}
	var w jsonwriter.Writer
	w.Open('{')
	w.Str("baseModelIdentifier", to.Model)
	w.Raw("jobName", job)
	if raw, ok := t.Consume("suffix"); ok {
		w.Raw("customModelName", raw)
	} else {
		w.Raw("customModelName", job)
	}
	w.Raw("roleArn", role)
	w.Key("trainingDataConfig").Open('{')
	w.Str("s3Uri", training.String())
	w.Close('}')
	if validation, ok, err := fileParam(t, "validation_file"); err != nil {
		return nil, err
	} else if ok {
		w.Key("validationDataConfig").Open('{')
		w.Key("validators").Open('[')
		w.Open('{')
		w.Str("s3Uri", validation.String())
		w.Close('}')
		w.Close(']')
		w.Close('}')
	}
	if out := outputConfig(t, training, "output_file"); out[0] == '{' {
		w.Raw("outputDataConfig", out)
	} else {
		w.Key("outputDataConfig").Open('{')
		w.Raw("s3Uri", out)
		w.Close('}')
	}
	writeHyper(&w, t, to)
	if raw, ok := t.First("customizationType", "customization_type"); ok {
		w.Raw("customizationType", raw)
	} else {
		w.Str("customizationType", "FINE_TUNING")
	}
	w.Close('}')
	options, _ := t.Consume("provider_options")
	return &dialect.Outgoing{Body: merged(options, w.B, "baseModelIdentifier"), Dropped: t.Dropped()}, nil
}

// hyper returns Amazon's name for an OpenAI hyperparameter. Claude uses a learning rate
// multiplier; all other models use a learning rate.
// Source: https://docs.aws.amazon.com/bedrock/latest/userguide/custom-models-hp.html, read 2026-11;
// contract/provider-transforms.md 13, row 5.
func hyper(name, model string) string {
	switch name {
	case "n_epochs":
		return "epochCount"
	case "batch_size":
		return "batchSize"
	case "learning_rate_multiplier":
		if familyOf(model) == anthropic {
			return "learningRateMultiplier"
		}
		return "learningRate"
	}
	return name
}

// writeHyper writes all hyperparameters as strings. It reads them from the request or from its
// method. The values "auto" and null are omitted, so Amazon chooses.
func writeHyper(w *jsonwriter.Writer, t *llm.FieldTracker, to *dialect.Target) {
	raw, provided := t.Consume("hyperparameters")
	if !provided {
		method, _ := t.Peek("method")
		if raw, provided = jsonedit.Find(method, "supervised", "hyperparameters"); provided {
			t.Consume("method")
		}
	}
	if !provided || raw[0] != '{' {
		return
	}
	w.Key("hyperParameters").Open('{')
	for name, val := range jsonedit.Members(raw) {
		text := cmp.Or(plain(val), string(val))
		if text != "auto" && text != "null" {
			w.Str(hyper(bare(name), to.Model), text)
		}
	}
	w.Close('}')
}

// TranslateResponse reads {"jobArn":…}, which is all that Bedrock returns for a new job.
func (newTuning) TranslateResponse(incoming *dialect.Incoming) (*dialect.Response, error) {
	arn, err := created(incoming.Body)
	if err != nil {
		return nil, err
	}
	var w jsonwriter.Writer
	w.Open('{')
	w.Str("id", escape(arn))
	w.Str("object", "finetune")
	w.Str("model", incoming.To.Model)
	w.Int("created_at", incoming.Created)
	w.Str("status", "queued")
	for _, name := range [...]string{"training_file", "validation_file", "suffix", "hyperparameters"} {
		val, _ := jsonedit.Find(incoming.Sent.Body, name)
		w.Raw(name, val)
	}
	w.Raw("fine_tuned_model", nullJSON)
	w.Raw("finished_at", nullJSON)
	w.Raw("error", nullJSON)
	w.Close('}')
	return &dialect.Response{Body: w.B, Model: incoming.To.Model}, nil
}

var tuningsPages = pages("modelCustomizationJobSummaries", writeTuning)

// EncodeRequest builds the request that lists jobs, or gets or stops the job with an ARN.
func (tunings) EncodeRequest(_ context.Context, r *dialect.Request, _ *dialect.Target) (*dialect.Outgoing, error) {
	path := "/model-customization-jobs/" + escape(unescape(r.ID))
	switch r.Endpoint {
	case llm.ListFinetunes:
		return tuningsPages.EncodeRequest(r.Query)
	case llm.CancelFinetune:
		return &dialect.Outgoing{Path: path + "/stop"}, nil
	default:
		return &dialect.Outgoing{Path: path}, nil
	}
}

// Follow requests the next page of a list.
func (tunings) Follow(incoming *dialect.Incoming) (dialect.Next, bool, error) {
	if incoming.Sent.Endpoint != llm.ListFinetunes {
		return dialect.Next{}, false, nil
	}
	return tuningsPages.Follow(incoming)
}

// TranslateResponse reads a job or a list, {"modelCustomizationJobSummaries":[…]}. It ignores the
// response body of a cancellation.
func (tunings) TranslateResponse(incoming *dialect.Incoming) (*dialect.Response, error) {
	switch incoming.Sent.Endpoint {
	case llm.CancelFinetune:
		return cancelled("finetune", incoming.Sent.ID), nil
	case llm.ListFinetunes:
		return tuningsPages.BuildResponse(incoming)
	default:
		return one(incoming.Body, writeTuning)
	}
}

// tuningStatus maps Amazon's job states to OpenAI's.
// Source: contract/provider-transforms.md 3.12.
var tuningStatus = map[string]string{
	"InProgress": "running", "Completed": "succeeded", "Failed": "failed", "Stopping": "cancelled", "Stopped": "cancelled",
}

// writeTuning writes a job, or its summary, in the format of an OpenAI fine-tuning job.
func writeTuning(w *jsonwriter.Writer, raw []byte) {
	state := jsonedit.Text(raw, "status")
	start, _ := jsonedit.Find(raw, "creationTime")
	end, _ := jsonedit.Find(raw, "endTime")
	w.Open('{')
	w.Str("id", escape(jsonedit.Text(raw, "jobArn")))
	w.Str("object", "finetune")
	w.Str("model", jsonedit.Text(raw, "baseModelArn"))
	w.Str("status", cmp.Or(tuningStatus[state], state))
	writeTime(w, "created_at", start)
	writeTime(w, "finished_at", end)
	nameOr(w, "fine_tuned_model", cmp.Or(jsonedit.Text(raw, "outputModelArn"), jsonedit.Text(raw, "customModelArn")))
	nameOr(w, "suffix", cmp.Or(jsonedit.Text(raw, "outputModelName"), jsonedit.Text(raw, "customModelName")))
	training, _ := jsonedit.Find(raw, "trainingDataConfig", "s3Uri")
	nameOr(w, "training_file", escapeSome(plain(training)))
	writeValidation(w, raw)
	writeParameters(w, raw)
	if why := jsonedit.Text(raw, "failureMessage"); why != "" {
		w.Key("error").Open('{')
		w.Str("code", "failed")
		w.Str("message", why)
		w.Close('}')
	} else {
		w.Raw("error", nullJSON)
	}
	w.Close('}')
}

func nameOr(w *jsonwriter.Writer, name, value string) {
	if value == "" {
		w.Raw(name, nullJSON)
		return
	}
	w.Str(name, value)
}

func escapeSome(uri string) string {
	if uri == "" {
		return ""
	}
	return escape(uri)
}

func writeValidation(w *jsonwriter.Writer, raw []byte) {
	list, _ := jsonedit.Find(raw, "validationDataConfig", "validators")
	for v := range jsonedit.Elements(list) {
		w.Str("validation_file", escape(jsonedit.Text(v, "s3Uri")))
		return
	}
	w.Raw("validation_file", nullJSON)
}

// writeParameters writes the hyperparameters under OpenAI's names. Strings that contain a number
// become numbers.
func writeParameters(w *jsonwriter.Writer, raw []byte) {
	provided, _ := jsonedit.Find(raw, "hyperParameters")
	w.Key("hyperparameters").Open('{')
	for _, n := range [...][2]string{
		{"n_epochs", "epochCount"}, {"batch_size", "batchSize"}, {"learning_rate_multiplier", "learningRateMultiplier"}, {"learning_rate", "learningRate"},
	} {
		val, ok := jsonedit.Find(provided, n[1])
		if !ok {
			continue
		}
		if text := plain(val); isNumber(text) {
			val = []byte(text)
		}
		w.Raw(n[0], val)
	}
	w.Close('}')
}

func isNumber(text string) bool {
	return text != "" && text[0] != '"' && json.Valid([]byte(text)) && strings.Trim(text, "+-.0123456789eE") == ""
}
