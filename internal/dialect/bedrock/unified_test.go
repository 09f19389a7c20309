package bedrock_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/bedrock"
	"sluice/internal/dialect/dialecttest"
	"sluice/internal/dialect/media"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/wire"
)

// ask makes the request of a unified endpoint.
func ask(t testing.TB, ep llm.Endpoint, r *dialect.Request, to *dialect.Target) (*dialect.Outgoing, error) {
	t.Helper()
	r.Endpoint, to.Endpoint = ep, ep
	out, err := bedrock.Dialect().Unified[ep].EncodeRequest(t.Context(), r, to)
	out = dialecttest.LoadBody(t, out)
	if err == nil && len(out.Body) > 0 && out.Body[0] == '{' && !json.Valid(out.Body) && ep != llm.UploadFile {
		t.Errorf("no JSON: %s", out.Body)
	}
	return out, err
}

// translateResponse reads what came back.
func translateResponse(ep llm.Endpoint, incoming *dialect.Incoming) (*dialect.Response, error) {
	if incoming.Sent == nil {
		incoming.Sent = &dialect.Request{}
	}
	if incoming.To == nil {
		incoming.To = &dialect.Target{Model: "m"}
	}
	incoming.Status, incoming.Created, incoming.Sent.Endpoint = 200, 1795176000, ep
	return bedrock.Dialect().Unified[ep].TranslateResponse(incoming)
}

type askCase struct {
	name, model, body, want string
	more                    []string
	dropped                 []string
	param                   string // of the refusal
	code                    fault.Code
}

func (c *askCase) run(t *testing.T, ep llm.Endpoint) {
	t.Helper()
	out, err := ask(t, ep, &dialect.Request{Body: []byte(c.body)}, &dialect.Target{Model: c.model})
	if c.code != "" {
		if !fault.Has(err, c.code) || fault.From(err).Param != c.param {
			t.Errorf("%s: %v", c.name, err)
		}
		return
	}
	if err != nil {
		t.Errorf("%s: %v", c.name, err)
		return
	}
	var more []string
	for _, m := range out.More {
		more = append(more, string(m))
	}
	if string(out.Body) != c.want || !slices.Equal(more, c.more) || !slices.Equal(out.Dropped, c.dropped) {
		t.Errorf("%s:\ngot  %s %q, lost %q\nwant %s %q, lost %q", c.name, out.Body, more, out.Dropped, c.want, c.more, c.dropped)
	}
}

func TestComplete(t *testing.T) {
	t.Parallel()
	const all = `{"model":"m","prompt":"Hi","max_tokens":9,"temperature":0.5,"top_p":0.9,"top_k":3,"stop":"x","n":2,"presence_penalty":0.1,"frequency_penalty":0.2,"logit_bias":{},"user":"u","echo":true}`
	for _, c := range []askCase{
		{
			name: "Claude 2", model: "anthropic.claude-v2:1", body: all,
			want:    `{"prompt":"\n\nHuman: Hi\n\nAssistant:","max_tokens_to_sample":9,"temperature":0.5,"top_p":0.9,"top_k":3,"stop_sequences":["x"]}`,
			dropped: []string{"n", "presence_penalty", "frequency_penalty", "user", "echo"},
		},
		{
			name: "Claude 2 must have a limit", model: "anthropic.claude-v2:1", body: `{"prompt":["Hi"]}`,
			want: `{"prompt":"\n\nHuman: Hi\n\nAssistant:","max_tokens_to_sample":4096}`,
		},
		{
			name: "Cohere", model: "cohere.command-text-v14", body: all,
			want:    `{"prompt":"Hi","max_tokens":9,"temperature":0.5,"p":0.9,"k":3,"num_generations":2,"frequency_penalty":0.2,"presence_penalty":0.1,"logit_bias":{},"end_sequences":["x"]}`,
			dropped: []string{"user", "echo"},
		},
		{
			name: "Llama", model: "us.meta.llama3-3-70b-instruct-v1:0", body: all, want: `{"prompt":"Hi","max_gen_len":9,"temperature":0.5,"top_p":0.9}`,
			dropped: []string{"top_k", "stop", "n", "presence_penalty", "frequency_penalty", "user", "echo"},
		},
		{
			name: "Mistral", model: "mistral.mistral-7b-instruct-v0:2", body: all, want: `{"prompt":"Hi","max_tokens":9,"temperature":0.5,"top_p":0.9,"top_k":3,"stop":["x"]}`,
			dropped: []string{"n", "presence_penalty", "frequency_penalty", "user", "echo"},
		},
		{
			name: "Titan", model: "amazon.titan-text-express-v1", body: all,
			want:    `{"inputText":"Hi","textGenerationConfig":{"maxTokenCount":9,"temperature":0.5,"topP":0.9,"stopSequences":["x"]}}`,
			dropped: []string{"top_k", "n", "presence_penalty", "frequency_penalty", "user", "echo"},
		},
		{
			name: "Jurassic", model: "ai21.j2-mid-v1", body: all,
			want:    `{"prompt":"Hi","maxTokens":9,"temperature":0.5,"topP":0.9,"presencePenalty":{"scale":0.1},"frequencyPenalty":{"scale":0.2},"stopSequences":["x"]}`,
			dropped: []string{"top_k", "n", "user", "echo"},
		},
		{name: "models that only chat", model: "deepseek.r1-v1:0", body: all, code: fault.NotSupported, param: "model"},
		{name: "tokens", model: "mistral.x", body: `{"prompt":[1,2]}`, code: fault.InvalidParameter, param: "prompt"},
	} {
		c.run(t, llm.Complete)
	}
}

