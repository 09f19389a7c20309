package bedrock_test

import (
	"regexp"
	"strings"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/anthropic"
	"sluice/internal/dialect/bedrock"
	"sluice/internal/dialect/dialecttest"
	"sluice/internal/dialect/openai"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
)

const (
	jobARN = "arn:aws:bedrock:us-east-1:123456789012:model-invocation-job/qz8v1t9lf3rk"
	jobID  = "arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Amodel-invocation-job%2Fqz8v1t9lf3rk"
)

// lines are the shapes that the lines of files have.
func lines() *dialect.FileLines {
	return &dialect.FileLines{Client: openai.Dialect().Clients[llm.ChatComplete], Messages: anthropic.Dialect().Upstreams[llm.Messages]}
}

var made = regexp.MustCompile(`(batch-|job-)[0-9a-f-]{36}`)

func TestCreateBatch(t *testing.T) {
	t.Parallel()
	for _, c := range []askCase{
		{
			name: "the least", model: "anthropic.claude-3-haiku-20240307-v1:0",
			body: `{"model":"m","input_file_id":"s3%3A%2F%2Fin%2Fdir%2Frows.jsonl","endpoint":"/v1/chat/completions","completion_window":"24h","role_arn":"arn:r","metadata":{"a":"b"}}`,
			want: `{"modelId":"anthropic.claude-3-haiku-20240307-v1:0","roleArn":"arn:r","jobName":"made","inputDataConfig":{"s3InputDataConfig":{"s3InputFormat":"JSONL","s3Uri":"s3://in/dir/rows.jsonl"}},` +
				`"outputDataConfig":{"s3OutputDataConfig":{"s3Uri":"s3://in/dir/"}}}`,
			dropped: []string{"metadata"},
		},
		{
			name: "what the caller says in Amazon's words wins", model: "m",
			body: `{"input_file_id":"s3://in/rows.jsonl","role_arn":"arn:r","job_name":"j","output_data_config":"s3%3A%2F%2Fout%2Fo%2F","provider_options":{"timeoutDurationInHours":72,"jobName":"k"},"completion_window":"1h"}`,
			want: `{"timeoutDurationInHours":72,"jobName":"k","modelId":"m","roleArn":"arn:r","inputDataConfig":{"s3InputDataConfig":{"s3InputFormat":"JSONL","s3Uri":"s3://in/rows.jsonl"}},` +
				`"outputDataConfig":{"s3OutputDataConfig":{"s3Uri":"s3://out/o/"}}}`,
			dropped: []string{"completion_window"},
		},
		{
			name: "another model in Amazon's words", model: "m",
			body: `{"input_file_id":"s3://in/rows.jsonl","role_arn":"arn:r","job_name":"j","output_data_config":"s3%3A%2F%2Fout%2Fo%2F","provider_options":{"modelId":"x","model\u0049d":"y"}}`,
			want: `{"modelId":"m","roleArn":"arn:r","jobName":"j","inputDataConfig":{"s3InputDataConfig":{"s3InputFormat":"JSONL","s3Uri":"s3://in/rows.jsonl"}},` +
				`"outputDataConfig":{"s3OutputDataConfig":{"s3Uri":"s3://out/o/"}}}`,
		},
		{
			name: "an output of the caller's", model: "m", body: `{"input_file_id":"s3://in/rows.jsonl","role_arn":"arn:r","job_name":"j","output_data_config":{"s3OutputDataConfig":{"s3Uri":"s3://o/","s3BucketOwner":"1"}}}`,
			want: `{"modelId":"m","roleArn":"arn:r","jobName":"j","inputDataConfig":{"s3InputDataConfig":{"s3InputFormat":"JSONL","s3Uri":"s3://in/rows.jsonl"}},"outputDataConfig":{"s3OutputDataConfig":{"s3Uri":"s3://o/","s3BucketOwner":"1"}}}`,
		},
		{name: "no role", model: "m", body: `{"input_file_id":"s3://in/rows.jsonl"}`, code: fault.InvalidParameter, param: "role_arn"},
		{name: "no file", model: "m", body: `{"role_arn":"r"}`, code: fault.InvalidParameter, param: "input_file_id"},
		{name: "a file of another provider", model: "m", body: `{"role_arn":"r","input_file_id":"file-1"}`, code: fault.InvalidParameter, param: "input_file_id"},
		{name: "no model", body: `{"role_arn":"r","input_file_id":"s3://in/rows.jsonl"}`, code: fault.InvalidParameter, param: "model"},
	} {
		if c.code == "" {
			out, err := ask(t, llm.CreateBatch, &dialect.Request{Body: []byte(c.body)}, &dialect.Target{Model: c.model})
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			if got := made.ReplaceAllString(string(out.Body), "made"); got != c.want || strings.Join(out.Dropped, " ") != strings.Join(c.dropped, " ") {
				t.Errorf("%s:\ngot  %s, lost %q\nwant %s", c.name, got, out.Dropped, c.want)
			}
			continue
		}
		c.run(t, llm.CreateBatch)
	}
	a, err := translateResponse(llm.CreateBatch, &dialect.Incoming{Body: []byte(`{"jobArn":"` + jobARN + `"}`), Sent: &dialect.Request{Body: []byte(`{"input_file_id":"s3%3A%2F%2Fin%2Frows.jsonl"}`)}})
	want := `{"id":"` + jobID + `","object":"batch","endpoint":"/v1/chat/completions","model":"m","input_file_id":"s3%3A%2F%2Fin%2Frows.jsonl","completion_window":"24h","status":"validating","output_file_id":null,"error_file_id":null,"created_at":1795176000}`
	if err != nil || string(a.Body) != want {
		t.Errorf("%+v, %v", a, err)
	}
}

