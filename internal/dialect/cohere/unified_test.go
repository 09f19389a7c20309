package cohere_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/cohere"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

func unified(ep llm.Endpoint) dialect.OpenAIEndpoint { return cohere.Dialect().Unified[ep] }

func TestUnifiedRequests(t *testing.T) {
	t.Parallel()
	to := &dialect.Target{Provider: "cohere", Model: "m"}
	for _, c := range []struct {
		name    string
		ep      llm.Endpoint
		body    string
		want    string
		dropped []string
	}{
		{"a text", llm.Embed, `{"model":"x","input":"a","user":"u"}`, `{"model":"m","texts":["a"],"input_type":"search_document","embedding_types":["float"]}`, []string{"user"}},
		{
			"texts", llm.Embed, `{"input":["a",{"text":"b"}],"encoding_format":"base64","dimensions":256,"input_type":"search_query","truncate":"END"}`,
			`{"model":"m","texts":["a","b"],"input_type":"search_query","embedding_types":["base64"],"output_dimension":256,"truncate":"END"}`, nil,
		},
		{
			"types", llm.Embed, `{"input":"a","embedding_types":["int8","float"]}`,
			`{"model":"m","texts":["a"],"input_type":"search_document","embedding_types":["int8"]}`, []string{"embedding_types[1]"},
		},
		{
			"images", llm.Embed, `{"input":[{"image":{"base64":"/9j/4A"}},{"image":{"base64":"data:image/png;base64,iVBO"}},{"image":{"url":"https://x/y.png"}}]}`,
			`{"model":"m","images":["data:image/jpeg;base64,/9j/4A","data:image/png;base64,iVBO","https://x/y.png"],"input_type":"image","embedding_types":["float"]}`, nil,
		},
		{
			"both", llm.Embed, `{"input":["a",{"text":"b","image":{"url":"data:image/png;base64,iVBO"}}]}`,
			`{"model":"m","inputs":[{"content":[{"type":"text","text":"a"}]},{"content":[{"type":"text","text":"b"},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBO"}}]}],"input_type":"search_document","embedding_types":["float"]}`, nil,
		},
		{
			"a prompt", llm.Complete, `{"model":"x","prompt":"once","max_tokens":5,"top_p":0.5,"top_k":3,"n":2,"stop":["a"],"stream":true,"echo":true}`,
			`{"model":"m","prompt":"once","max_tokens":5,"p":0.5,"num_generations":2,"k":3,"end_sequences":["a"]}`, []string{"echo"},
		},
		{
			"documents", llm.Rerank, `{"model":"x","query":"q","documents":["a",{"text":"b","id":1},{"title":"c"}],"top_n":2,"return_documents":true,"rank_fields":["title"]}`,
			`{"model":"m","query":"q","documents":["a","b","{\"title\":\"c\"}"],"top_n":2}`, []string{"rank_fields"},
		},
		{
			"a batch", llm.CreateBatch, `{"model":"x","input_file_id":"f","endpoint":"/v1/embeddings","completion_window":"24h","metadata":{"a":"b"},"job_name":"j","embedding_types":"int8","provider_options":{"truncate":"START","name":"ignored"}}`,
			`{"model":"m","dataset_id":"f","input_type":"search_document","name":"j","embedding_types":["int8"],"truncate":"START"}`, []string{"metadata"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, err := unified(c.ep).EncodeRequest(context.Background(), &dialect.Request{Endpoint: c.ep, Body: []byte(c.body)}, to)
			if err != nil {
				t.Fatal(err)
			}
			if string(out.Body) != c.want {
				t.Errorf("sent\n%s\nwant\n%s", out.Body, c.want)
			}
			if !slices.Equal(out.Dropped, c.dropped) {
				t.Errorf("lost %q, want %q", out.Dropped, c.dropped)
			}
		})
	}
}