func TestCompleteAnswers(t *testing.T) {
	t.Parallel()
	head := wire.Header{{Name: "x-amzn-bedrock-input-token-count", Value: "5"}, {Name: "x-amzn-bedrock-output-token-count", Value: "7"}}
	for _, c := range []struct {
		model, body, text, finish string
		head                      wire.Header
	}{
		{"anthropic.claude-v2:1", `{"type":"completion","completion":" Hello","stop_reason":"stop_sequence","stop":"\n\nHuman:"}`, " Hello", "stop", head},
		{"cohere.command-text-v14", `{"id":"i","generations":[{"id":"a","text":" Hello","finish_reason":"MAX_TOKENS"}]}`, " Hello", "length", head},
		{"meta.llama3-8b-instruct-v1:0", `{"generation":" Hello","prompt_token_count":5,"generation_token_count":7,"stop_reason":"length"}`, " Hello", "length", nil},
		{"mistral.mistral-7b-instruct-v0:2", `{"outputs":[{"text":" Hello","stop_reason":"stop"}]}`, " Hello", "stop", head},
		{"amazon.titan-text-lite-v1", `{"inputTextTokenCount":5,"results":[{"tokenCount":7,"outputText":" Hello","completionReason":"CONTENT_FILTERED"}]}`, " Hello", "content_filter", nil},
		{"ai21.j2-mid-v1", `{"id":1234,"prompt":{},"completions":[{"data":{"text":" Hello","tokens":[]},"finishReason":{"reason":"endoftext"}}]}`, " Hello", "stop", head},
	} {
		a, err := translateResponse(llm.Complete, &dialect.Incoming{Header: c.head, Body: []byte(c.body), To: &dialect.Target{Model: c.model}})
		if err != nil {
			t.Errorf("%s: %v", c.model, err)
			continue
		}
		want := `"choices":[{"text":"` + c.text + `","index":0,"logprobs":null,"finish_reason":"` + c.finish + `"}],"usage":{"prompt_tokens":5,"completion_tokens":7,"total_tokens":12}}`
		if !strings.HasSuffix(string(a.Body), want) || !a.Usage.Reported {
			t.Errorf("%s: %s", c.model, a.Body)
		}
	}
}

// restream reads a stream of a model in pieces.
func restream(t testing.TB, model string, parts ...[]byte) (string, error) {
	t.Helper()
	s := bedrock.Dialect().Unified[llm.Complete].(dialect.Streamer).NewStream(&dialect.Incoming{Status: 200, Created: 1795176000, To: &dialect.Target{Model: model}})
	var out []byte
	var err error
	for _, p := range parts {
		if out, err = s.Append(out, p); err != nil {
			return string(out), err
		}
	}
	out, err = s.Close(out)
	id, rest, _ := strings.Cut(string(out), `"id":"cmpl-`)
	return strings.ReplaceAll(id+rest, rest[:min(len(rest), 24)], ""), err
}