func TestBatchPaths(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ep              llm.Endpoint
		id, path, query string
	}{
		{llm.RetrieveBatch, jobARN, "/model-invocation-job/" + jobID, ""},
		{llm.RetrieveBatch, jobID, "/model-invocation-job/" + jobID, ""}, // escaped once more by the caller
		{llm.CancelBatch, jobARN, "/model-invocation-job/" + jobID + "/stop", ""},
		{llm.GetBatchOutput, jobARN, "/model-invocation-job/" + jobID, ""},
		{llm.ListBatches, "", "", "maxResults=5&nextToken=a%2Bb&statusEquals=Failed"},
		{llm.RetrieveFinetune, "arn:x/y", "/model-customization-jobs/arn%3Ax%2Fy", ""},
		{llm.CancelFinetune, "job-1", "/model-customization-jobs/job-1/stop", ""},
		{llm.ListFinetunes, "", "", "maxResults=5&nextToken=a%2Bb&statusEquals=Failed"},
	} {
		out, err := ask(t, c.ep, &dialect.Request{ID: c.id, Query: "limit=5&after=a%2Bb&statusEquals=Failed"}, &dialect.Target{})
		if err != nil || out.Path != c.path || out.Query != c.query || len(out.Body) > 0 {
			t.Errorf("%s: %+v, %v", c.ep, out, err)
		}
	}
	if _, err := ask(t, llm.ListBatches, &dialect.Request{Query: "limit=x"}, &dialect.Target{}); !fault.Has(err, fault.InvalidParameter) {
		t.Errorf("limit: %v", err)
	}
}

// job is the answer of Amazon's API reference.
// Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_GetModelInvocationJob.html, read 2026-11.
func job(status, more string) string {
	return `{"jobArn":"` + jobARN + `","jobName":"n","modelId":"anthropic.claude-3-haiku-20240307-v1:0","roleArn":"arn:r","status":"` + status + `","submitTime":"2026-11-20T10:00:00Z",` +
		`"endTime":"2026-11-20T11:00:00.5Z","jobExpirationTime":1795263600,"totalRecordCount":100,"successRecordCount":97,"errorRecordCount":3,` + more +
		`"inputDataConfig":{"s3InputDataConfig":{"s3InputFormat":"JSONL","s3Uri":"s3://in/dir/rows.jsonl"}},"outputDataConfig":{"s3OutputDataConfig":{"s3Uri":"s3://out/o/"}}}`
}

