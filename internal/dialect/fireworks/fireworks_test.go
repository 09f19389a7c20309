package fireworks

import (
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/dialecttest"
	"sluice/internal/kernel/llm"
)

func target(model string) *dialect.Target {
	return &dialect.Target{Model: model, Value: func(name string) string { return map[string]string{"fireworks_account_id": "me"}[name] }}
}

func TestDraw(t *testing.T) {
	t.Parallel()
	dialecttest.Requests(t, draw{}, target("m"), []dialecttest.RequestCase{
		{Name: "plain", Request: dialecttest.JSON(`{"model":"m","prompt":"a fox"}`), Want: `{"text_prompts":[{"text":"a fox","weight":1}]}`},
		{
			Name: "all", Request: dialecttest.JSON(`{"prompt":"a fox","n":2,"size":"512x1024","seed":1,"steps":30,"safety_check":true,"lora_adapter_filename":"x","lora_weight":0.5,"user":"u","response_format":"b64_json"}`),
			Want:    `{"text_prompts":[{"text":"a fox","weight":1}],"width":512,"height":1024,"samples":2,"seed":1,"steps":30,"safety_check":true,"lora_adapter_filename":"x","lora_weight":0.5}`,
			Dropped: []string{"user"},
		},
		{Name: "a name with an escape", Request: dialecttest.JSON(`{"prompt":"a","lora_\u0022":1}`), Want: `{"text_prompts":[{"text":"a","weight":1}]}`, Dropped: []string{`lora_"`}},
		{Name: "no prompt", Request: dialecttest.JSON(`{}`), Param: "prompt"},
	})
	dialecttest.Responses(t, draw{}, target("m"), []dialecttest.ResponseCase{
		{Name: "two", Body: `[{"base64":"QQ==","seed":1,"finishReason":"SUCCESS"},{"base64":"Qg=="}]`, Want: `{"created":1795176000,"data":[{"b64_json":"QQ==","seed":1,"finish_reason":"SUCCESS"},{"b64_json":"Qg=="}]}`},
		{Name: "none", Body: `[]`},
		{Name: "an object", Body: `{}`},
	})
}

func TestDatasets(t *testing.T) {
	t.Parallel()
	dialecttest.Requests(t, datasets{}, target(""), []dialecttest.RequestCase{
		{Name: "one", Request: dialect.Request{Endpoint: llm.RetrieveFile, ID: "d1"}},
		{Name: "first page", Request: dialect.Request{Endpoint: llm.ListFiles}, Want: "pageSize=50"},
		{Name: "next page", Request: dialect.Request{Endpoint: llm.ListFiles, Query: "limit=2&after=a%2Fb&purpose=batch&order=asc"}, Want: "pageSize=2&pageToken=a%2Fb", Dropped: []string{"order", "purpose"}},
	})
	const ready = `{"name":"accounts/me/datasets/d1","displayName":"train.jsonl","createTime":"2026-11-20T12:00:00.529Z","state":"READY","status":{"code":"OK","message":""},"exampleCount":"3"}`
	const file = `{"id":"d1","object":"file","bytes":0,"created_at":1795176000,"filename":"train.jsonl","purpose":"fine-tune","status":"processed"}`
	dialecttest.Responses(t, datasets{}, target(""), []dialecttest.ResponseCase{
		{Name: "one", Sent: dialect.Request{Endpoint: llm.RetrieveFile}, Body: ready, Want: file},
		{Name: "list", Sent: dialect.Request{Endpoint: llm.ListFiles}, Body: `{"datasets":[` + ready + `],"nextPageToken":"t","totalSize":9}`, Want: `{"object":"list","data":[` + file + `],"first_id":"d1","last_id":"d1","has_more":true,"next_page_token":"t"}`},
		{Name: "empty list", Sent: dialect.Request{Endpoint: llm.ListFiles}, Body: `{}`, Want: `{"object":"list","data":[],"first_id":null,"last_id":null,"has_more":false}`},
		{Name: "deleted", Sent: dialect.Request{Endpoint: llm.DeleteFile, ID: "d1"}, Body: `{}`, Want: `{"id":"d1","object":"file","deleted":true}`},
		{
			Name: "broken", Sent: dialect.Request{Endpoint: llm.RetrieveFile}, Body: `{"name":"accounts/me/datasets/d2","state":"UPLOADING","status":{"code":"INVALID_ARGUMENT","message":"line 3 is no JSON"}}`,
			Want: `{"id":"d2","object":"file","bytes":0,"created_at":0,"filename":"d2","purpose":"fine-tune","status":"error","status_details":"line 3 is no JSON"}`,
		},
		{Name: "nothing", Sent: dialect.Request{Endpoint: llm.RetrieveFile}, Body: `{}`},
	})
}