func TestCompleteStreams(t *testing.T) {
	t.Parallel()
	const metrics = `,"amazon-bedrock-invocationMetrics":{"inputTokenCount":5,"outputTokenCount":7,"invocationLatency":1,"firstByteLatency":1}}`
	for model, inner := range map[string][]string{
		"anthropic.claude-v2:1":            {`{"type":"completion","completion":" Hel","stop_reason":null}`, `{"completion":"lo","stop_reason":"stop_sequence"` + metrics},
		"cohere.command-text-v14":          {`{"text":" Hel","is_finished":false}`, `{"text":"lo","is_finished":false}`, `{"is_finished":true,"finish_reason":"COMPLETE"` + metrics},
		"meta.llama3-8b-instruct-v1:0":     {`{"generation":" Hel","prompt_token_count":5,"generation_token_count":1,"stop_reason":null}`, `{"generation":"lo","stop_reason":"stop"` + metrics},
		"mistral.mistral-7b-instruct-v0:2": {`{"outputs":[{"text":" Hel","stop_reason":null}]}`, `{"outputs":[{"text":"lo","stop_reason":"stop"}]` + metrics},
		"amazon.titan-text-lite-v1":        {`{"index":0,"outputText":" Hel","completionReason":null}`, `{"index":1,"outputText":"lo","completionReason":"FINISHED"` + metrics},
	} {
		stream := chunks(inner...)
		for _, cut := range []int{0, 1, len(stream) / 2, len(stream) - 1} {
			got, err := restream(t, model, stream[:cut], stream[cut:])
			if err != nil {
				t.Fatalf("%s: %v", model, err)
			}
			for _, want := range []string{
				`"choices":[{"text":" Hel","index":0,"logprobs":null,"finish_reason":null}]}`, `"choices":[{"text":"lo","index":0,"logprobs":null,"finish_reason":null}]}`,
				`"choices":[{"text":"","index":0,"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":7,"total_tokens":12}}`,
			} {
				if strings.Count(got, want) != 1 {
					t.Errorf("%s, cut at %d: %s lacks %s", model, cut, got, want)
				}
			}
			if !strings.HasSuffix(got, "\n\ndata: [DONE]\n\n") || strings.Count(got, "data: ") != 4 {
				t.Errorf("%s: %s", model, got)
			}
		}
	}
}

func TestCompleteStreamEnds(t *testing.T) {
	t.Parallel()
	const model = "mistral.mistral-7b-instruct-v0:2"
	open := chunks(`{"outputs":[{"text":"a","stop_reason":null}]}`)
	cutByLength := chunks(`{"outputs":[{"text":"a","stop_reason":"length"}]}`)
	for _, c := range []struct {
		name   string
		stream []byte
		has    string
		done   bool
		bad    bool
	}{
		{"cut", open, `"text":"a"`, false, false},
		{"cut inside a message", open[:20], ``, false, true},
		{"without usage", cutByLength, `"finish_reason":"length"}]}`, true, false},
		{"an exception", append(slices.Clone(open), framed("exception", "throttlingException", `{"message":"slow"}`)...), `"message":"slow"`, false, false},
		{"no such stream", []byte("data: {\"choices\":[]}\n\n"), ``, false, true},
	} {
		got, err := restream(t, model, c.stream)
		if !strings.Contains(got, c.has) || strings.Contains(got, "[DONE]") != c.done || fault.Has(err, fault.UpstreamInvalid) != c.bad {
			t.Errorf("%s: %s, %v", c.name, got, err)
		}
	}
}