func TestRetrieveBatch(t *testing.T) {
	t.Parallel()
	head := `{"id":"` + jobID + `","object":"batch","endpoint":"/v1/chat/completions","model":"anthropic.claude-3-haiku-20240307-v1:0",`
	times := `"error_file_id":null,"created_at":1795168800,"expires_at":1795263600,"finalizing_at":1795172400,`
	counts := `"request_counts":{"total":100,"completed":97,"failed":3}}`
	input := `"input_file_id":"s3%3A%2F%2Fin%2Fdir%2Frows.jsonl","completion_window":"24h",`
	output := `"output_file_id":"s3%3A%2F%2Fout%2Fo%2Fqz8v1t9lf3rk%2Frows.jsonl.out",`
	for _, c := range []struct{ job, want string }{
		{job("PartiallyCompleted", ""), head + `"errors":null,` + input + `"status":"completed",` + output + times + `"completed_at":1795172400,` + counts},
		{job("Scheduled", ""), head + `"errors":null,` + input + `"status":"validating","output_file_id":null,` + times + counts},
		{job("Failed", `"message":"no access",`), head + `"errors":{"object":"list","data":[{"code":"failed","message":"no access"}]},` + input + `"status":"failed","output_file_id":null,` + times + `"failed_at":1795172400,` + counts},
		{job("Stopped", ""), head + `"errors":null,` + input + `"status":"cancelled","output_file_id":null,` + times + `"cancelled_at":1795172400,` + counts},
	} {
		a, err := translateResponse(llm.RetrieveBatch, &dialect.Incoming{Body: []byte(c.job)})
		if err != nil || string(a.Body) != c.want {
			t.Errorf("%v\ngot  %s\nwant %s", err, a.Body, c.want)
		}
	}
	a, err := translateResponse(llm.ListBatches, &dialect.Incoming{Body: []byte(`{"invocationJobSummaries":[` + job("InProgress", "") + `],"nextToken":"t/1"}`)})
	if err != nil || !strings.HasPrefix(string(a.Body), `{"object":"list","data":[`+head) || !strings.HasSuffix(string(a.Body), `],"first_id":"`+jobID+`","last_id":"`+jobID+`","has_more":true,"next_page_token":"t/1"}`) {
		t.Errorf("%s, %v", a.Body, err)
	}
	a, err = translateResponse(llm.CancelBatch, &dialect.Incoming{Body: []byte(`{}`), Sent: &dialect.Request{ID: jobARN}})
	if err != nil || string(a.Body) != `{"status":"success","object":"batch","id":"`+jobID+`"}` {
		t.Errorf("%s, %v", a.Body, err)
	}
	for _, ep := range []llm.Endpoint{llm.CreateBatch, llm.RetrieveBatch, llm.ListBatches, llm.CreateFinetune, llm.RetrieveFinetune, llm.ListFinetunes} {
		if _, err := translateResponse(ep, &dialect.Incoming{Body: []byte(`{"message":"x"}`)}); !fault.Has(err, fault.UpstreamInvalid) {
			t.Errorf("%s: %v", ep, err)
		}
	}
}

func TestBatchOutput(t *testing.T) {
	t.Parallel()
	f := bedrock.Dialect().Unified[llm.GetBatchOutput].(dialect.MultiStep)
	incoming := &dialect.Incoming{Body: []byte(job("Completed", "")), Created: 1795176000, To: &dialect.Target{Provider: "bedrock"}, Sent: &dialect.Request{Lines: lines()}}
	next, ok, err := f.Follow(incoming)
	if err != nil || !ok || next.Endpoint != llm.RetrieveFileContent || next.Path != "/out/o/qz8v1t9lf3rk/rows.jsonl.out" || next.ContentType != "application/jsonl" {
		t.Fatalf("%+v, %v, %v", next, ok, err)
	}
	rows := strings.Split(dialecttest.File(t, next.File, `{"recordId":"1","modelInput":{},"modelOutput":{"id":"msg_1","type":"message","role":"assistant","model":"claude-3-haiku","content":[{"type":"text","text":"Hi"}],"stop_reason":"end_turn","usage":{"input_tokens":5,"output_tokens":7}}}`+"\n"+
		`{"recordId":"2","modelInput":{},"error":{"errorCode":400,"errorMessage":"bad"}}`+"\n\n"+`{"recordId":"3","modelOutput":{"odd":1}}`), "\n")
	if len(rows) != 4 || rows[3] != "" {
		t.Fatalf("%q", rows)
	}
	for i, want := range []string{
		`{"id":"1","custom_id":"1","response":{"status_code":200,"request_id":"1","body":{"id":"msg_1","object":"chat.completion"`,
		`{"id":"2","custom_id":"2","response":null,"error":{"code":"400","message":"bad"}}`,
		`{"id":"3","custom_id":"3","response":{"status_code":200,"request_id":"3","body":{"odd":1}},"error":null}`,
	} {
		if !strings.HasPrefix(rows[i], want) {
			t.Errorf("row %d: %s", i, rows[i])
		}
	}
	if !strings.Contains(rows[0], `"content":"Hi"`) || !strings.Contains(rows[0], `"total_tokens":12`) {
		t.Errorf("%s", rows[0])
	}
	if _, _, err := f.Follow(&dialect.Incoming{Body: []byte(job("InProgress", ""))}); !fault.Has(err, fault.Conflict) {
		t.Errorf("a batch that runs: %v", err)
	}
}

