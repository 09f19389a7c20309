package gemini_test

import (
	"bytes"
	"errors"
	"io"
	"mime/multipart"
	"strings"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/anthropic"
	"sluice/internal/dialect/dialecttest"
	"sluice/internal/dialect/gemini"
	"sluice/internal/dialect/openai"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/wire"
)

func vertex(ep llm.Endpoint) dialect.OpenAIEndpoint { return gemini.Vertex().Unified[ep] }

const job = `{"name":"projects/1/locations/us-central1/batchPredictionJobs/77","displayName":"d","model":"publishers/google/models/gemini-2.5-flash",` +
	`"inputConfig":{"instancesFormat":"jsonl","gcsSource":{"uris":["gs://b/in/rows.jsonl"]}},"outputInfo":{"gcsOutputDirectory":"gs://b/out/prediction-1"},` +
	`"state":"JOB_STATE_SUCCEEDED","completionStats":{"successfulCount":"2","failedCount":"1","incompleteCount":"-1"},` +
	`"createTime":"2026-11-20T10:00:00.5Z","startTime":"2026-11-20T10:01:00Z","endTime":"2026-11-20T10:02:00Z","labels":{"team":"x"}}`

const batch = `{"id":"77","object":"batch","endpoint":"/v1/chat/completions","model":"publishers/google/models/gemini-2.5-flash","errors":null,"input_file_id":"gs%3A%2F%2Fb%2Fin%2Frows.jsonl",` +
	`"completion_window":"24h","status":"completed","output_file_id":"gs%3A%2F%2Fb%2Fout%2Fprediction-1%2Fpredictions.jsonl","error_file_id":null,"created_at":1795168800,"in_progress_at":1795168860,` +
	`"completed_at":1795168920,"failed_at":null,"expired_at":null,"cancelled_at":null,"request_counts":{"total":3,"completed":2,"failed":1},"metadata":{"team":"x"}}`

func TestCreateBatch(t *testing.T) {
	t.Parallel()
	u := vertex(llm.CreateBatch)
	for _, c := range []struct{ input, model, want string }{
		{
			`{"input_file_id":"gs%3A%2F%2Fb%2Fin%2Frows.jsonl","endpoint":"/v1/chat/completions","completion_window":"24h","model":"x","job_name":"j","provider_options":{"model":"no","mod\u0065l":"no","labels":{"a":"b"}}}`, "gemini-2.5-flash",
			`{"labels":{"a":"b"},"displayName":"j","model":"publishers/google/models/gemini-2.5-flash","inputConfig":{"instancesFormat":"jsonl","gcsSource":{"uris":["gs://b/in/rows.jsonl"]}},` +
				`"outputConfig":{"predictionsFormat":"jsonl","gcsDestination":{"outputUriPrefix":"gs://b/in"}},"instanceConfig":{"excludedFields":["requestId"],"instanceType":"object"}}`,
		},
		{
			`{"input_file_id":"gs://b/rows.jsonl","job_name":"j","output_data_config":"gs://c/out"}`, "claude-sonnet-4-5",
			`{"displayName":"j","model":"publishers/anthropic/models/claude-sonnet-4-5","inputConfig":{"instancesFormat":"jsonl","gcsSource":{"uris":["gs://b/rows.jsonl"]}},` +
				`"outputConfig":{"predictionsFormat":"jsonl","gcsDestination":{"outputUriPrefix":"gs://c/out"}},"instanceConfig":{"excludedFields":["requestId"],"instanceType":"object"}}`,
		},
	} {
		out, err := u.EncodeRequest(t.Context(), &dialect.Request{Endpoint: llm.CreateBatch, Body: []byte(c.input)}, &dialect.Target{Model: c.model})
		if err != nil || string(out.Body) != c.want || len(out.Dropped) > 0 {
			t.Errorf("%v\nsent %s\nwant %s\nlost %q", err, out.Body, c.want, out.Dropped)
		}
	}
	for input, param := range map[string]string{`{"input_file_id":"file-abc","model":"m"}`: "input_file_id", `{"model":"m"}`: "input_file_id"} {
		_, err := u.EncodeRequest(t.Context(), &dialect.Request{Endpoint: llm.CreateBatch, Body: []byte(input)}, &dialect.Target{Model: "m"})
		if e := fault.From(err); e == nil || e.Code != fault.InvalidParameter || e.Param != param {
			t.Errorf("%s: %v", input, err)
		}
	}
	if _, err := u.EncodeRequest(t.Context(), &dialect.Request{Endpoint: llm.CreateBatch, Body: []byte(`{}`)}, &dialect.Target{}); fault.From(err).Param != "model" {
		t.Errorf("without a model: %v", err)
	}
}