func TestEmbed(t *testing.T) {
	t.Parallel()
	for _, c := range []askCase{
		{
			name: "Titan takes one at a time", model: "amazon.titan-embed-text-v2:0", body: `{"input":["a","b"],"dimensions":256,"normalize":false,"encoding_format":"base64","user":"u"}`,
			want: `{"inputText":"a","dimensions":256,"normalize":false}`, more: []string{`{"inputText":"b","dimensions":256,"normalize":false}`}, dropped: []string{"user"},
		},
		{
			name: "Titan makes bits itself", model: "amazon.titan-embed-text-v2:0", body: `{"input":"a","encoding_format":"binary"}`,
			want: `{"inputText":"a","embeddingTypes":["binary"]}`,
		},
		{name: "the first Titan takes nothing else", model: "amazon.titan-embed-text-v1", body: `{"input":"a","dimensions":256,"encoding_format":"float"}`, want: `{"inputText":"a"}`, dropped: []string{"dimensions"}},
		{
			name: "Titan for images", model: "amazon.titan-embed-image-v1", body: `{"input":[{"text":"a","image":{"base64":"data:image/png;base64,QQ=="}}],"dimensions":256}`,
			want: `{"inputText":"a","inputImage":"QQ==","embeddingConfig":{"outputEmbeddingLength":256}}`,
		},
		{
			name: "Nova", model: "amazon.nova-2-multimodal-embeddings-v1:0", body: `{"input":"a","dimensions":384,"input_type":"search_query"}`,
			want: `{"taskType":"SINGLE_EMBEDDING","singleEmbeddingParams":{"embeddingPurpose":"GENERIC_RETRIEVAL","embeddingDimension":384,"text":{"truncationMode":"END","value":"a"}}}`,
		},
		{
			name: "Cohere takes lists", model: "cohere.embed-english-v3", body: `{"input":["a",{"text":"b"}],"input_type":"clustering","truncate":"END","dimensions":5,"encoding_format":"int8"}`,
			want: `{"texts":["a","b"],"input_type":"clustering","truncate":"END","embedding_types":["int8"]}`, dropped: []string{"dimensions"},
		},
		{name: "Cohere must be told what for", model: "cohere.embed-v4:0", body: `{"input":"a","dimensions":512}`, want: `{"texts":["a"],"input_type":"search_document","output_dimension":512}`},
		{
			name: "Cohere with images", model: "cohere.embed-multilingual-v3", body: `{"input":[{"image":{"base64":"data:image/png;base64,QQ=="}}]}`,
			want: `{"images":["data:image/png;base64,QQ=="],"input_type":"image"}`,
		},
		{name: "Cohere with both", model: "cohere.embed-v4:0", body: `{"input":["a",{"image":{"base64":"QQ=="}}]}`, code: fault.InvalidParameter, param: "input"},
		{name: "broken base64", model: "amazon.titan-embed-image-v1", body: `{"input":[{"image":{"base64":"%"}}]}`, code: fault.InvalidParameter, param: "input"},
		{name: "tokens", model: "cohere.embed-v4:0", body: `{"input":[1]}`, code: fault.InvalidParameter, param: "input[0]"},
		{name: "nothing", model: "cohere.embed-v4:0", body: `{"input":[]}`, code: fault.InvalidParameter, param: "input"},
	} {
		c.run(t, llm.Embed)
	}
}

func TestEmbedAnswers(t *testing.T) {
	t.Parallel()
	head := wire.Header{{Name: "x-amzn-bedrock-input-token-count", Value: "3"}}
	item := func(i, v string) string { return `{"object":"embedding","index":` + i + `,"embedding":` + v + `}` }
	for _, c := range []struct {
		name, sent, body string
		more             []string
		want             string
		tokens           int64
	}{
		{"Titan", `{}`, `{"embedding":[0.5,1],"inputTextTokenCount":3}`, []string{`{"embedding":[2],"inputTextTokenCount":4}`}, item("0", "[0.5,1]") + "," + item("1", "[2]"), 7},
		{"base64", `{"encoding_format":"base64"}`, `{"embedding":[1],"inputTextTokenCount":3}`, nil, item("0", `"AACAPw=="`), 3},
		{"Titan by type", `{"encoding_format":"binary"}`, `{"embedding":[0.5],"embeddingsByType":{"binary":[1,0]},"inputTextTokenCount":3}`, nil, item("0", "[1,0]"), 3},
		{"Cohere", `{}`, `{"embeddings":[[1],[2]],"id":"x","response_type":"embeddings_floats"}`, nil, item("0", "[1]") + "," + item("1", "[2]"), 3},
		{"Cohere by type", `{}`, `{"embeddings":{"float":[[1],[2]]}}`, nil, item("0", "[1]") + "," + item("1", "[2]"), 3},
		{"Nova", `{}`, `{"embeddings":[{"embeddingType":"TEXT","embedding":[1]}]}`, nil, item("0", "[1]"), 3},
	} {
		incoming := &dialect.Incoming{Body: []byte(c.body), Sent: &dialect.Request{Body: []byte(c.sent)}, Header: head}
		for _, m := range c.more {
			incoming.More = append(incoming.More, []byte(m))
		}
		a, err := translateResponse(llm.Embed, incoming)
		if err != nil || !strings.Contains(string(a.Body), `"data":[`+c.want+`]`) || a.Usage.InputTokens != c.tokens {
			t.Errorf("%s: %+v, %v", c.name, a, err)
		}
	}
	if _, err := translateResponse(llm.Embed, &dialect.Incoming{Body: []byte(`{"message":"x"}`)}); !fault.Has(err, fault.UpstreamInvalid) {
		t.Errorf("no embedding: %v", err)
	}
}

