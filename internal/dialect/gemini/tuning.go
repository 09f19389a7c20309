package gemini

import (
	"cmp"
	"context"

	"sluice/internal/dialect"
	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/dialect/uploads"
	"sluice/internal/dialect/usage"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// tunings are the tuning jobs of Vertex AI.
// Source: https://cloud.google.com/vertex-ai/docs/reference/rest/v1/projects.locations.tuningJobs,
// read 2026-11; contract/provider-transforms.md 4.10, section 12.
type tunings struct{}

var _ dialect.MultiStep = tunings{}

var tuningsPages = pages("tuningJobs", writeTuning)

// Follow requests the next page of a list.
func (tunings) Follow(incoming *dialect.Incoming) (dialect.Next, bool, error) {
	if incoming.Sent.Endpoint != llm.ListFinetunes {
		return dialect.Next{}, false, nil
	}
	return tuningsPages.Follow(incoming)
}

// EncodeRequest turns the caller's fine-tune into a job. On all other endpoints the
// address is the complete request.
func (tunings) EncodeRequest(_ context.Context, r *dialect.Request, to *dialect.Target) (*dialect.Outgoing, error) {
	switch r.Endpoint {
	case llm.CreateFinetune:
		return createTuning(r.Body, to)
	case llm.ListFinetunes:
		return tuningsPages.EncodeRequest(r.Query)
	default:
		return &dialect.Outgoing{}, nil
	}
}

func createTuning(body []byte, to *dialect.Target) (*dialect.Outgoing, error) {
	t := fields.Track(body)
	var w jsonwriter.Writer
	w.Open('{')
	w.Str("baseModel", to.Model)
	fields.WriteParams(&w, t, []fields.Rename{{Path: "suffix", To: "tunedModelDisplayName"}})
	w.Key("supervisedTuningSpec").Open('{')
	for _, f := range [...]struct{ from, to string }{{"training_file", "trainingDatasetUri"}, {"validation_file", "validationDatasetUri"}} {
		id := textOf(t, f.from)
		if id == "" && f.from == "validation_file" {
			continue
		}
		file, err := fileID(id, f.from)
		if err != nil {
			return nil, err
		}
		w.Str(f.to, file.uri())
	}
	if set, ok := t.Consume("hyperparameters"); ok {
		hyperparameters(&w, t, set)
	}
	w.Close('}')
	w.Close('}')
	return &dialect.Outgoing{Body: w.B, Dropped: t.Dropped()}, nil
}

// adapterSizes are Google's names for the sizes of an adapter.
var adapterSizes = map[string]string{
	"1": "ADAPTER_SIZE_ONE", "2": "ADAPTER_SIZE_TWO", "4": "ADAPTER_SIZE_FOUR", "8": "ADAPTER_SIZE_EIGHT", "16": "ADAPTER_SIZE_SIXTEEN", "32": "ADAPTER_SIZE_THIRTY_TWO",
}

// hyperparameters writes the hyperparameters. "auto" is the default, so it is not written.
func hyperparameters(w *jsonwriter.Writer, t *llm.FieldTracker, set []byte) {
	w.Key("hyperParameters").Open('{')
	for name, val := range jsonedit.Members(set) {
		if string(val) == `"auto"` {
			continue
		}
		switch key := plainText(name); key {
		case "n_epochs":
			w.Raw("epochCount", val)
		case "learning_rate_multiplier":
			w.Raw("learningRateMultiplier", val)
		case "batch_size":
			if size := adapterSizes[string(val)]; size != "" {
				w.Str("adapterSize", size)
			} else {
				w.Raw("adapterSize", val)
			}
		default:
			t.Drop("hyperparameters." + key)
		}
	}
	w.Close('}')
}

// tuningStates maps the states of a job to OpenAI's names.
var tuningStates = map[string]string{
	"JOB_STATE_RUNNING": "running", "JOB_STATE_UPDATING": "running", "JOB_STATE_SUCCEEDED": "succeeded", "JOB_STATE_PARTIALLY_SUCCEEDED": "succeeded",
	"JOB_STATE_FAILED": "failed", "JOB_STATE_EXPIRED": "failed", "JOB_STATE_CANCELLING": "cancelled", "JOB_STATE_CANCELLED": "cancelled",
}

// TranslateResponse writes jobs as fine-tunes. Google's response to a cancellation is
// empty.
func (tunings) TranslateResponse(incoming *dialect.Incoming) (*dialect.Response, error) {
	switch incoming.Sent.Endpoint {
	case llm.CancelFinetune:
		return uploads.FinetuneCancelled(incoming.Sent.ID), nil
	case llm.ListFinetunes:
		return tuningsPages.BuildResponse(incoming)
	default:
		return tuningResponse(incoming.Body)
	}
}

func tuningResponse(job []byte) (*dialect.Response, error) {
	if jobID(job) == "" {
		return nil, fault.New(fault.UpstreamInvalid, "the provider response does not contain a job name")
	}
	var w jsonwriter.Writer
	writeTuning(&w, job)
	return &dialect.Response{Body: w.B}, nil
}

func writeTuning(w *jsonwriter.Writer, job []byte) {
	spec, _ := jsonedit.Find(job, "supervisedTuningSpec")
	file := func(name, from string) {
		o, ok := readObject(textIn(spec, from))
		if !ok {
			w.Raw(name, null)
			return
		}
		w.Str(name, o.id())
	}
	w.Open('{')
	w.Str("id", jobID(job))
	w.Str("object", "fine_tuning.job")
	w.Str("model", textIn(job, "baseModel"))
	w.Str("status", cmp.Or(tuningStates[textIn(job, "state")], "queued"))
	when(w, "created_at", job, "createTime")
	when(w, "finished_at", job, "endTime")
	optional(w, "fine_tuned_model", cmp.Or(textIn(job, "tunedModel", "endpoint"), textIn(job, "tunedModel", "model")))
	optional(w, "suffix", textIn(job, "tunedModelDisplayName"))
	file("training_file", "trainingDatasetUri")
	file("validation_file", "validationDatasetUri")
	w.Key("hyperparameters").Open('{')
	for _, f := range [...][2]string{{"n_epochs", "epochCount"}, {"learning_rate_multiplier", "learningRateMultiplier"}, {"batch_size", "adapterSize"}} {
		val, _ := jsonedit.Find(spec, "hyperParameters", f[1])
		w.Raw(f[0], val)
	}
	w.Close('}')
	if n, ok := jsonedit.Find(job, "tuningDataStats", "supervisedTuningDataStats", "totalBillableTokenCount"); ok {
		if k, counted := usage.Count(n); counted {
			w.Int("trained_tokens", k)
		}
	}
	tuningError(w, job)
	w.Close('}')
}

func tuningError(w *jsonwriter.Writer, job []byte) {
	e, failed := jsonedit.Find(job, "error")
	if !failed {
		w.Raw("error", null)
		return
	}
	code, _ := jsonedit.Find(e, "code")
	w.Key("error").Open('{')
	w.Str("code", string(code))
	w.Str("message", textIn(e, "message"))
	w.Raw("param", null)
	w.Close('}')
}