// translateResponse decodes an answer to an endpoint.
func translateResponse(t *testing.T, ep llm.Endpoint, id, body string) string {
	t.Helper()
	a, err := vertex(ep).TranslateResponse(&dialect.Incoming{Body: []byte(body), Sent: &dialect.Request{Endpoint: ep, ID: id}, To: &dialect.Target{}})
	if err != nil {
		t.Fatal(err)
	}
	return string(a.Body)
}

func TestBatchAnswers(t *testing.T) {
	t.Parallel()
	if got := translateResponse(t, llm.RetrieveBatch, "77", job); got != batch {
		t.Errorf("got  %s\nwant %s", got, batch)
	}
	if got := translateResponse(t, llm.ListBatches, "", `{"batchPredictionJobs":[`+job+`],"nextPageToken":"n1"}`); got != `{"object":"list","data":[`+batch+`],"first_id":"77","last_id":"77","has_more":true,"next_page_token":"n1"}` {
		t.Errorf("list %s", got)
	}
	if got := translateResponse(t, llm.ListBatches, "", `{}`); got != `{"object":"list","data":[],"first_id":null,"last_id":null,"has_more":false}` {
		t.Errorf("empty list %s", got)
	}
	if got := translateResponse(t, llm.CancelBatch, "77", `{}`); got != `{"id":"77","object":"batch","status":"cancelling"}` {
		t.Errorf("cancelled %s", got)
	}
	failed := translateResponse(t, llm.CreateBatch, "", `{"name":"projects/1/batchPredictionJobs/8","state":"JOB_STATE_FAILED","error":{"code":3,"message":"no rows"},"endTime":"2026-11-20T10:02:00Z"}`)
	if !strings.Contains(failed, `"errors":{"object":"list","data":[{"code":"3","message":"no rows","param":null,"line":null}]}`) || !strings.Contains(failed, `"failed_at":1795168920`) || !strings.Contains(failed, `"output_file_id":null`) {
		t.Errorf("failed %s", failed)
	}
	for state, want := range map[string]string{"JOB_STATE_QUEUED": "validating", "JOB_STATE_PAUSED": "validating", "JOB_STATE_RUNNING": "in_progress", "JOB_STATE_CANCELLED": "cancelled", "JOB_STATE_EXPIRED": "expired", "": "validating"} {
		if got := translateResponse(t, llm.RetrieveBatch, "", `{"name":"x/1","state":"`+state+`"}`); !strings.Contains(got, `"status":"`+want+`"`) {
			t.Errorf("%s became %s", state, got)
		}
	}
}

func TestPages(t *testing.T) {
	t.Parallel()
	for _, ep := range []llm.Endpoint{llm.ListBatches, llm.ListFinetunes} {
		for query, want := range map[string]string{"": "pageSize=20", "limit=5&after=a%2Fb&order=asc": "pageSize=5&pageToken=a%2Fb"} {
			out, err := vertex(ep).EncodeRequest(t.Context(), &dialect.Request{Endpoint: ep, Query: query}, &dialect.Target{})
			if err != nil || out.Query != want || (query == "") != (len(out.Dropped) == 0) {
				t.Errorf("%s: %v %+v", query, err, out)
			}
		}
	}
}