// The answers of models that are not Claude become chat completions too.
func TestBatchOutputOfFamilies(t *testing.T) {
	t.Parallel()
	for model, modelOutput := range map[string]string{
		"amazon.nova-lite-v1:0":        `{"output":{"message":{"role":"assistant","content":[{"text":"Hi"}]}},"stopReason":"end_turn","usage":{"inputTokens":1,"outputTokens":2,"totalTokens":3}}`,
		"meta.llama3-8b-instruct-v1:0": `{"generation":"Hi","stop_reason":"stop","prompt_token_count":1,"generation_token_count":2}`,
		"amazon.titan-text-lite-v1":    `{"inputTextTokenCount":1,"results":[{"tokenCount":2,"outputText":"Hi","completionReason":"FINISHED"}]}`,
	} {
		body := strings.Replace(job("Completed", ""), "anthropic.claude-3-haiku-20240307-v1:0", model, 1)
		f := bedrock.Dialect().Unified[llm.GetBatchOutput].(dialect.MultiStep)
		next, _, err := f.Follow(&dialect.Incoming{Body: []byte(body), To: &dialect.Target{Provider: "bedrock"}, Sent: &dialect.Request{Lines: lines()}})
		if err != nil {
			t.Fatal(err)
		}
		if out := dialecttest.File(t, next.File, `{"recordId":"1","modelOutput":`+modelOutput+`}`); !strings.Contains(out, `"message":{"role":"assistant","content":"Hi"`) || !strings.Contains(out, `"total_tokens":3`) {
			t.Errorf("%s: %s", model, out)
		}
	}
}