func TestUnifiedRefusals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ep          llm.Endpoint
		body, param string
		model       string
	}{
		{llm.Embed, `{}`, "input", "m"},
		{llm.Embed, `{"input":[[1,2]]}`, "input[0]", "m"},
		{llm.Embed, `{"input":["a",{"image":{"base64":"eHh4"}}]}`, "input[1].image.base64", "m"},
		{llm.Complete, `{"prompt":["a","b"]}`, "prompt", "m"},
		{llm.Rerank, `{"documents":[]}`, "query", "m"},
		{llm.Rerank, `{"query":"q","documents":"a"}`, "documents", "m"},
		{llm.CreateBatch, `{}`, "input_file_id", "m"},
		{llm.CreateBatch, `{"input_file_id":"f"}`, "model", ""},
		{llm.CreateBatch, `{"input_file_id":"f","endpoint":"/v1/chat/completions"}`, "endpoint", "m"},
	} {
		_, err := unified(c.ep).EncodeRequest(context.Background(), &dialect.Request{Body: []byte(c.body)}, &dialect.Target{Model: c.model})
		if f := fault.From(err); err == nil || f.Code != fault.InvalidParameter || f.Param != c.param {
			t.Errorf("%s %s: %v", c.ep, c.body, err)
		}
	}
}

func TestUnifiedAnswers(t *testing.T) {
	t.Parallel()
	const dataset = `{"id":"d1","name":"rows","created_at":"2024-09-28T10:11:12.123Z","dataset_type":"embed-input","validation_status":"validated","dataset_parts":[{"id":"p","size_bytes":5},{"size_bytes":7}]}`
	const file = `{"id":"d1","object":"file","bytes":12,"created_at":1727518272,"filename":"rows","purpose":"batch","status":"processed"}`
	const job = `{"job_id":"j1","name":"n","status":"complete","created_at":"2024-09-28T10:11:12Z","input_dataset_id":"d1","output_dataset_id":"d2","model":"embed-english-v3.0","truncate":"END"}`
	const batch = `{"id":"j1","object":"batch","endpoint":"/v1/embeddings","model":"embed-english-v3.0","input_file_id":"d1","completion_window":"24h","status":"completed","output_file_id":"d2","created_at":1727518272}`
	for _, c := range []struct {
		name             string
		ep               llm.Endpoint
		sent, body, want string
		usage            llm.Usage
	}{
		{
			"floats", llm.Embed, `{}`, `{"id":"1","embeddings":{"int8":[[1]],"float":[[0.016, -0.5],[1]]},"texts":["a","b"],"meta":{"api_version":{"version":"2"},"billed_units":{"input_tokens":2}},"response_type":"embeddings_by_type"}`,
			`{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.016, -0.5]},{"object":"embedding","index":1,"embedding":[1]}],"model":"m","usage":{"prompt_tokens":2,"total_tokens":2}}`,
			llm.Usage{InputTokens: 2, TotalTokens: 2, Reported: true},
		},
		{
			"base64 and image tokens", llm.Embed, `{}`, `{"embeddings":{"base64":["AACAPw=="]},"meta":{"billed_units":{"images":1,"image_tokens":100}}}`,
			`{"object":"list","data":[{"object":"embedding","index":0,"embedding":"AACAPw=="}],"model":"m","usage":{"prompt_tokens":100,"total_tokens":100}}`,
			llm.Usage{InputTokens: 100, TotalTokens: 100, InputImageTokens: 100, Reported: true},
		},
		{
			"generations", llm.Complete, `{}`, `{"id":"g","generations":[{"id":"1","text":" upon","finish_reason":"MAX_TOKENS"},{"text":"x"}],"meta":{"billed_units":{"input_tokens":1,"output_tokens":2}}}`,
			`{"id":"g","object":"text_completion","created":9,"model":"m","choices":[{"text":" upon","index":0,"logprobs":null,"finish_reason":"length"},{"text":"x","index":1,"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}`,
			llm.Usage{InputTokens: 1, OutputTokens: 2, TotalTokens: 3, Reported: true},
		},
		{
			"a ranking", llm.Rerank, `{"documents":["a",{"text":"b","id":7}],"return_documents":true}`,
			`{"id":"r","results":[{"index":1,"relevance_score":0.9},{"index":0,"relevance_score":0.1}],"meta":{"billed_units":{"search_units":1}}}`,
			`{"id":"r","object":"list","results":[{"index":1,"relevance_score":0.9,"document":{"text":"b","id":7}},{"index":0,"relevance_score":0.1,"document":{"text":"a"}}],"model":"m","usage":{"search_units":1}}`,
			llm.Usage{SearchUnits: 1, Reported: true},
		},
		{
			"a ranking alone", llm.Rerank, `{"documents":["a"]}`, `{"id":"r","results":[{"index":0,"relevance_score":1}]}`,
			`{"id":"r","object":"list","results":[{"index":0,"relevance_score":1}],"model":"m","usage":{"search_units":0}}`, llm.Usage{},
		},
		{"a file", llm.RetrieveFile, ``, `{"dataset":` + dataset + `}`, file, llm.Usage{}},
		{"files", llm.ListFiles, ``, `{"datasets":[` + dataset + `]}`, `{"object":"list","data":[` + file + `],"first_id":"` + jsonedit.Text([]byte(file), "id") + `","last_id":"` + jsonedit.Text([]byte(file), "id") + `","has_more":false}`, llm.Usage{}},
		{"a deleted file", llm.DeleteFile, ``, `{}`, `{"id":"x/1","object":"file","deleted":true}`, llm.Usage{}},
		{"a new batch", llm.CreateBatch, `{"input_file_id":"d1"}`, `{"job_id":"j1"}`, `{"id":"j1","object":"batch","endpoint":"/v1/embeddings","model":"m","input_file_id":"d1","completion_window":"24h","status":"validating","output_file_id":null,"created_at":9}`, llm.Usage{}},
		{"a batch", llm.RetrieveBatch, ``, job, batch, llm.Usage{}},
		{"batches", llm.ListBatches, ``, `{"embed_jobs":[` + job + `]}`, `{"object":"list","data":[` + batch + `],"first_id":"` + jsonedit.Text([]byte(batch), "id") + `","last_id":"` + jsonedit.Text([]byte(batch), "id") + `","has_more":false}`, llm.Usage{}},
		{"a cancelled batch", llm.CancelBatch, ``, ``, `{"status":"success","object":"batch","id":"x/1"}`, llm.Usage{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			incoming := &dialect.Incoming{Body: []byte(c.body), Created: 9, To: &dialect.Target{Model: "m"}, Sent: &dialect.Request{Endpoint: c.ep, ID: "x/1", Body: []byte(c.sent)}}
			a, err := unified(c.ep).TranslateResponse(incoming)
			if err != nil {
				t.Fatal(err)
			}
			if string(a.Body) != c.want || a.Usage != c.usage {
				t.Errorf("got\n%s\nwant\n%s\nusage %+v", a.Body, c.want, a.Usage)
			}
		})
	}
}