func TestImages(t *testing.T) {
	t.Parallel()
	for _, c := range []askCase{
		{
			name: "Nova Canvas", model: "amazon.nova-canvas-v1:0", body: `{"prompt":"p","n":2,"size":"1024x768","quality":"hd","seed":1,"cfg_scale":7,"style":"PHOTOREALISM","negative_prompt":"q","response_format":"b64_json"}`,
			want: `{"taskType":"TEXT_IMAGE","textToImageParams":{"text":"p","negativeText":"q","style":"PHOTOREALISM"},"imageGenerationConfig":{"width":1024,"height":768,"numberOfImages":2,"seed":1,"cfgScale":7,"quality":"premium"}}`,
		},
		{
			name: "Titan", model: "amazon.titan-image-generator-v2:0", body: `{"prompt":"p","size":"auto","quality":"auto","style":"vivid","response_format":"url"}`,
			want: `{"taskType":"TEXT_IMAGE","textToImageParams":{"text":"p"}}`, dropped: []string{"style", "response_format"},
		},
		{
			name: "Stable Diffusion XL", model: "stability.stable-diffusion-xl-v1", body: `{"prompt":"p","n":2,"size":"512x320","style":"comic-book","steps":20,"user":"u"}`,
			want: `{"text_prompts":[{"text":"p","weight":1}],"height":320,"width":512,"style_preset":"comic-book","samples":2,"steps":20}`, dropped: []string{"user"},
		},
		{
			name: "Stable Image", model: "us.stability.stable-image-core-v1:1", body: `{"prompt":"p","size":"1536x1024","n":2,"seed":3,"output_format":"png"}`,
			want: `{"prompt":"p","aspect_ratio":"3:2","seed":3,"output_format":"png"}`, more: []string{`{"prompt":"p","aspect_ratio":"3:2","seed":3,"output_format":"png"}`},
		},
		{name: "a size without a name", model: "stability.sd3-5-large-v1:0", body: `{"prompt":"p","size":"1000x700"}`, want: `{"prompt":"p"}`, dropped: []string{"size"}},
		{name: "too many", model: "stability.sd3-5-large-v1:0", body: `{"prompt":"p","n":11}`, code: fault.InvalidParameter, param: "n"},
		{name: "nothing to draw", model: "amazon.nova-canvas-v1:0", body: `{}`, code: fault.InvalidParameter, param: "prompt"},
	} {
		c.run(t, llm.ImageGenerate)
	}
	for body, want := range map[string]string{
		`{"images":["QQ==","Qg=="]}`:                              `{"created":1795176000,"data":[{"b64_json":"QQ=="},{"b64_json":"Qg=="}]}`,
		`{"artifacts":[{"base64":"QQ==","finishReason":"x"}]}`:    `{"created":1795176000,"data":[{"b64_json":"QQ=="}]}`,
		`{"seeds":[1],"finish_reasons":[null],"images":["QQ=="]}`: `{"created":1795176000,"data":[{"b64_json":"QQ=="}]}`,
	} {
		if a, err := translateResponse(llm.ImageGenerate, &dialect.Incoming{Body: []byte(body)}); err != nil || string(a.Body) != want {
			t.Errorf("%s: %+v, %v", body, a, err)
		}
	}
	_, err := translateResponse(llm.ImageGenerate, &dialect.Incoming{Body: []byte(`{"finish_reasons":["Filter reason: prompt"]}`)})
	if !fault.Has(err, fault.UpstreamInvalid) || !strings.Contains(fault.From(err).Public, "Filter reason: prompt") {
		t.Errorf("held back: %v", err)
	}
}