func TestJobs(t *testing.T) {
	t.Parallel()
	dialecttest.Requests(t, createJob{}, target("llama-v3p1-8b-instruct"), []dialecttest.RequestCase{
		{
			Name: "all", Request: dialecttest.JSON(`{"model":"x","training_file":"d1","validation_file":"accounts/other/datasets/d2","suffix":"tuned","hyperparameters":{"n_epochs":2,"learning_rate_multiplier":0.0001,"batch_size":"auto"},"lora_rank":8,"seed":1}`),
			Want:    `{"baseModel":"accounts/fireworks/models/llama-v3p1-8b-instruct","dataset":"accounts/me/datasets/d1","evaluationDataset":"accounts/other/datasets/d2","displayName":"tuned","outputModel":"accounts/me/models/tuned","epochs":2,"learningRate":0.0001,"loraRank":8}`,
			Dropped: []string{"seed"},
		},
		{
			Name: "method", Request: dialecttest.JSON(`{"training_file":"d1","output_model":"mine","method":{"type":"supervised","supervised":{"hyperparameters":{"n_epochs":3}}},"hyperparameters":{"n_epochs":2}}`),
			Want: `{"baseModel":"accounts/fireworks/models/llama-v3p1-8b-instruct","dataset":"accounts/me/datasets/d1","outputModel":"accounts/me/models/mine","epochs":3}`,
		},
		{Name: "another method", Request: dialecttest.JSON(`{"training_file":"d1","method":{"type":"dpo"}}`), Dropped: []string{"method"}, Want: `{"baseModel":"accounts/fireworks/models/llama-v3p1-8b-instruct","dataset":"accounts/me/datasets/d1"}`},
		{Name: "no file", Request: dialecttest.JSON(`{}`), Param: "training_file"},
		{Name: "no text", Request: dialecttest.JSON(`{"training_file":"d1","suffix":1}`), Param: "suffix"},
	})
	dialecttest.Requests(t, createJob{}, target(""), []dialecttest.RequestCase{{Name: "no model", Request: dialecttest.JSON(`{"training_file":"d1"}`), Param: "model"}})
	dialecttest.Requests(t, jobs{}, target(""), []dialecttest.RequestCase{
		{Name: "cancel", Request: dialect.Request{Endpoint: llm.CancelFinetune, ID: "j1", Body: []byte(`{}`)}},
		{Name: "list", Request: dialect.Request{Endpoint: llm.ListFinetunes, Query: "limit=1"}, Want: "pageSize=1"},
	})
	const done = `{"name":"accounts/me/supervisedFineTuningJobs/j1","displayName":"tuned","createTime":"2026-11-20T12:00:00Z","completedTime":"2026-11-20T13:00:00Z","dataset":"accounts/me/datasets/d1","state":"JOB_STATE_COMPLETED","status":{"code":"OK"},` +
		`"outputModel":"accounts/me/models/tuned","baseModel":"accounts/fireworks/models/llama-v3p1-8b-instruct","epochs":2,"learningRate":0.0001,"evaluationDataset":""}`
	const job = `{"id":"j1","object":"fine_tuning.job","model":"accounts/fireworks/models/llama-v3p1-8b-instruct","status":"succeeded","created_at":1795176000,"finished_at":1795179600,"fine_tuned_model":"accounts/me/models/tuned","suffix":"tuned","training_file":"d1","hyperparameters":{"n_epochs":2,"learning_rate_multiplier":0.0001},"error":null}`
	dialecttest.Responses(t, createJob{}, target(""), []dialecttest.ResponseCase{{Name: "new", Body: done, Want: job}, {Name: "nothing", Body: `{}`}})
	dialecttest.Responses(t, jobs{}, target(""), []dialecttest.ResponseCase{
		{Name: "one", Sent: dialect.Request{Endpoint: llm.RetrieveFinetune}, Body: done, Want: job},
		{Name: "list", Sent: dialect.Request{Endpoint: llm.ListFinetunes}, Body: `{"supervisedFineTuningJobs":[` + done + `]}`, Want: `{"object":"list","data":[` + job + `],"first_id":"j1","last_id":"j1","has_more":false}`},
		{Name: "cancelled", Sent: dialect.Request{Endpoint: llm.CancelFinetune, ID: "j1"}, Body: `{}`, Want: `{"id":"j1","object":"fine_tuning.job","status":"cancelled"}`},
		{
			Name: "failed", Sent: dialect.Request{Endpoint: llm.RetrieveFinetune}, Body: `{"name":"accounts/me/supervisedFineTuningJobs/j2","state":"JOB_STATE_FAILED","status":{"code":"INTERNAL","message":"out of luck"},"dataset":"d"}`,
			Want: `{"id":"j2","object":"fine_tuning.job","model":"","status":"failed","created_at":0,"finished_at":null,"fine_tuned_model":null,"training_file":"d","hyperparameters":{},"error":{"message":"out of luck"}}`,
		},
	})
}