func TestCompletionStreams(t *testing.T) {
	t.Parallel()
	incoming := &dialect.Incoming{Body: []byte(`{"id":"g","generations":[{"text":"x"}]}`), Created: 9, To: &dialect.Target{Model: "m", Stream: true}, Sent: &dialect.Request{}}
	a, err := unified(llm.Complete).TranslateResponse(incoming)
	if err != nil || a.ContentType != "text/event-stream" || !strings.HasSuffix(string(a.Body), "data: [DONE]\n\n") {
		t.Errorf("%s %s, %v", a.ContentType, a.Body, err)
	}
}

func TestUnifiedAnswersThatAreNone(t *testing.T) {
	t.Parallel()
	for _, ep := range []llm.Endpoint{llm.Embed, llm.Complete, llm.Rerank, llm.RetrieveFile, llm.CreateBatch, llm.RetrieveBatch, llm.UploadFile} {
		incoming := &dialect.Incoming{Body: []byte(`{"message":"what?"}`), To: target, Sent: &dialect.Request{Endpoint: ep}}
		if _, err := unified(ep).TranslateResponse(incoming); !fault.Has(err, fault.UpstreamInvalid) {
			t.Errorf("%s: %v", ep, err)
		}
	}
}

func TestLists(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ep      llm.Endpoint
		query   string
		want    string
		dropped []string
	}{
		{llm.ListFiles, "limit=5", "limit=6", nil},
		{llm.ListFiles, "after=ds-1&limit=5&purpose=batch", "limit=501", []string{"purpose"}},
		{llm.ListFiles, "after=10&limit=5", "limit=6&offset=10", nil},
		{llm.ListBatches, "after=x&limit=5", "", nil},
		{llm.RetrieveFile, "", "", nil},
		{llm.RetrieveFile, "x=1", "", []string{"x"}},
	} {
		out, err := unified(c.ep).EncodeRequest(context.Background(), &dialect.Request{Endpoint: c.ep, Query: c.query}, target)
		if err != nil || out.Query != c.want || !slices.Equal(out.Dropped, c.dropped) || out.Body != nil {
			t.Errorf("%s: %+v, %v", c.ep, out, err)
		}
	}
}