func TestBatchOutput(t *testing.T) {
	t.Parallel()
	u, ok := vertex(llm.GetBatchOutput).(dialect.MultiStep)
	if !ok {
		t.Fatal("the output is in one place")
	}
	lines := &dialect.FileLines{Client: openai.Dialect().Clients[llm.ChatComplete], Messages: anthropic.Dialect().Upstreams[llm.Messages]}
	input := &dialect.Incoming{Body: []byte(job), Created: 1795176000, Sent: &dialect.Request{Lines: lines}, To: &dialect.Target{Provider: "vertex-ai"}}
	next, more, err := u.Follow(input)
	if err != nil || !more || next.Endpoint != llm.RetrieveFileContent || next.ID != "b/out/prediction-1/predictions.jsonl" || next.ContentType != "application/jsonl" {
		t.Fatalf("%+v %v %v", next, more, err)
	}
	out := dialecttest.File(t, next.File, `{"requestId":"a","request":{},"status":"","response":{"candidates":[{"content":{"parts":[{"text":"hi"}]},"finishReason":"STOP"}],"modelVersion":"gemini-2.5-flash","responseId":"r"}}`+"\n"+
		`{"requestId":"b","status":"Bad Request: {}","response":null}`+"\n\n"+
		`{"custom_id":"c","status":"","response":{"id":"msg_1","type":"message","role":"assistant","model":"claude","content":[{"type":"text","text":"ho"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":2}}}`+"\n"+
		`{"requestId":"d","instance":{},"predictions":[{"embeddings":{"values":[1],"statistics":{"token_count":2}}}]}`+"\n")
	rows := strings.Split(strings.TrimSpace(out), "\n")
	if len(rows) != 4 {
		t.Fatalf("%s", out)
	}
	for i, want := range []string{
		`"custom_id":"a","response":{"status_code":200,`, `"custom_id":"b","response":null,"error":"Bad Request: {}"}`,
		`"content":"ho"`, `{"object":"list","data":[{"object":"embedding","index":0,"embedding":[1]}]`,
	} {
		if !strings.Contains(rows[i], want) {
			t.Errorf("row %d: %s", i, rows[i])
		}
		decodeJSON(t, []byte(rows[i]))
	}
	if !strings.Contains(rows[0], `"object":"chat.completion"`) || !strings.Contains(rows[0], `"content":"hi"`) {
		t.Errorf("row %s", rows[0])
	}
	if _, err := io.ReadAll(next.File(strings.NewReader("no JSON\n"))); !fault.Has(err, fault.UpstreamInvalid) {
		t.Errorf("a row that is none: %v", err)
	}
	running := &dialect.Incoming{Body: []byte(`{"name":"x/1","state":"JOB_STATE_RUNNING"}`)}
	if _, _, err := u.Follow(running); !fault.Has(err, fault.Conflict) {
		t.Errorf("a batch that runs: %v", err)
	}
}

func TestTuning(t *testing.T) {
	t.Parallel()
	u := vertex(llm.CreateFinetune)
	const input = `{"model":"gemini-2.5-flash","suffix":"mine","training_file":"gs%3A%2F%2Fb%2Ft.jsonl","validation_file":"gs://b/v.jsonl","hyperparameters":{"n_epochs":3,"learning_rate_multiplier":"auto","batch_size":4,"other":1},"seed":1}`
	const want = `{"baseModel":"gemini-2.5-flash","tunedModelDisplayName":"mine","supervisedTuningSpec":{"trainingDatasetUri":"gs://b/t.jsonl","validationDatasetUri":"gs://b/v.jsonl","hyperParameters":{"epochCount":3,"adapterSize":"ADAPTER_SIZE_FOUR"}}}`
	out, err := u.EncodeRequest(t.Context(), &dialect.Request{Endpoint: llm.CreateFinetune, Body: []byte(input)}, &dialect.Target{Model: "gemini-2.5-flash"})
	if err != nil || string(out.Body) != want || strings.Join(out.Dropped, " ") != "hyperparameters.other seed" {
		t.Errorf("%v\nsent %s\nwant %s\nlost %q", err, out.Body, want, out.Dropped)
	}
	const job = `{"name":"projects/1/locations/us-central1/tuningJobs/9","tunedModelDisplayName":"mine","baseModel":"gemini-2.5-flash","state":"JOB_STATE_SUCCEEDED","createTime":"2026-11-20T10:00:00Z","endTime":"2026-11-20T10:02:00Z",` +
		`"tunedModel":{"model":"projects/1/models/2","endpoint":"projects/1/endpoints/3"},"supervisedTuningSpec":{"trainingDatasetUri":"gs://b/t.jsonl","hyperParameters":{"epochCount":"3","adapterSize":"ADAPTER_SIZE_FOUR"}}}`
	const tuned = `{"id":"9","object":"fine_tuning.job","model":"gemini-2.5-flash","status":"succeeded","created_at":1795168800,"finished_at":1795168920,"fine_tuned_model":"projects/1/endpoints/3","suffix":"mine",` +
		`"training_file":"gs%3A%2F%2Fb%2Ft.jsonl","validation_file":null,"hyperparameters":{"n_epochs":"3","batch_size":"ADAPTER_SIZE_FOUR"},"error":null}`
	if got := translateResponse(t, llm.RetrieveFinetune, "9", job); got != tuned {
		t.Errorf("got  %s\nwant %s", got, tuned)
	}
	if got := translateResponse(t, llm.ListFinetunes, "", `{"tuningJobs":[`+job+`]}`); got != `{"object":"list","data":[`+tuned+`],"first_id":"9","last_id":"9","has_more":false}` {
		t.Errorf("list %s", got)
	}
	if got := translateResponse(t, llm.CancelFinetune, "9", `{}`); got != `{"id":"9","object":"fine_tuning.job","status":"cancelled"}` {
		t.Errorf("cancelled %s", got)
	}
	if got := translateResponse(t, llm.CreateFinetune, "", `{"name":"x/1","state":"JOB_STATE_FAILED","error":{"code":3,"message":"few rows"}}`); !strings.Contains(got, `"status":"failed"`) || !strings.Contains(got, `"error":{"code":"3","message":"few rows","param":null}`) {
		t.Errorf("failed %s", got)
	}
}