func TestRerank(t *testing.T) {
	t.Parallel()
	const arn = "arn:aws:bedrock:us-east-1::foundation-model/cohere.rerank-v3-5:0"
	want := `{"queries":[{"type":"TEXT","textQuery":{"text":"q"}}],"sources":[{"type":"INLINE","inlineDocumentSource":{"type":"TEXT","textDocument":{"text":"a"}}},` +
		`{"type":"INLINE","inlineDocumentSource":{"type":"TEXT","textDocument":{"text":"b"}}},{"type":"INLINE","inlineDocumentSource":{"type":"JSON","jsonDocument":{"text":"c","title":"t"}}}],` +
		`"rerankingConfiguration":{"type":"BEDROCK_RERANKING_MODEL","bedrockRerankingConfiguration":{"numberOfResults":2,"modelConfiguration":{"modelArn":"` + arn + `"}}}}`
	body := `{"query":"q","documents":["a",{"text":"b"},{"text":"c","title":"t"}],"top_n":2,"return_documents":true,"max_tokens_per_doc":9}`
	for _, model := range []string{arn, "cohere.rerank-v3-5:0", strings.ReplaceAll(strings.ReplaceAll(arn, ":", "%3A"), "/", "%2F")} {
		c := askCase{name: model, model: model, body: body, want: want, dropped: []string{"max_tokens_per_doc"}}
		c.run(t, llm.Rerank)
	}
	out, err := ask(t, llm.Rerank, &dialect.Request{Body: []byte(body)}, &dialect.Target{Model: "amazon.rerank-v1:0", Value: values(map[string]string{"aws_region": "us-gov-west-1"})})
	if err != nil || !strings.Contains(string(out.Body), `"arn:aws-us-gov:bedrock:us-gov-west-1::foundation-model/amazon.rerank-v1:0"`) {
		t.Errorf("%s, %v", out.Body, err)
	}
	a, err := translateResponse(llm.Rerank, &dialect.Incoming{Body: []byte(`{"results":[{"index":1,"relevanceScore":0.9},{"index":0,"relevanceScore":0.1}]}`), Sent: &dialect.Request{Body: []byte(body)}})
	if err != nil || !strings.Contains(string(a.Body), `"results":[{"index":1,"relevance_score":0.9,"document":{"text":"b"}},{"index":0,"relevance_score":0.1,"document":{"text":"a"}}]`) {
		t.Errorf("%s, %v", a.Body, err)
	}
	for _, c := range []askCase{
		{name: "no query", body: `{"documents":[]}`, code: fault.InvalidParameter, param: "query"},
		{name: "no documents", body: `{"query":"q"}`, code: fault.InvalidParameter, param: "documents"},
		{name: "a number", body: `{"query":"q","documents":["a",1]}`, code: fault.InvalidParameter, param: "documents[1]"},
	} {
		c.run(t, llm.Rerank)
	}
}

func TestCountTokens(t *testing.T) {
	t.Parallel()
	body := []byte(`{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]}`)
	out, err := ask(t, llm.MessagesCountTokens, &dialect.Request{Body: body}, &dialect.Target{Model: sonnet})
	inner := `{"messages":[{"role":"user","content":"hi"}],"anthropic_version":"bedrock-2023-05-31","max_tokens":10}`
	if err != nil || string(out.Body) != `{"input":{"invokeModel":{"body":"`+media.Base64([]byte(inner))+`"}}}` {
		t.Errorf("%s, %v", out.Body, err)
	}
	if out.Path != "/model/anthropic.claude-sonnet-4-5-20250929-v1%3A0/count-tokens" {
		t.Error(out.Path)
	}
	call := &llm.Call{Surface: llm.Messages, Messages: []llm.Message{{Role: llm.RoleUser, Parts: []llm.Part{{Text: "hi"}}}}}
	out, err = ask(t, llm.MessagesCountTokens, &dialect.Request{Body: body, Call: call}, &dialect.Target{Model: nova})
	if err != nil || string(out.Body) != `{"input":{"converse":{"messages":[{"role":"user","content":[{"text":"hi"}]}]}}}` {
		t.Errorf("%s, %v", out.Body, err)
	}
	if _, err = ask(t, llm.MessagesCountTokens, &dialect.Request{Body: body}, &dialect.Target{Model: nova}); !fault.Has(err, fault.NotSupported) {
		t.Errorf("without a call: %v", err)
	}
	a, err := translateResponse(llm.MessagesCountTokens, &dialect.Incoming{Body: []byte(`{"inputTokens":12}`)})
	if err != nil || string(a.Body) != `{"input_tokens":12}` {
		t.Errorf("%+v, %v", a, err)
	}
	if _, err := translateResponse(llm.MessagesCountTokens, &dialect.Incoming{Body: []byte(`{}`)}); !fault.Has(err, fault.UpstreamInvalid) {
		t.Error(err)
	}
}
