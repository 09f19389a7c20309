package providerjob_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/domain/providerjob"
	"sluice/internal/kernel/llm"
)

func size(_ llm.Endpoint, body []byte, _ string) int64 { return int64(len(body)) }

// Readers of JSON differ in which of two members they take, so that a limit checked on one
// could be passed with the other.
func TestInput_RefusesLinesThatCanBeReadTwoWays(t *testing.T) {
	t.Parallel()
	for name, line := range map[string]string{
		"a limit twice":        `{"url":"/v1/chat/completions","body":{"model":"m","max_tokens":1,"messages":[],"max_tokens":8000}}`,
		"a model twice":        `{"url":"/v1/chat/completions","body":{"model":"cheap","messages":[],"model":"dear"}}`,
		"a nested limit twice": `{"request":{"contents":[],"generationConfig":{"maxOutputTokens":1,"maxOutputTokens":9000}}}`,
		"two bodies":           `{"url":"/v1/chat/completions","body":{"model":"m","messages":[]},"body":{"model":"m","messages":[],"n":100}}`,
		"params beside a body": `{"body":{"model":"m","messages":[]},"params":{"model":"m","max_tokens":9000,"messages":[]}}`,
		"two spellings":        `{"body":{"model":"m","messages":[]},"Body":{"model":"m","messages":[],"n":100}}`,
		"two addresses":        `{"url":"/v1/moderations","url":"/v1/chat/completions","body":{"model":"m","input":"x"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var input providerjob.Input
			if err := input.Add([]byte(line), "job", size); err == nil {
				t.Errorf("counted as %+v, want an error", input.Groups)
			}
		})
	}
}

func TestInput_CountsRequestsOfEveryFormat(t *testing.T) {
	t.Parallel()
	const chat = `{"model":"m","max_tokens":5,"messages":[]}`
	for name, c := range map[string]struct {
		line string
		want providerjob.Group
	}{
		"OpenAI":                  {`{"custom_id":"1","method":"POST","url":"/v1/chat/completions","body":` + chat + `}`, providerjob.Group{Model: "m", Endpoint: llm.ChatComplete, Output: 5}},
		"several answers":         {`{"url":"/v1/chat/completions","body":{"model":"m","max_completion_tokens":5,"n":3}}`, providerjob.Group{Model: "m", Endpoint: llm.ChatComplete, Output: 15}},
		"without a limit":         {`{"url":"/v1/responses","body":{"model":"m","input":"x","previous_response_id":"r","tools":[{"type":"web_search"}]}}`, providerjob.Group{Model: "m", Endpoint: llm.CreateModelResponse, Open: 1, Context: 1, Searches: 1}},
		"embeddings":              {`{"url":"/v1/embeddings","body":{"model":"e","input":"x"}}`, providerjob.Group{Model: "e", Endpoint: llm.Embed}},
		"a wrong address":         {`{"recordId":"1","url":"/v1/moderations","modelInput":{"messages":[],"inferenceConfig":{"maxTokens":8}}}`, providerjob.Group{Model: "job", Endpoint: llm.Moderate, Output: 8}},
		"images":                  {`{"url":"/v1/images/generations","body":{"model":"i","prompt":"x","n":2}}`, providerjob.Group{Model: "i", Endpoint: llm.ImageGenerate, Open: 2, Images: 2}},
		"Anthropic":               {`{"custom_id":"1","params":` + chat + `}`, providerjob.Group{Model: "m", Endpoint: llm.ChatComplete, Output: 5}},
		"Bedrock":                 {`{"recordId":"1","modelInput":{"anthropic_version":"bedrock-2023-05-31","max_tokens":7,"messages":[]}}`, providerjob.Group{Model: "job", Endpoint: llm.Messages, Output: 7}},
		"Nova":                    {`{"recordId":"1","modelInput":{"messages":[],"inferenceConfig":{"maxTokens":8}}}`, providerjob.Group{Model: "job", Endpoint: llm.ChatComplete, Output: 8}},
		"Gemini":                  {`{"request":{"contents":[],"generation_config":{"max_output_tokens":9,"candidate_count":2}}}`, providerjob.Group{Model: "job", Endpoint: llm.ChatComplete, Output: 18}},
		"a larger limit":          {`{"recordId":"1","modelInput":{"messages":[],"inferenceConfig":{"maxTokens":8,"max_new_tokens":80}}}`, providerjob.Group{Model: "job", Endpoint: llm.ChatComplete, Output: 80}},
		"a foreign limit":         {`{"body":{"model":"m","messages":[],"max_gen_len":1,"parameters":{"max_tokens":1}}}`, providerjob.Group{Model: "m", Endpoint: llm.ChatComplete, Open: 1}},
		"another spelling":        {`{"body":{"model":"m","messages":[],"maxTokens":1,"MAX_TOKENS":1,"max-tokens":1,"maxCompletionTokens":1}}`, providerjob.Group{Model: "m", Endpoint: llm.ChatComplete, Open: 1}},
		"spelled beside null":     {`{"params":{"model":"m","messages":[],"maxTokens":1,"max_tokens":null}}`, providerjob.Group{Model: "m", Endpoint: llm.ChatComplete, Open: 1}},
		"spelled as a response's": {`{"url":"/v1/responses","body":{"model":"m","input":"x","maxOutputTokens":1,"max_tokens":1}}`, providerjob.Group{Model: "m", Endpoint: llm.CreateModelResponse, Open: 1}},
		"spelled, and larger":     {`{"body":{"model":"m","messages":[],"max_tokens":5,"maxTokens":50}}`, providerjob.Group{Model: "m", Endpoint: llm.ChatComplete, Output: 50}},
		"a foreign holder":        {`{"request":{"contents":[],"max_tokens":1,"inferenceConfig":{"maxTokens":1}}}`, providerjob.Group{Model: "job", Endpoint: llm.ChatComplete, Open: 1}},
		"Claude on Vertex AI":     {`{"request":{"anthropic_version":"v","messages":[],"max_tokens":6}}`, providerjob.Group{Model: "job", Endpoint: llm.Messages, Output: 6}},
		"googleSearch":            {`{"request":{"contents":[],"tools":[{"functionDeclarations":[]},{"googleSearch":{}}],"generationConfig":{"maxOutputTokens":9}}}`, providerjob.Group{Model: "job", Endpoint: llm.ChatComplete, Output: 9, Context: 1, Searches: 1}},
		"functions that search":   {`{"body":{"model":"m","messages":[],"max_tokens":5,"tools":[{"type":"function","function":{"name":"search"}},{"name":"search","input_schema":{}}]}}`, providerjob.Group{Model: "m", Endpoint: llm.ChatComplete, Output: 5}},
		"tools of the caller":     {`{"params":{"model":"m","messages":[],"max_tokens":5,"tools":[{"type":"bash_20250124","name":"bash"},{"type":"text_editor_20250728","name":"e"}]}}`, providerjob.Group{Model: "m", Endpoint: llm.ChatComplete, Output: 5}},
		"enable_search":           {`{"body":{"model":"m","messages":[],"max_tokens":5,"enable_search":true}}`, providerjob.Group{Model: "m", Endpoint: llm.ChatComplete, Output: 5, Context: 1}},
		"web_fetch":               {`{"params":{"model":"m","messages":[],"max_tokens":5,"tools":[{"type":"web_fetch_20250910","name":"web_fetch"}]}}`, providerjob.Group{Model: "m", Endpoint: llm.ChatComplete, Output: 5, Context: 1}},
		"a cache":                 {`{"request":{"contents":[],"cachedContent":"c","generationConfig":{"maxOutputTokens":9}}}`, providerjob.Group{Model: "job", Endpoint: llm.ChatComplete, Output: 9, Context: 1}},
		"an item":                 {`{"url":"/v1/responses","body":{"model":"m","max_output_tokens":5,"input":[{"type":"item_reference","id":"m"}]}}`, providerjob.Group{Model: "m", Endpoint: llm.CreateModelResponse, Output: 5, Context: 1}},
		"Vertex AI":               {`{"request":{"contents":[],"generationConfig":{"maxOutputTokens":9,"candidateCount":2}}}`, providerjob.Group{Model: "job", Endpoint: llm.ChatComplete, Output: 18}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var input providerjob.Input
			if err := input.Add([]byte(c.line), "job", size); err != nil {
				t.Fatal(err)
			}
			got := input.Groups[0]
			if got.Input == 0 || got.Largest != got.Input || got.Requests != 1 || input.Training != int64(len(c.line)) {
				t.Errorf("%+v", got)
			}
			if got.Addressed != strings.Contains(c.line, `"url"`) {
				t.Errorf("addressed: %t", got.Addressed)
			}
			got.Requests, got.Input, got.Largest, got.Addressed = 0, 0, 0, false
			if !cmp.Equal(got, c.want) {
				t.Error(cmp.Diff(c.want, got))
			}
		})
	}
}

func TestInput_RefusesWhatCannotBeBounded(t *testing.T) {
	t.Parallel()
	var input providerjob.Input
	for line, why := range map[string]string{"{": "not a JSON object", `{"url":"/v1/videos","body":{"model":"sora-2"}}`: "cost is unknown", `{"url":"/v1/audio/speech","body":{}}`: "cost is unknown"} {
		if err := input.Add([]byte(line), "", size); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", line, err)
		}
	}
	var err error
	for n := 0; n < 100 && err == nil; n++ {
		err = input.Add([]byte(`{"body":{"model":"m`+strings.Repeat("x", n)+`"}}`), "", size)
	}
	if err == nil || len(input.Groups) != 64 {
		t.Errorf("%d models, %v", len(input.Groups), err)
	}
}

// A number beyond all counts must not make up for the requests of other lines.
func TestInput_CountsDoNotOverflow(t *testing.T) {
	t.Parallel()
	var input providerjob.Input
	for range 3 {
		if err := input.Add([]byte(`{"body":{"model":"m","max_tokens":1000000000000000,"n":30000,"messages":[]}}`), "", size); err != nil {
			t.Fatal(err)
		}
	}
	if got := input.Groups[0].Output; got != 1<<50 {
		t.Errorf("%d tokens of output", got)
	}
	if err := input.Merge(&input); err != nil || input.Groups[0].Output != 1<<50 || input.Groups[0].Requests != 6 {
		t.Errorf("%+v, %v", input.Groups[0], err)
	}
}

// Providers call the endpoint of the batch, so that a line cannot choose a cheaper one.
func TestInput_IsSentToTheEndpointOfTheBatch(t *testing.T) {
	t.Parallel()
	const chat = `"body":{"model":"m","max_tokens":5,"messages":[]}`
	for name, c := range map[string]struct {
		line, to string
		want     providerjob.Group // of what has a price
		why      string
	}{
		"the same":                    {`{"url":"/v1/chat/completions",` + chat + `}`, "/v1/chat/completions", providerjob.Group{Endpoint: llm.ChatComplete, Output: 5}, ""},
		"the same without a version":  {`{"url":"/chat/completions",` + chat + `}`, "/v1/chat/completions", providerjob.Group{Endpoint: llm.ChatComplete, Output: 5}, ""},
		"a cheaper line":              {`{"url":"/v1/moderations",` + chat + `}`, "/v1/chat/completions", providerjob.Group{}, "not the endpoint of the batch"},
		"a cheaper batch":             {`{"url":"/v1/chat/completions",` + chat + `}`, "/v1/embeddings", providerjob.Group{}, "not the endpoint of the batch"},
		"a line without an address":   {`{` + chat + `}`, "/v1/messages", providerjob.Group{Endpoint: llm.Messages, Output: 5}, ""},
		"chat as an embedding":        {`{` + chat + `}`, "/v1/embeddings", providerjob.Group{Endpoint: llm.ChatComplete, Output: 5}, ""},
		"Titan as an embedding":       {`{"modelInput":{"inputText":"x","textGenerationConfig":{"maxTokenCount":6}}}`, "/v1/embeddings", providerjob.Group{Endpoint: llm.Complete, Output: 6}, ""},
		"an embedding":                {`{"body":{"model":"e","input":"x"}}`, "/v1/embeddings", providerjob.Group{Endpoint: llm.Embed}, ""},
		"a completion of Mistral's":   {`{"body":{"prompt":"x","suffix":"y","max_tokens":5}}`, "/v1/fim/completions", providerjob.Group{Endpoint: llm.Complete, Output: 5}, ""},
		"an image without an address": {`{"body":{"prompt":"x","n":9}}`, "/v1/images/generations", providerjob.Group{}, "has no url"},
		"an unknown endpoint":         {`{` + chat + `}`, "/v1/ocr", providerjob.Group{}, "not known in advance"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var input providerjob.Input
			if err := input.Add([]byte(c.line), "", size); err != nil {
				t.Fatal(err)
			}
			err := input.SendTo(c.to)
			if c.why != "" {
				if err == nil || !strings.Contains(err.Error(), c.why) {
					t.Errorf("%v", err)
				}
				return
			}
			if got := input.Groups[0]; err != nil || got.Endpoint != c.want.Endpoint || got.Output != c.want.Output || got.Open != 0 {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

func TestReadState_KnowsTheStatesOfAllProviders(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]providerjob.State{
		`{"status":"in_progress"}`: {Status: "in_progress"},
		`{"status":"completed","output_file_id":"f","request_counts":{"completed":2}}`:                           {Status: "completed", Ended: true, Output: "f"},
		`{"status":"cancelled","request_counts":{"completed":0,"failed":0}}`:                                     {Status: "cancelled", Ended: true, Stopped: true, None: true},
		`{"processing_status":"ended"}`:                                                                          {Status: "ended", Ended: true},
		`{"state":"JOB_STATE_FAILED"}`:                                                                           {Status: "JOB_STATE_FAILED", Ended: true, Failed: true},
		`{"name":"batches/1","metadata":{"state":"BATCH_STATE_RUNNING"}}`:                                        {Status: "BATCH_STATE_RUNNING"},
		`{"status":"SUCCESS","output_file":"f"}`:                                                                 {Status: "SUCCESS", Ended: true, Output: "f"},
		`{"done":true,"error":{"code":3}}`:                                                                       {Ended: true, Failed: true},
		`{"status":"succeeded","trained_tokens":9,"created_at":100,"finished_at":160}`:                           {Status: "succeeded", Ended: true, Trained: 9, Length: 60},
		`{"status":"completed","seconds":"8","size":"1280x720"}`:                                                 {Status: "completed", Ended: true, Seconds: 8, Size: "1280x720"},
		`{"status":"succeeded","n_seconds":5,"n_variants":2}`:                                                    {Status: "succeeded", Ended: true, Seconds: 5, Videos: 2},
		`{"metadata":{"state":"BATCH_STATE_SUCCEEDED"},"response":{"inlinedResponses":{"inlinedResponses":[]}}}`: {Status: "BATCH_STATE_SUCCEEDED", Ended: true, Results: []byte("[]")},
	} {
		if got := providerjob.ReadState([]byte(body)); !cmp.Equal(got, want) {
			t.Errorf("%s: %s", body, cmp.Diff(want, got))
		}
	}
}