// form is an upload of a file.
func form(t *testing.T, purpose, content string) *dialect.Request {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	f, err := w.CreateFormFile("file", "my rows.jsonl")
	if err == nil {
		_, err = f.Write([]byte(content))
	}
	if err == nil && purpose != "" {
		err = w.WriteField("purpose", purpose)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return dialecttest.Upload(t, &dialect.Request{
		Endpoint: llm.UploadFile, Payload: wire.Bytes(b.Bytes()), ContentType: w.FormDataContentType(),
		Lines: &dialect.FileLines{Client: openai.Dialect().Clients[llm.ChatComplete], Messages: anthropic.Dialect().Upstreams[llm.Messages]},
	})
}

func fields(list ...string) *dialect.Target {
	return &dialect.Target{Value: func(name string) string {
		for i := 0; i < len(list); i += 2 {
			if list[i] == name {
				return list[i+1]
			}
		}
		return ""
	}}
}

func TestUpload(t *testing.T) {
	t.Parallel()
	const bucket, model = "vertex_storage_bucket_name", "vertex_model_name"
	chat := `{"custom_id":"a","method":"POST","url":"/v1/chat/completions","body":{"model":"x",` + hi + `,"max_tokens":5,"user":"u"}}` + "\n"
	for _, c := range []struct {
		name, purpose, input string
		to                   *dialect.Target
		out, path, dropped   string
	}{
		{"as it is", "upload", "any\nthing", fields(bucket, "b", "filename", "dir/x y.bin"), "any\nthing", "/b/dir/x%20y.bin", ""},
		{
			"a batch", "batch", chat + "\n", fields(bucket, "b", model, "google.gemini-2.5-flash"),
			`{"request":{` + hiSent + `,"generationConfig":{"maxOutputTokens":5}},"requestId":"a"}` + "\n", "/b/my%20rows.jsonl", "file.user",
		},
		{
			"a batch for Claude", "batch", `{"custom_id":"a","body":{` + hi + `,"max_tokens":5}}`, fields(bucket, "b", model, "anthropic.claude-sonnet-4-5"),
			`{"custom_id":"a","request":{"max_tokens":5,"messages":[{"role":"user","content":"hi"}],"anthropic_version":"vertex-2023-10-16"}}` + "\n", "/b/my%20rows.jsonl", "",
		},
		{
			"embeddings", "batch", `{"custom_id":"a","url":"/v1/embeddings","body":{"input":"x"}}`, fields(bucket, "b", model, "text-embedding-005"),
			`{"content":"x","requestId":"a"}` + "\n", "/b/my%20rows.jsonl", "",
		},
		{
			"examples", "fine-tune", `{"messages":[{"role":"system","content":"s"},{"role":"user","content":"hi"},{"role":"assistant","content":"ho"}]}`, fields(bucket, "b", model, "gemini-2.5-flash"),
			`{"systemInstruction":{"role":"system","parts":[{"text":"s"}]},"contents":[{"role":"user","parts":[{"text":"hi"}]},{"role":"model","parts":[{"text":"ho"}]}]}` + "\n", "/b/my%20rows.jsonl", "",
		},
	} {
		u, r := vertex(llm.UploadFile), form(t, c.purpose, c.input)
		out, err := u.EncodeRequest(t.Context(), r, c.to)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if dialecttest.LoadBody(t, out); string(out.Body) != c.out || out.Path != c.path || strings.Join(out.Dropped, " ") != c.dropped {
			t.Errorf("%s:\nsent %s to %s\nwant %s\nlost %q", c.name, out.Body, out.Path, c.out, out.Dropped)
		}
		a, err := u.TranslateResponse(&dialect.Incoming{Created: 1795176000, Sent: r, To: c.to})
		if err != nil || decodeJSON(t, a.Body)["purpose"] != c.purpose || decodeJSON(t, a.Body)["status"] != "processed" {
			t.Errorf("%s: %v %s", c.name, err, a.Body)
		}
	}
}

func TestUploadRefuses(t *testing.T) {
	t.Parallel()
	const bucket, model = "vertex_storage_bucket_name", "vertex_model_name"
	for _, c := range []struct {
		purpose, input string
		to             *dialect.Target
		param, text    string
	}{
		{"batch", "{}", fields(model, "m"), "x-gateway-vertex-storage-bucket-name", ""},
		{"batch", "{}", fields(bucket, "b"), "x-gateway-provider-model", ""},
		{"", "{}", fields(bucket, "b", model, "m"), "purpose", ""},
		{"vision", "{}", fields(bucket, "b", model, "m"), "purpose", ""},
		{"batch", "{}\n", fields(bucket, "b", model, "m"), "file", "line 1"},
		{"batch", "\n\nnot json", fields(bucket, "b", model, "m"), "file", "line 3"},
		{"batch", `{"body":{"messages":[{"role":"x"}]}}`, fields(bucket, "b", model, "m"), "file", "messages[0].role"},
		{"batch", `{"url":"/v1/embeddings","body":{"input":["a"]}}`, fields(bucket, "b", model, "m"), "file", "body.input"},
		{"fine-tune", `{}`, fields(bucket, "b", model, "m"), "file", "line 1"},
	} {
		_, err := vertex(llm.UploadFile).EncodeRequest(t.Context(), form(t, c.purpose, c.input), c.to)
		var f *fault.Error
		if !errors.As(err, &f) || f.HTTPStatus() != 400 || f.Param != c.param || !strings.Contains(f.Text(), c.text) {
			t.Errorf("%s %s: %v", c.purpose, c.input, err)
		}
	}
}

func TestFiles(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{"gs%3A%2F%2Fb%2Fdir%2Fa b.jsonl": "/b/dir/a%20b.jsonl", "gs://b/a?b#c": "/b/a%3Fb%23c", "file-1": "", "gs://b": "", "gs://b/": ""} {
		out, err := vertex(llm.RetrieveFile).EncodeRequest(t.Context(), &dialect.Request{Endpoint: llm.RetrieveFile, ID: id}, &dialect.Target{})
		if want == "" {
			if !fault.Has(err, fault.InvalidParameter) {
				t.Errorf("%s: %v", id, err)
			}
			continue
		}
		if err != nil || out.Path != want {
			t.Errorf("%s: %v %+v", id, err, out)
		}
	}
	input := &dialect.Incoming{
		Sent: &dialect.Request{Endpoint: llm.RetrieveFile, ID: "gs://b/dir/a.jsonl"}, To: &dialect.Target{},
		Header: wire.Header{{Name: "content-length", Value: "12"}, {Name: "last-modified", Value: "Fri, 20 Nov 2026 10:00:00 GMT"}},
	}
	a, err := vertex(llm.RetrieveFile).TranslateResponse(input)
	if want := `{"id":"gs%3A%2F%2Fb%2Fdir%2Fa.jsonl","object":"file","bytes":12,"created_at":1795168800,"filename":"a.jsonl","purpose":null,"status":"processed"}`; err != nil || string(a.Body) != want {
		t.Errorf("%v %s", err, a.Body)
	}
	input.Header = nil
	if _, err := vertex(llm.RetrieveFile).TranslateResponse(input); !fault.Has(err, fault.UpstreamInvalid) {
		t.Errorf("without a length: %v", err)
	}
	filer := vertex(llm.RetrieveFileContent).(dialect.FileStreamer)
	if kind, ok := filer.FileType(llm.RetrieveFileContent); !ok || kind != "application/octet-stream" {
		t.Errorf("content is no file: %s, %v", kind, ok)
	}
	if _, ok := filer.FileType(llm.RetrieveFile); ok {
		t.Error("what is known about a file is taken for the file")
	}
}
