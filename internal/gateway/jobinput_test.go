package gateway_test

import (
	"fmt"
	"strings"
	"testing"

	"sluice/internal/domain/keys"
	"sluice/internal/domain/providerjob"
	"sluice/internal/limits/quota"
	"sluice/internal/test/upstream"
)

// bound is the maximum of the job that a call makes.
func (w *works) bound(t *testing.T, path, body string) int64 {
	t.Helper()
	before := len(w.store.Jobs())
	if a := w.call("POST", path, body, savedWorks); a.StatusCode != 200 {
		t.Fatalf("%s: %d %s", body, a.StatusCode, a.Text)
	}
	open := w.store.Jobs()
	if len(open) != before+1 {
		t.Fatalf("%d jobs are open after %d", len(open), before)
	}
	return open[before].MaxCostNano
}

// takesJobs has the factory take jobs of every kind, each under an id of its own.
func (w *works) takesJobs() {
	for path, id := range map[string]string{"/v1/batches": "batch_a", "/v1/batch/jobs": "job-1", "/v1/fine_tuning/jobs": "ftjob-1"} {
		w.up.handle("POST "+path, `{"id":"`+id+`","status":"queued"}`)
	}
}

// Which of several inputs a provider takes is its choice, so that all of them count.
func TestEveryInputOfABatchCounts(t *testing.T) {
	t.Parallel()
	const (
		inline = `{"custom_id":"1","body":{"model":"gpt-4o-mini","max_tokens":10,"messages":[]}}`
		s3     = `"inputDataConfig":{"s3InputDataConfig":{"s3Uri":"file-big"}}`
	)
	for name, c := range map[string]struct{ path, body string }{
		"a list of files":            {"/v1/batch/jobs", `{"input_files":["file-small","file-big"],"model":"gpt-4o-mini"}`},
		"a list of objects":          {"/v1/batch/jobs", `{"input_files":[{"file_id":"file-small"},{"id":"file-big"}],"model":"gpt-4o-mini"}`},
		"a file and a list":          {"/v1/batch/jobs", `{"input_file_id":"file-small","input_files":["file-big"]}`},
		"two spellings":              {"/v1/batches", `{"input_file_id":"file-small","inputFileId":"file-big"}`},
		"twice the same name":        {"/v1/batches", `{"input_file_id":"file-small","input_file_id":"file-big"}`},
		"requests and a file":        {"/v1/batches", `{"requests":[` + inline + `],"input_file_id":"file-big"}`},
		"Gemini's words":             {"/v1/batches", `{"input_file_id":"file-small","batch":{"inputConfig":{"requests":{"requests":[` + inline + `]},"fileName":"file-big"}}}`},
		"Amazon's words":             {"/v1/batches", `{"input_file_id":"file-small",` + s3 + `}`},
		"words of provider_options":  {"/v1/batches", `{"input_file_id":"file-small","provider_options":{` + s3 + `}}`},
		"Google's list of addresses": {"/v1/batches", `{"input_file_id":"file-small","inputConfig":{"gcsSource":{"uris":["file-small","file-big"]}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorks(t, "openai")
			w.budget(10)
			w.takesJobs()
			w.up.handle("GET /v1/files/file-small/content", fmt.Sprintf(requestLine, 1))
			w.up.handle("GET /v1/files/file-big/content", strings.Repeat(fmt.Sprintf(requestLine, 1), 100))
			if got := w.bound(t, c.path, c.body); got < 100*100*300 {
				t.Errorf("holds %d, less than the 100 requests of the large file", got)
			}
		})
	}
}

// An input that the gateway cannot count has no maximum, whatever stands beside it.
func TestInputThatCannotBeCountedIsRefused(t *testing.T) {
	t.Parallel()
	many := strings.TrimSuffix(strings.Repeat(`"file-in",`, 65), ",")
	for name, c := range map[string]struct{ path, body, why string }{
		"65 files":                         {"/v1/batch/jobs", `{"input_files":[` + many + `],"model":"gpt-4o-mini"}`, "more than 64 input files"},
		"a file that is not there":         {"/v1/batch/jobs", `{"input_files":["file-in","file-away"]}`, "cannot be read"},
		"Azure's address of a file":        {"/v1/batches", `{"input_file_id":"file-in","input_blob":"https://x.blob.example/a.jsonl"}`, "cannot be read"},
		"a folder":                         {"/v1/batches", `{"input_file_id":"file-in","inputDataConfig":{"s3InputDataConfig":{"s3Uri":"s3://b/folder/"}}}`, "does not read"},
		"a pattern":                        {"/v1/batches", `{"input_file_id":"gs%3A%2F%2Fb%2F%2A.jsonl"}`, "does not read"},
		"an object":                        {"/v1/batches", `{"input_file_id":"file-in","input_file":{"url":"https://x.example"}}`, "does not read"},
		"nothing":                          {"/v1/batches", `{"requests":[]}`, "has no input file"},
		"two endpoints":                    {"/v1/batches", `{"input_file_id":"file-in","endpoint":"/v1/embeddings","endpoint":"/v1/chat/completions"}`, "more than one endpoint"},
		"an endpoint without a maximum":    {"/v1/batches", `{"input_file_id":"file-in","endpoint":"/v1/videos"}`, "not known in advance"},
		"a line for another endpoint":      {"/v1/batches", `{"input_file_id":"file-cheap","endpoint":"/v1/chat/completions"}`, "not the endpoint of the batch"},
		"a line of chat as an embedding":   {"/v1/batches", `{"input_file_id":"file-in","endpoint":"/v1/embeddings"}`, "not the endpoint of the batch"},
		"a file without lines":             {"/v1/batches", `{"input_file_id":"file-empty"}`, "has no lines"},
		"two models":                       {"/v1/batch/jobs", `{"input_files":["file-in"],"model":"gpt-4o-mini","modelId":"gpt-4o"}`, "name one"},
		"two models of Gemini's batch":     {"/v1/batches", `{"input_file_id":"file-in","model":"gpt-4o-mini","batch":{"model":"models/gpt-4o"}}`, "name one"},
		"two models to train":              {"/v1/fine_tuning/jobs", `{"model":"gpt-4o-mini-2024-07-18","training_file":"file-in","baseModelIdentifier":"gpt-4o"}`, "name one"},
		"training by steps":                {"/v1/fine_tuning/jobs", `{"model":"gpt-4o-mini-2024-07-18","training_file":"file-in","hyperparameters":{"training_steps":10}}`, "send the number of epochs"},
		"training on what is in the call":  {"/v1/fine_tuning/jobs", `{"model":"gpt-4o-mini-2024-07-18","training_file":"file-in","tuningTask":{"trainingData":{"examples":{"examples":[]}}}}`, "does not read"},
		"training on 65 files":             {"/v1/fine_tuning/jobs", `{"model":"gpt-4o-mini-2024-07-18","training_files":[` + many + `]}`, "more than 64 input files"},
		"requests for a batch that exists": {"/v1/batches/batch_a/requests", `{"batch_requests":[]}`, "412"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorks(t, "openai")
			w.budget(10)
			w.takesJobs()
			w.up.handle("POST /v1/batches/batch_a/requests", `{}`)
			w.up.handle("GET /v1/files/file-in/content", twoLines(requestLine))
			w.up.handle("GET /v1/files/file-empty/content", "\n")
			w.up.handle("GET /v1/files/file-cheap/content", strings.ReplaceAll(twoLines(requestLine), "/v1/chat/completions", "/v1/moderations"))
			a := w.call("POST", c.path, c.body, savedWorks)
			if c.why = strings.TrimPrefix(c.why, "412"); a.StatusCode != 412 || !strings.Contains(a.Text, c.why) || w.up.calls("POST "+c.path) != 0 {
				t.Errorf("%d %s", a.StatusCode, a.Text)
			}
		})
	}
}

// A file counts at the model of each job that names it, not at that of the first.
func TestFileCountsAtTheModelOfItsJob(t *testing.T) {
	t.Parallel()
	w := newWorks(t, "openai")
	w.budget(10)
	w.takesJobs()
	w.up.handle("GET /v1/files/file-in/content", strings.ReplaceAll(twoLines(requestLine), `"model":"gpt-4o-mini",`, ""))
	w.up.handle("GET /v1/files/file-mini/content", twoLines(requestLine))
	cheap := w.bound(t, "/v1/batch/jobs", `{"input_files":["file-in"],"model":"gpt-4o-mini"}`)
	if dear := w.bound(t, "/v1/batches", `{"input_file_id":"file-in","model":"gpt-4o"}`); dear < 10*cheap {
		t.Errorf("holds %d at gpt-4o and %d at gpt-4o-mini", dear, cheap)
	}
	w.up.handle("POST /v1/batch/jobs", `{"id":"job-2","status":"QUEUED"}`)
	if dear := w.bound(t, "/v1/batch/jobs", `{"input_files":["file-mini"],"model":"gpt-4o"}`); dear < 10*cheap {
		t.Errorf("holds %d at gpt-4o with lines of gpt-4o-mini, and %d at gpt-4o-mini", dear, cheap)
	}
}

// Bedrock answers a batch that is passed through with the model of the call, whatever the
// lines name, and its results do not say which it was.
func TestBatchOfBedrockCountsAtTheModelOfTheCall(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	store := new(jobTracker)
	store.follow(r)
	r.limited(keys.Kind, r.keyID(), quota.Limits{Budgets: []quota.Budget{budget(quota.Cost, 10)}})
	r.up.Handle("/b/rows.jsonl", upstream.Always(upstream.JSON(200, []byte(`{"recordId":"1","modelInput":{"model":"amazon.nova-lite-v1:0","inferenceConfig":{"maxTokens":100},"messages":[]}}`))))
	r.up.Handle("/model-invocation-job", upstream.Always(upstream.JSON(200, []byte(`{"jobArn":"arn:aws:bedrock:us-east-1:123456789012:model-invocation-job/abc"}`))))
	aws := []string{"x-gateway-provider: bedrock", "x-gateway-custom-host: " + r.up.URL(), "x-gateway-aws-access-key-id: AKID", "x-gateway-aws-secret-access-key: secret", "x-gateway-aws-region: us-east-1"}
	body := `{"jobName":"j","modelId":"arn:aws:bedrock:us-east-1::foundation-model/amazon.nova-pro-v1:0","inputDataConfig":{"s3InputDataConfig":{"s3Uri":"s3://b/rows.jsonl"}},"outputDataConfig":{"s3OutputDataConfig":{"s3Uri":"s3://b/out/"}},"roleArn":"arn:aws:iam::1:role/r"}`
	if a := r.call("POST", "/v1/model-invocation-job", body, aws...); a.StatusCode != 200 {
		t.Fatalf("%d %s", a.StatusCode, a.Text)
	}
	open := store.Jobs()
	if len(open) != 1 || open[0].Model != "amazon.nova-pro-v1:0" || open[0].MaxCostNano < 100*1600 || open[0].Kind != providerjob.Batch {
		t.Errorf("%+v", open)
	}
}

// What was counted under an id counts until something else is uploaded under it, whoever does
// that; of a form with several files what the provider took counts.
func TestUploadReplacesWhatWasCounted(t *testing.T) {
	t.Parallel()
	const form = "content-type: multipart/form-data; boundary=x"
	part := func(name, rest, content string) string {
		return "--x\r\ncontent-disposition: form-data; name=\"" + name + "\"" + rest + "\r\n\r\n" + content + "\r\n"
	}
	small, big := fmt.Sprintf(requestLine, 1), strings.Repeat(fmt.Sprintf(requestLine, 1), 100)
	for name, second := range map[string]string{
		"a file that cannot be counted": part("purpose", "", "batch") + part("file", `; filename="a"`, "{not JSON}"),
		"another purpose":               part("purpose", "", "assistants") + part("file", `; filename="a"`, big),
		"two files":                     part("purpose", "", "batch") + part("file", `; filename="a"`, small) + part("file", `; filename="b"`, big),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorks(t, "openai")
			w.budget(10)
			w.takeBatch()
			w.upload(t, "batch", small, savedWorks)
			w.up.handle("GET /v1/files/file-in/content", big)
			if a := w.call("POST", "/v1/files", second+"--x--\r\n", savedWorks, form); a.StatusCode != 200 {
				t.Fatalf("%d %s", a.StatusCode, a.Text)
			}
			if got := w.bound(t, "/v1/batches", createBatch); got < 100*100*300 {
				t.Errorf("holds %d, less than the 100 requests that the provider has", got)
			}
		})
	}
}

// All training files count, as often as the largest number of epochs that the call names.
func TestTrainingHoldsAllFilesAndEpochs(t *testing.T) {
	t.Parallel()
	w := newWorks(t, "openai")
	w.budget(100)
	example := `{"messages":[{"role":"user","content":"Hello there"},{"role":"assistant","content":"Hi."}]}` + "\n"
	w.up.handle("GET /v1/files/file-one/content", example)
	w.up.handle("GET /v1/files/file-ten/content", strings.Repeat(example, 10))
	tune := func(rest string) int64 {
		t.Helper()
		w.up.handle("POST /v1/fine_tuning/jobs", fmt.Sprintf(`{"id":"ftjob-%d","status":"queued"}`, len(w.store.Jobs())))
		return w.bound(t, "/v1/fine_tuning/jobs", `{"model":"gpt-4o-mini-2024-07-18",`+rest+`}`)
	}
	once := tune(`"training_file":"file-one","hyperparameters":{"n_epochs":1}`)
	for rest, times := range map[string]int64{
		`"training_files":["file-one","file-ten"],"hyperparameters":{"epochs":1}`:                                                                       11,
		`"training_files":[{"file_id":"file-one","weight":3},{"file_id":"file-ten","weight":0.5}],"hyperparameters":{"epochs":1}`:                       13,
		`"training_file":"file-one","trainingFile":"file-ten","n_epochs":1`:                                                                             11,
		`"training_file":"file-one","n_epochs":1,"hyperparameters":{"n_epochs":7}`:                                                                      7,
		`"training_file":"file-one","hyperparameters":{"n_epochs":1},"method":{"type":"supervised","supervised":{"hyperparameters":{"n_epochs":9}}}`:    9,
		`"training_file":"file-one","method":{"type":"dpo","supervised":{"hyperparameters":{"n_epochs":1}},"dpo":{"hyperparameters":{"n_epochs":"8"}}}`: 8,
		`"training_file":"file-one","n_epochs":1,"method":{"type":"dpo","dpo":{"hyperparameters":{"n_epochs":"auto"}}}`:                                 25,
		`"training_file":"file-one","hyperparameters":{"n_epochs":1},"method":{"type":"supervised"}`:                                                    25,
		`"training_file":"file-one","n_epochs":1,"hyperParameters":{"epochCount":"6"}`:                                                                  6,
		`"training_file":"file-one","hyperparameters":{"n_epochs":2},"metadata":{"epochs":"90"}`:                                                        2,
		`"training_file":"file-one"`: 25,
	} {
		if got := tune(rest); (got+once/2)/once != times {
			t.Errorf("%s holds %d times the file, want %d", rest, (got+once/2)/once, times)
		}
	}
}