func TestFinetunes(t *testing.T) {
	t.Parallel()
	for _, c := range []askCase{
		{
			name: "Claude", model: "anthropic.claude-3-haiku-20240307-v1:0:200k", body: `{"model":"m","training_file":"s3%3A%2F%2Fb%2Ft.jsonl","validation_file":"s3://b/v.jsonl","suffix":"s","job_name":"j","role_arn":"r",` +
				`"hyperparameters":{"n_epochs":2,"batch_size":"auto","learning_rate_multiplier":1.5,"earlyStoppingThreshold":0.1},"seed":1}`,
			want: `{"baseModelIdentifier":"anthropic.claude-3-haiku-20240307-v1:0:200k","jobName":"j","customModelName":"s","roleArn":"r","trainingDataConfig":{"s3Uri":"s3://b/t.jsonl"},` +
				`"validationDataConfig":{"validators":[{"s3Uri":"s3://b/v.jsonl"}]},"outputDataConfig":{"s3Uri":"s3://b/"},"hyperParameters":{"epochCount":"2","learningRateMultiplier":"1.5","earlyStoppingThreshold":"0.1"},"customizationType":"FINE_TUNING"}`,
			dropped: []string{"seed"},
		},
		{
			name: "Titan", model: "amazon.titan-text-lite-v1", body: `{"training_file":"s3://b/t.jsonl","job_name":"j","role_arn":"r","output_file":"s3://o/d/","customization_type":"CONTINUED_PRE_TRAINING",` +
				`"method":{"type":"supervised","supervised":{"hyperparameters":{"learning_rate_multiplier":"0.00001","batch_size":8}}},"provider_options":{"customModelName":"c","baseModelIdentifier":"x"}}`,
			want: `{"customModelName":"c","baseModelIdentifier":"amazon.titan-text-lite-v1","jobName":"j","roleArn":"r","trainingDataConfig":{"s3Uri":"s3://b/t.jsonl"},"outputDataConfig":{"s3Uri":"s3://o/d/"},` +
				`"hyperParameters":{"learningRate":"0.00001","batchSize":"8"},"customizationType":"CONTINUED_PRE_TRAINING"}`,
		},
		{name: "no file", model: "m", body: `{"role_arn":"r"}`, code: fault.InvalidParameter, param: "training_file"},
		{name: "no role", model: "m", body: `{"training_file":"s3://b/t"}`, code: fault.InvalidParameter, param: "role_arn"},
		{name: "a wrong file", model: "m", body: `{"training_file":"s3://b/t","role_arn":"r","validation_file":"x"}`, code: fault.InvalidParameter, param: "validation_file"},
		{name: "no model", body: `{"training_file":"s3://b/t","role_arn":"r"}`, code: fault.InvalidParameter, param: "model"},
	} {
		c.run(t, llm.CreateFinetune)
	}
	const sent = `{"training_file":"s3%3A%2F%2Fb%2Ft.jsonl","hyperparameters":{"n_epochs":2}}`
	a, err := translateResponse(llm.CreateFinetune, &dialect.Incoming{Body: []byte(`{"jobArn":"arn:j"}`), Sent: &dialect.Request{Body: []byte(sent)}})
	if err != nil || string(a.Body) != `{"id":"arn%3Aj","object":"finetune","model":"m","created_at":1795176000,"status":"queued","training_file":"s3%3A%2F%2Fb%2Ft.jsonl","hyperparameters":{"n_epochs":2},"fine_tuned_model":null,"finished_at":null,"error":null}` {
		t.Errorf("%s, %v", a.Body, err)
	}
	a, err = translateResponse(llm.RetrieveFinetune, &dialect.Incoming{Body: []byte(`{"jobArn":"arn:j","baseModelArn":"arn:b","outputModelName":"s","outputModelArn":"arn:o","status":"Completed","creationTime":"2026-11-20T10:00:00Z","endTime":"2026-11-20T11:00:00Z",` +
		`"hyperParameters":{"epochCount":"2","learningRate":"1e-5","batchSize":"x"},"trainingDataConfig":{"s3Uri":"s3://b/t.jsonl"},"validationDataConfig":{"validators":[{"s3Uri":"s3://b/v.jsonl"}]},"failureMessage":"f"}`)})
	want := `{"id":"arn%3Aj","object":"finetune","model":"arn:b","status":"succeeded","created_at":1795168800,"finished_at":1795172400,"fine_tuned_model":"arn:o","suffix":"s","training_file":"s3%3A%2F%2Fb%2Ft.jsonl",` +
		`"validation_file":"s3%3A%2F%2Fb%2Fv.jsonl","hyperparameters":{"n_epochs":2,"batch_size":"x","learning_rate":1e-5},"error":{"code":"failed","message":"f"}}`
	if err != nil || string(a.Body) != want {
		t.Errorf("%v\ngot  %s\nwant %s", err, a.Body, want)
	}
	a, err = translateResponse(llm.ListFinetunes, &dialect.Incoming{Body: []byte(`{"modelCustomizationJobSummaries":[{"jobArn":"arn:j","status":"InProgress"}]}`)})
	if err != nil || !strings.Contains(string(a.Body), `"status":"running"`) || !strings.HasSuffix(string(a.Body), `"has_more":false}`) {
		t.Errorf("%s, %v", a.Body, err)
	}
	if a, err = translateResponse(llm.CancelFinetune, &dialect.Incoming{Sent: &dialect.Request{ID: "arn:j"}}); err != nil || string(a.Body) != `{"status":"success","object":"finetune","id":"arn%3Aj"}` {
		t.Errorf("%+v, %v", a, err)
	}
}
