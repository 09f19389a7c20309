package demo

import (
	"net/http"
	"strings"
)

// job is a fine-tuning job object. Like a batch it advances by one state at each read:
// validating_files, running, succeeded.
type job struct {
	ID          string   `json:"id"`
	Object      string   `json:"object"` // "fine_tuning.job"
	Created     int64    `json:"created_at"`
	Model       string   `json:"model"`
	Tuned       *string  `json:"fine_tuned_model"`
	Finished    *int64   `json:"finished_at"`
	Org         string   `json:"organization_id"`
	Status      string   `json:"status"`
	Training    string   `json:"training_file"`
	Validation  *string  `json:"validation_file"`
	Results     []string `json:"result_files"`
	Trained     *int64   `json:"trained_tokens"`
	Error       any      `json:"error"`
	Seed        int64    `json:"seed"`
	Hyper       any      `json:"hyperparameters"`
	suffix      string
	trainTokens int64
}

// fineTuningAPI serves fine-tuning jobs.
type fineTuningAPI struct {
	*serverState
	files  *fileAPI
	stored *store[job]
}

func (api *fineTuningAPI) createJob(w http.ResponseWriter, r *http.Request) error {
	var q struct {
		Model      string  `json:"model"`
		Training   string  `json:"training_file"`
		Validation *string `json:"validation_file"`
		Suffix     string  `json:"suffix"`
		Seed       int64   `json:"seed"`
	}
	if _, err := decode(w, r, &q); err != nil {
		return err
	}
	input, ok := api.files.stored.find(q.Training)
	switch {
	case q.Model == "":
		return badParam("model", "you must provide a model parameter")
	case !ok:
		return badParam("training_file", "No such File object: %s", q.Training)
	case len(q.Suffix) > 64:
		return badParam("suffix", "Invalid 'suffix': at most 64 characters.")
	}
	j := job{
		ID: api.numbered("ftjob-"), Object: "fine_tuning.job", Created: api.now(), Model: q.Model, Org: "org-demo",
		Status: "validating_files", Training: q.Training, Validation: q.Validation, Results: []string{}, Seed: q.Seed,
		Hyper:  map[string]any{"n_epochs": 1, "batch_size": 1, "learning_rate_multiplier": 1},
		suffix: q.Suffix, trainTokens: Tokens(string(input.body)),
	}
	api.stored.put(j.ID, j, maxRecordBytes/maxRecords)
	writeJSON(w, http.StatusOK, j)
	return nil
}

func (api *fineTuningAPI) listJobs(w http.ResponseWriter, r *http.Request) error {
	return writePage(w, r, api.stored)
}

// findJob returns the job after its next step.
func (api *fineTuningAPI) findJob(w http.ResponseWriter, r *http.Request) error {
	now := api.now()
	j, ok := api.stored.change(r.PathValue("id"), func(j job) job {
		switch j.Status {
		case "validating_files":
			j.Status = "running"
		case "running":
			name := strings.Join([]string{"ft", j.Model, "demo", j.suffix, j.ID[len("ftjob-"):]}, ":")
			j.Status, j.Tuned, j.Finished, j.Trained = "succeeded", &name, &now, &j.trainTokens
		}
		return j
	})
	if !ok {
		return missing("fine-tuning job", r.PathValue("id"))
	}
	writeJSON(w, http.StatusOK, j)
	return nil
}

func (api *fineTuningAPI) cancelJob(w http.ResponseWriter, r *http.Request) error {
	now := api.now()
	j, ok := api.stored.change(r.PathValue("id"), func(j job) job {
		if j.Status != "succeeded" && j.Status != "cancelled" {
			j.Status, j.Finished = "cancelled", &now
		}
		return j
	})
	switch {
	case !ok:
		return missing("fine-tuning job", r.PathValue("id"))
	case j.Status != "cancelled":
		return &refusal{Status: http.StatusBadRequest, Message: "Job has already completed: " + j.ID}
	}
	writeJSON(w, http.StatusOK, j)
	return nil
}
