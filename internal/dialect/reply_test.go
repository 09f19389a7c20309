package dialect_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"sluice/internal/dialect"
	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/sniff"
	"sluice/internal/dialect/upstreamerror"
	"sluice/internal/dialect/usage"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
)

func TestUsage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		ep    llm.Endpoint
		path  string
		body  string
		want  llm.Usage
		model string
	}{
		{"chat", llm.ChatComplete, "", `{"id":"c","model":"gpt-4o-mini-2024-07-18","choices":[{"message":{"content":"\"usage\":{}"}}],"usage":{"prompt_tokens":9,"completion_tokens":12,"total_tokens":21,"prompt_tokens_details":{"cached_tokens":4,"audio_tokens":2},"completion_tokens_details":{"reasoning_tokens":5,"audio_tokens":1,"accepted_prediction_tokens":0}}}`,
			llm.Usage{InputTokens: 9, OutputTokens: 12, TotalTokens: 21, CachedTokens: 4, InputAudioTokens: 2, ReasoningTokens: 5, OutputAudioTokens: 1, Reported: true}, "gpt-4o-mini-2024-07-18"},
		{"DeepSeek counts cache hits apart", llm.ChatComplete, "", `{"model":"deepseek-chat","usage":{"prompt_tokens":9,"prompt_cache_hit_tokens":8,"completion_tokens":1,"total_tokens":10}}`,
			llm.Usage{InputTokens: 9, OutputTokens: 1, TotalTokens: 10, CachedTokens: 8, Reported: true}, "deepseek-chat"},
		{"Groq", llm.ChatComplete, "x_groq.usage", `{"model":"llama","x_groq":{"id":"r","usage":{"prompt_tokens":1,"completion_tokens":2}}}`,
			llm.Usage{InputTokens: 1, OutputTokens: 2, TotalTokens: 3, Reported: true}, "llama"},
		{"embeddings", llm.Embed, "", `{"object":"list","data":[{"embedding":[0.1,-0.2e-3]}],"model":"text-embedding-3-small","usage":{"prompt_tokens":8,"total_tokens":8}}`,
			llm.Usage{InputTokens: 8, TotalTokens: 8, Reported: true}, "text-embedding-3-small"},
		{"a response", llm.CreateModelResponse, "", `{"id":"resp_1","model":"gpt-4.1","usage":{"input_tokens":36,"input_tokens_details":{"cached_tokens":0},"output_tokens":87,"output_tokens_details":{"reasoning_tokens":64},"total_tokens":123}}`,
			llm.Usage{InputTokens: 36, OutputTokens: 87, TotalTokens: 123, ReasoningTokens: 64, Reported: true}, "gpt-4.1"},
		{"messages count the cache apart", llm.Messages, "", `{"model":"claude-sonnet-4","usage":{"input_tokens":10,"cache_creation_input_tokens":5,"cache_read_input_tokens":100,"output_tokens":7}}`,
			llm.Usage{InputTokens: 115, OutputTokens: 7, TotalTokens: 122, CachedTokens: 100, CacheWriteTokens: 5, Reported: true}, "claude-sonnet-4"},
		{"messages kept in the cache for an hour, and fast", llm.Messages, "", `{"usage":{"input_tokens":10,"cache_creation_input_tokens":500,"cache_creation":{"ephemeral_5m_input_tokens":200,"ephemeral_1h_input_tokens":300},"service_tier":"standard","speed":"fast","output_tokens":7}}`,
			llm.Usage{InputTokens: 510, OutputTokens: 7, TotalTokens: 517, CacheWriteTokens: 500, CacheHourTokens: 300, Tier: "fast", Reported: true}, ""},
		{"a chat with priority", llm.ChatComplete, "", `{"service_tier":"priority","usage":{"prompt_tokens":9,"completion_tokens":1,"total_tokens":10}}`,
			llm.Usage{InputTokens: 9, OutputTokens: 1, TotalTokens: 10, Tier: "priority", Reported: true}, ""},
		{"a chat as usual", llm.ChatComplete, "", `{"service_tier":"default"}`, llm.Usage{Tier: "standard"}, ""},
		{"a transcription by tokens", llm.CreateTranscription, "", `{"text":"Hi","usage":{"type":"tokens","input_tokens":14,"input_token_details":{"text_tokens":10,"audio_tokens":4},"output_tokens":101,"total_tokens":115}}`,
			llm.Usage{InputTokens: 14, OutputTokens: 101, TotalTokens: 115, InputAudioTokens: 4, Reported: true}, ""},
		{"a transcription by time", llm.CreateTranscription, "", `{"text":"Hi","duration":8.47,"usage":{"type":"duration","seconds":9}}`,
			llm.Usage{AudioSeconds: 9, Reported: true}, ""},
		{"a transcription with its length as text", llm.CreateTranslation, "", `{"language":"english","duration":"8.470000267028809","text":"Hi"}`,
			llm.Usage{AudioSeconds: 8.470000267028809, Reported: true}, ""},
		{"a transcript as plain text", llm.CreateTranscription, "", "1\n00:00:00,000 --> 00:00:02,000\nHi\n", llm.Usage{}, ""},
		{"images", llm.ImageGenerate, "", `{"created":1,"data":[{"b64_json":"aGk="}],"usage":{"total_tokens":100,"input_tokens":50,"output_tokens":50,"input_tokens_details":{"text_tokens":10,"image_tokens":40},"output_tokens_details":{"image_tokens":50,"text_tokens":0}}}`,
			llm.Usage{InputTokens: 50, OutputTokens: 50, TotalTokens: 100, InputImageTokens: 40, OutputImageTokens: 50, Reported: true}, ""},
		{"rerank as Cohere", llm.Rerank, "", `{"results":[],"meta":{"billed_units":{"search_units":1}}}`, llm.Usage{SearchUnits: 1, Reported: true}, ""},
		{"searches of Perplexity", llm.ChatComplete, "", `{"usage":{"prompt_tokens":19,"completion_tokens":498,"total_tokens":517,"citation_tokens":1017,"num_search_queries":48,"reasoning_tokens":953,"search_context_size":"high","cost":{"request_cost":0.005,"total_cost":0.0050235}}}`,
			llm.Usage{InputTokens: 19, OutputTokens: 1451, TotalTokens: 1470, ReasoningTokens: 953, CitationTokens: 1017, SearchUnits: 48, SearchContext: "high", CostNano: 5023500, Reported: true}, ""},
		{"thoughts of xAI, beside the answer", llm.ChatComplete, "", `{"usage":{"prompt_tokens":32,"completion_tokens":9,"total_tokens":135,"prompt_tokens_details":{"cached_tokens":6},"completion_tokens_details":{"reasoning_tokens":94,"audio_tokens":0},"num_sources_used":0}}`,
			llm.Usage{InputTokens: 32, OutputTokens: 103, TotalTokens: 135, CachedTokens: 6, ReasoningTokens: 94, Reported: true}, ""},
		{"thoughts of OpenAI, within the answer", llm.ChatComplete, "", `{"usage":{"prompt_tokens":32,"completion_tokens":103,"total_tokens":135,"completion_tokens_details":{"reasoning_tokens":94}}}`,
			llm.Usage{InputTokens: 32, OutputTokens: 103, TotalTokens: 135, ReasoningTokens: 94, Reported: true}, ""},
		{"thoughts of Gemini, in the total alone", llm.ChatComplete, "", `{"usage":{"completion_tokens":102,"prompt_tokens":758,"total_tokens":1725},"model":"gemini-2.5-pro"}`,
			llm.Usage{InputTokens: 758, OutputTokens: 967, TotalTokens: 1725, ReasoningTokens: 865, Reported: true}, "gemini-2.5-pro"},
		{"thoughts of Gemini, told", llm.ChatComplete, "", `{"model":"google/gemini-2.5-pro","usage":{"completion_tokens":102,"prompt_tokens":758,"total_tokens":1725,"completion_tokens_details":{"reasoning_tokens":865}}}`,
			llm.Usage{InputTokens: 758, OutputTokens: 967, TotalTokens: 1725, ReasoningTokens: 865, Reported: true}, "google/gemini-2.5-pro"},
		{"thoughts of Gemini, within the answer", llm.ChatComplete, "", `{"model":"gemini-2.5-pro","usage":{"completion_tokens":967,"prompt_tokens":758,"total_tokens":1725,"completion_tokens_details":{"reasoning_tokens":865}}}`,
			llm.Usage{InputTokens: 758, OutputTokens: 967, TotalTokens: 1725, ReasoningTokens: 865, Reported: true}, "gemini-2.5-pro"},
		{"a total alone of Gemini", llm.Embed, "", `{"model":"gemini-embedding-001","usage":{"prompt_tokens":0,"total_tokens":9}}`, llm.Usage{InputTokens: 9, TotalTokens: 9, Reported: true}, "gemini-embedding-001"},
		{"another's total with what was cached", llm.ChatComplete, "", `{"model":"claude-sonnet-4-6","usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":915,"cache_read_input_tokens":900}}`,
			llm.Usage{InputTokens: 10, OutputTokens: 5, TotalTokens: 915, CachedTokens: 900, Reported: true}, "claude-sonnet-4-6"},
		{"what of a conversation was cached", llm.Realtime, "", `{"usage":{"total_tokens":253,"input_tokens":132,"output_tokens":121,"input_token_details":{"text_tokens":49,"audio_tokens":63,"image_tokens":20,"cached_tokens":64,"cached_tokens_details":{"text_tokens":32,"audio_tokens":24,"image_tokens":8}},"output_token_details":{"text_tokens":30,"audio_tokens":91}}}`,
			llm.Usage{InputTokens: 132, OutputTokens: 121, TotalTokens: 253, CachedTokens: 64, InputAudioTokens: 63, InputImageTokens: 20, OutputAudioTokens: 91, CachedAudioTokens: 24, CachedImageTokens: 8, Reported: true}, ""},
		{"the one search of Perplexity", llm.ChatComplete, "", `{"usage":{"prompt_tokens":9,"completion_tokens":163,"total_tokens":172,"search_context_size":"medium","cost":{"input_tokens_cost":0.0,"output_tokens_cost":0.0,"request_cost":0.008,"total_cost":0.008}}}`,
			llm.Usage{InputTokens: 9, OutputTokens: 163, TotalTokens: 172, SearchUnits: 1, SearchContext: "medium", CostNano: 8000000, Reported: true}, ""},
		{"no search of Perplexity", llm.ChatComplete, "", `{"usage":{"prompt_tokens":9,"completion_tokens":163,"total_tokens":172,"search_context_size":"low","cost":{"request_cost":0,"total_cost":0.0001}}}`,
			llm.Usage{InputTokens: 9, OutputTokens: 163, TotalTokens: 172, SearchContext: "low", CostNano: 100000, Reported: true}, ""},
		{"a cost in no dollars, a context of no price", llm.ChatComplete, "", `{"usage":{"cost":{"currency":"EUR","total_cost":1},"search_context_size":"vast","num_search_queries":"many"}}`, llm.Usage{}, ""},
		{"a cost beyond all sums", llm.ChatComplete, "", `{"usage":{"cost":{"total_cost":1e300}}}`, llm.Usage{}, ""},
		{"searches of Anthropic", llm.Messages, "", `{"usage":{"input_tokens":5,"output_tokens":7,"server_tool_use":{"web_search_requests":3,"web_fetch_requests":1}}}`,
			llm.Usage{InputTokens: 5, OutputTokens: 7, TotalTokens: 12, SearchUnits: 3, Reported: true}, ""},
		{"searches of xAI", llm.CreateModelResponse, "", `{"usage":{"input_tokens":5,"output_tokens":7,"total_tokens":12,"server_side_tool_usage_details":{"web_search_calls":2,"x_search_calls":1,"code_interpreter_calls":4,"file_search_calls":5}}}`,
			llm.Usage{InputTokens: 5, OutputTokens: 7, TotalTokens: 12, SearchUnits: 3, FileSearches: 5, CodeSessions: 4, Reported: true}, ""},
		{"further tools of xAI, and what it says the call cost", llm.CreateModelResponse, "", `{"usage":{"input_tokens":5,"output_tokens":7,"total_tokens":12,"cost_in_usd_ticks":37756005,"server_side_tool_usage_details":{"collections_search_calls":2,"attachment_search_calls":3,"web_search_calls":0}}}`,
			llm.Usage{InputTokens: 5, OutputTokens: 7, TotalTokens: 12, FileSearches: 2, CostNano: 3775601, Units: [llm.UnitCount]int64{llm.AttachmentSearches: 3}, Reported: true}, ""},
		{"what xAI says that pictures cost", llm.ImageGenerate, "", `{"data":[{"url":"https://img.example/1.png"}],"usage":{"cost_in_usd_ticks":200000000}}`, llm.Usage{CostNano: 20000000}, ""},
		{"sources behind searches of xAI", llm.CreateModelResponse, "", `{"usage":{"input_tokens":5,"output_tokens":7,"total_tokens":12,"server_side_tool_usage_details":{"web_search_calls":2},"num_sources_used":9}}`,
			llm.Usage{InputTokens: 5, OutputTokens: 7, TotalTokens: 12, SearchUnits: 2, Reported: true}, ""},
		{"code of Anthropic", llm.Messages, "", `{"usage":{"input_tokens":5,"output_tokens":7,"server_tool_use":{"code_execution_requests":2}}}`,
			llm.Usage{InputTokens: 5, OutputTokens: 7, TotalTokens: 12, CodeSessions: 2, Reported: true}, ""},
		{"tools of OpenAI by their items", llm.CreateModelResponse, "", `{"output":[` + toolItems + `],"usage":{"input_tokens":5,"output_tokens":7,"total_tokens":12}}`,
			llm.Usage{InputTokens: 5, OutputTokens: 7, TotalTokens: 12, SearchUnits: 2, FileSearches: 2, CodeSessions: 3, Reported: true}, ""},
		{"tools of OpenAI, of which it counts the searches", llm.CreateModelResponse, "", `{"tool_usage":{"web_search":{"num_requests":1}},"output":[` + toolItems + `],"usage":{"input_tokens":5,"output_tokens":7,"total_tokens":12}}`,
			llm.Usage{InputTokens: 5, OutputTokens: 7, TotalTokens: 12, SearchUnits: 1, FileSearches: 2, CodeSessions: 3, Reported: true}, ""},
		{"tools of OpenAI at the end of a stream", llm.CreateModelResponse, "", `{"type":"response.completed","response":{"output":[` + toolItems + `],"usage":{"input_tokens":5,"output_tokens":7,"total_tokens":12},"tool_usage":{"web_search":{"num_requests":0}}}}`,
			llm.Usage{InputTokens: 5, OutputTokens: 7, TotalTokens: 12, FileSearches: 2, CodeSessions: 3, Reported: true}, ""},
		{"what a model says of tools", llm.CreateModelResponse, "", `{"output":[{"type":"message","content":[{"type":"output_text","text":"file_search_call"}]},{"type":"function_call","name":"file_search_call"},7,null]}`, llm.Usage{}, ""},
		{"items of another endpoint", llm.ChatComplete, "", `{"output":[` + toolItems + `]}`, llm.Usage{}, ""},
		{"searches of OpenAI", llm.CreateModelResponse, "", `{"usage":{"input_tokens":5,"output_tokens":7,"total_tokens":12},"tool_usage":{"web_search":{"num_requests":2}}}`,
			llm.Usage{InputTokens: 5, OutputTokens: 7, TotalTokens: 12, SearchUnits: 2, Reported: true}, ""},
		{"tools of Perplexity", llm.CreateModelResponse, "", `{"model":"openai/gpt-5.2","output":[{"type":"search_results"}],"usage":{"input_tokens":3681,"input_tokens_details":{"cache_creation_input_tokens":20,"cache_read_input_tokens":30},"output_tokens":780,"total_tokens":4461,"cost":{"currency":"USD","input_cost":0.0046,"output_cost":0.0078,"tool_calls_cost":0.005,"total_cost":0.0174},"tool_calls_details":{"search_web":{"invocation":2},"fetch_url":{"invocation":3},"search_people":1,"finance_search":{"invocation":4},"a_function":{"invocation":9}}}}`,
			llm.Usage{InputTokens: 3681, OutputTokens: 780, TotalTokens: 4461, CachedTokens: 30, CacheWriteTokens: 20, SearchUnits: 2, CostNano: 17400000, Units: [llm.UnitCount]int64{llm.URLFetches: 3, llm.PeopleSearches: 1, llm.FinanceSearches: 4}, Reported: true}, "openai/gpt-5.2"},
		{"the pictures of a tool", llm.CreateModelResponse, "", `{"usage":{"input_tokens":5,"output_tokens":7,"total_tokens":12},"tool_usage":{"image_gen":{"input_tokens":300,"input_tokens_details":{"text_tokens":12,"image_tokens":288},"output_tokens":196,"total_tokens":496},"web_search":{"num_requests":0}}}`,
			llm.Usage{InputTokens: 5, OutputTokens: 7, TotalTokens: 12, Units: [llm.UnitCount]int64{llm.DrawingTextInput: 12, llm.DrawingImageInput: 288, llm.DrawingOutput: 196}, Reported: true}, ""},
		{"a memory without a container", llm.CreateModelResponse, "", `{"tools":[{"type":"code_interpreter","container":{"type":"auto","memory_limit":"4g"}}],"usage":{"input_tokens":5,"output_tokens":7,"total_tokens":12}}`,
			llm.Usage{InputTokens: 5, OutputTokens: 7, TotalTokens: 12, Reported: true}, ""},
		{"the largest of containers", llm.CreateModelResponse, "", `{"type":"response.completed","response":{"tools":[{"type":"shell","environment":{"type":"container_auto","memory_limit":"16g"}},{"type":"code_interpreter","container":{"type":"auto","memory_limit":"4g"}},{"type":"code_interpreter","container":"cntr_1"}],"output":[{"type":"code_interpreter_call","container_id":"cntr_1"}],"usage":{"input_tokens":5,"output_tokens":7,"total_tokens":12}}}`,
			llm.Usage{InputTokens: 5, OutputTokens: 7, TotalTokens: 12, CodeSessions: 1, CodeMemory: "16g", Reported: true}, ""},
		{"rerank as Jina", llm.Rerank, "", `{"model":"jina-reranker-v2","results":[],"usage":{"total_tokens":815}}`, llm.Usage{InputTokens: 815, TotalTokens: 815, Reported: true}, "jina-reranker-v2"},
		{"odd numbers", llm.ChatComplete, "", `{"usage":{"prompt_tokens":12.0,"completion_tokens":-1,"total_tokens":1e99}}`, llm.Usage{InputTokens: 12, TotalTokens: 12, Reported: true}, ""},
		{"usage that says nothing", llm.ChatComplete, "", `{"model":7,"usage":null}`, llm.Usage{}, ""},
		{"usage of strings", llm.ChatComplete, "", `{"usage":{"prompt_tokens":"many"}}`, llm.Usage{}, ""},
		{"no JSON", llm.ChatComplete, "", `<html>`, llm.Usage{}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, model := usage.Read(c.ep, []byte(c.body), c.path); got != c.want || model != c.model {
				t.Errorf("got %+v of %q\nwant %+v of %q", got, model, c.want, c.model)
			}
		})
	}
}

// toolItems are the items of tools that OpenAI runs: two searches of the web and what came
// of one, two of files, and code in three containers, one of which has no name.
const toolItems = `{"type":"web_search_call","action":{"type":"search","query":"q"}},{"type":"web_search_call","action":{"type":"open_page"}},{"type":"web_search_call"},` +
	`{"type":"file_search_call","queries":["a","b"]},{"type":"file_search_call"},` +
	`{"type":"code_interpreter_call","container_id":"cntr_1"},{"type":"code_interpreter_call","container_id":"cntr_2"},{"type":"code_interpreter_call","container_id":"cntr_1"},{"type":"code_interpreter_call"}`

func TestUsageAllocatesOnlyTheModel(t *testing.T) {
	body := []byte(`{"id":"c","model":"gpt-4o-mini-2024-07-18","choices":[{"message":{"content":"Hi"}}],"usage":{"prompt_tokens":9,"completion_tokens":12,"total_tokens":21}}`)
	if n := testing.AllocsPerRun(100, func() {
		if u, _ := usage.Read(llm.ChatComplete, body, "x_groq.usage"); u.TotalTokens != 21 {
			t.Fatal(u)
		}
	}); n > 1 {
		t.Errorf("%v allocations, want 1", n)
	}
}

func TestReplyRules(t *testing.T) {
	t.Parallel()
	reason := dialect.ResponseRules{FinishReasons: map[string]string{"model_length": "length"}}
	for _, c := range []struct {
		name        string
		ep          llm.Endpoint
		rules       dialect.ResponseRules
		input, want string
	}{
		{"no rules", llm.ChatComplete, dialect.ResponseRules{}, ` { "a":1}`, ` { "a":1}`},
		{"finish reasons", llm.ChatComplete, reason, `{ "choices": [ {"finish_reason": "model_length"}, {"finish_reason":null} ] }`, `{ "choices": [ {"finish_reason": "length"}, {"finish_reason":null} ] }`},
		{"finish reasons of another surface", llm.Embed, reason, `{"choices":[{"finish_reason":"model_length"}]}`, `{"choices":[{"finish_reason":"model_length"}]}`},
		{"usage elsewhere", llm.ChatComplete, dialect.ResponseRules{UsagePath: "x_groq.usage"}, `{"x_groq":{"usage":{"a":1}},"usage":null}`, `{"x_groq":{"usage":{"a":1}},"usage":{"a":1}}`},
		{"usage in both places", llm.ChatComplete, dialect.ResponseRules{UsagePath: "x_groq.usage"}, `{"x_groq":{"usage":{"a":1}},"usage":{"a":2}}`, `{"x_groq":{"usage":{"a":1}},"usage":{"a":2}}`},
		{"extras", llm.ChatComplete, dialect.ResponseRules{Extras: []string{"citations", "images"}}, `{"citations":["a"],"choices":[{"citations":1}]}`, `{"choices":[{"citations":1}]}`},
		{"extras of another endpoint", llm.Embed, dialect.ResponseRules{Extras: []string{"citations"}}, `{"citations":["a"]}`, `{"citations":["a"]}`},
		{"names", llm.ImageGenerate, dialect.ResponseRules{Rename: []fields.Rename{{Path: "images", To: "data"}, {Path: "data[*].image", To: "b64_json"}}}, `{"images":[{"image":"aGk="}]}`, `{"data":[{"b64_json":"aGk="}]}`},
		{"lists become texts", llm.ChatComplete, dialect.ResponseRules{ContentLists: true, FinishReasons: map[string]string{"model_length": "length"}}, `{"id":1,"choices":[{"index":0,"message":{"role":"assistant","content": [{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"text","text":"a\n"},{"type":"text","text":"b"}],"x":1},"finish_reason":"model_length"},{"message":{"content":null}}],"z":[]}`,
			`{"id":1,"choices":[{"index":0,"message":{"role":"assistant","content":"a\nb","x":1},"finish_reason":"length"},{"message":{"content":null}}],"z":[]}`},
		{"lists become texts and blocks", llm.ChatComplete, dialect.ResponseRules{ContentLists: true, Blocks: true}, `{"choices":[{"message":{"content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"a"}]}},{"message":{"content":"b"}}]}`,
			`{"choices":[{"message":{"content":"a","content_blocks":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"a"}]}},{"message":{"content":"b"}}]}`},
		{"lists of another endpoint", llm.Embed, dialect.ResponseRules{ContentLists: true}, `{"choices":[{"message":{"content":[]}}]}`, `{"choices":[{"message":{"content":[]}}]}`},
		{"texts stay as they are", llm.ChatComplete, dialect.ResponseRules{ContentLists: true, Blocks: true}, `{"choices": [{"message":{"content":"say \"content\":["}}] }`, `{"choices": [{"message":{"content":"say \"content\":["}}] }`},
		{"lists of what has no choices", llm.ChatComplete, dialect.ResponseRules{ContentLists: true}, `{"content":[null]}`, `{"content":[null]}`},
		{"no JSON", llm.ChatComplete, reason, `<html>`, `<html>`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := string(c.rules.Apply(c.ep, []byte(c.input))); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestValidReply(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ep      llm.Endpoint
		body    string
		message string
	}{
		{llm.ChatComplete, ` {"choices":[]} ` + "\n", ""},
		{llm.CreateSpeech, "\xff\xfb\x90", ""},
		{llm.CreateTranscription, "Hi", ""},
		{llm.Proxy, "", ""},
		{llm.ChatComplete, "", "it is empty"},
		{llm.Embed, `{"data":[`, "malformed or truncated"},
		{llm.Embed, `[1]`, "another format"},
		{llm.ListModels, "<!doctype html><html>secret.internal</html>", "looks like a web page"},
	} {
		err := sniff.CheckObject(c.ep, []byte(c.body))
		if c.message == "" {
			if err != nil {
				t.Errorf("%s %q: %v", c.ep, c.body, err)
			}
			continue
		}
		if !fault.Has(err, fault.UpstreamInvalid) || !strings.Contains(err.Error(), c.message) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s %q: %v", c.ep, c.body, err)
		}
	}
}

func TestNormalise(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		shape, provider string
		status          int
		body            string
		want            string // message | type | param | code; - for null
	}{
		{"openai", "openai", 401, `{"error":{"message":"Incorrect API key provided.","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`, "openai error: Incorrect API key provided.|invalid_request_error|-|invalid_api_key"},
		{"openai", "custom", 400, `{"error":{"message":"too long","type":"BadRequestError","param":"messages","code":400}}`, "custom error: too long|BadRequestError|messages|400"},
		{"openai_msg_type", "ollama", 404, `{"error":{"message":"no model","type":"api_error","param":"x","code":"y"}}`, "ollama error: no model|api_error|-|y"},
		{"openai_code_str", "perplexity-ai", 400, `{"error":{"message":"bad","type":"t","code":400}}`, "perplexity-ai error: bad|t|-|400"},
		{"flat", "mistral-ai", 422, `{"object":"error","message":"Invalid model","type":"invalid_model","param":null,"code":"1500"}`, "mistral-ai error: Invalid model|invalid_model|-|1500"},
		{"flat", "deepseek", 402, `{"error":{"message":"Insufficient Balance","type":"unknown_error","param":null,"code":"invalid_request_error"}}`, "deepseek error: Insufficient Balance|unknown_error|-|invalid_request_error"},
		{"message", "x", 400, `{"message":"m","type":"t"}`, "x error: m|-|-|-"},
		{"aws", "sagemaker", 400, `{"Message":"no endpoint"}`, "sagemaker error: no endpoint|-|-|-"},
		{"cohere", "cohere", 400, `{"id":"1","message":"invalid"}`, "cohere error: invalid|-|-|-"},
		{"detail_str", "jina", 401, `{"detail":"no key"}`, "jina error: no key|-|-|-"},
		{"detail_list", "anyscale", 422, `{"detail":[{"loc":["body","n",0],"msg":"too large","type":"value_error"},{"loc":[],"msg":"and more"}]}`, "anyscale error: body.n.0: too large, and more|value_error|-|-"},
		{"error_str", "x", 500, `{"error":"boom"}`, "x error: boom|-|-|-"},
		{"error_str_status", "huggingface", 503, `{"error":"Model is loading","estimated_time":20}`, "huggingface error: Model is loading|-|-|503"},
		{"anthropic", "anthropic", 529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, "anthropic error: Overloaded|overloaded_error|-|-"},
		{"google", "google", 400, `[{"error":{"code":400,"message":"API key not valid","status":"INVALID_ARGUMENT"}}]`, "google error: API key not valid|INVALID_ARGUMENT|-|400"},
		{"cloudflare", "workers-ai", 400, `{"success":false,"errors":[{"code":5007,"message":"No such model"},{"code":1,"message":"x"}]}`, "workers-ai error: Error 5007:No such model, Error 1:x|-|-|-"},
		{"together", "together-ai", 400, `{"error":"bad model"}`, "together-ai error: bad model|-|-|-"},
		{"together", "together-ai", 400, `{"error":{"message":"m","type":"t","param":"p","code":"c"}}`, "together-ai error: m|t|p|c"},
		{"together", "novita-ai", 400, `{"message":"m","type":"t"}`, "novita-ai error: m|t|-|-"},
		{"fireworks", "fireworks-ai", 401, `{"fault":{"faultstring":"Invalid ApiKey","detail":{"errorcode":"oauth.v2.InvalidApiKey"}}}`, "fireworks-ai error: Invalid ApiKey|-|-|oauth.v2.InvalidApiKey"},
		{"fireworks", "fireworks-ai", 401, `{"error":{"object":"error","type":"t","message":"m"}}`, "fireworks-ai error: m|t|-|-"},
		{"stability_v1", "stability-ai", 400, `{"id":"1","name":"bad_request","message":"m"}`, "stability-ai error: m|bad_request|-|-"},
		{"stability_v2", "stability-ai", 400, `{"id":"1","name":"bad_request","errors":["a","b"]}`, "stability-ai error: a, b|bad_request|1|-"},
		{"oci", "oracle", 404, `{"code":"NotFound","message":"m"}`, "oracle error: m|NotFound|-|NotFound"},
		{"html", "segmind", 502, "<html>Bad Gateway</html>", "segmind error: <html>Bad Gateway</html>|-|-|502"},
		{"reka", "reka-ai", 400, `{"detail":{"a":1}}`, `reka-ai error: {"a":1}|-|-|-`},
		{"xai", "x-ai", 400, `{"code":"Client specified an invalid argument","error":"Incorrect API key"}`, "x-ai error: Incorrect API key|-|-|Client specified an invalid argument"},
		{"unknown", "x", 400, `{"error":{"message":"m"}}`, "x error: m|-|-|-"},
		{"openai", "x", 500, `{ "odd": [1, 2] }`, `Invalid response received from x: {"odd":[1,2]}|-|-|-`},
		{"openai", "x", 500, `"text"`, `Invalid response received from x: "text"|-|-|-`},
		{"openai", "x", 503, "", "Invalid response received from x: empty body with status 503|-|-|-"},
		{"openai", "x", 502, "<html>\xff</html>", `Invalid response received from x: {"html-message":"\u003chtml\u003e\u003c/html\u003e"}|-|-|-`},
	} {
		t.Run(c.shape+" "+c.body[:min(len(c.body), 30)], func(t *testing.T) {
			var got struct {
				Error struct {
					Message           string
					Type, Param, Code *string
				}
				Provider string
			}
			out := upstreamerror.Failure{Shape: c.shape, Provider: c.provider, Status: c.status, Body: []byte(c.body)}.Normalised()
			if err := json.Unmarshal(out, &got); err != nil {
				t.Fatal(err)
			}
			line := got.Error.Message
			for _, s := range []*string{got.Error.Type, got.Error.Param, got.Error.Code} {
				if s == nil {
					line += "|-"
				} else {
					line += "|" + *s
				}
			}
			if line != c.want || got.Provider != c.provider {
				t.Errorf("got  %s\nwant %s", line, c.want)
			}
		})
	}
}

// OpenAI calls a wrong key and a missing model an invalid request. Anthropic's clients know
// errors by the types that Anthropic gives these statuses, and what to do by their details.
func TestErrorTypesOfMessages(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		shape  string
		status int
		body   string
		want   string // members of the error beside its message
	}{
		{"openai", 401, `{"error":{"message":"m","type":"invalid_request_error","details":{"a":1}}}`, `"type":"authentication_error","details":{"a":1}`},
		{"openai", 404, `{"error":{"message":"m","type":"invalid_request_error"}}`, `"type":"not_found_error"`},
		{"openai", 400, `{"error":{"message":"m","type":"invalid_request_error"}}`, `"type":"invalid_request_error"`},
		{"openai", 429, `{"error":{"message":"m","type":"insufficient_quota"}}`, `"type":"rate_limit_error"`},
		{"openai", 500, `{"error":{"message":"m","type":"server_error"}}`, `"type":"api_error"`},
		{"openai", 503, `{"error":{"message":"m","type":"server_error"}}`, `"type":"overloaded_error"`},
		{"openai", 500, `{"type":"error","error":{"message":"m","type":"new_error"}}`, `"type":"new_error"`},
		{"anthropic", 413, `{"type":"error","error":{"type":"request_too_large","message":"m"}}`, `"type":"request_too_large"`},
		{"anthropic", 403, `{"type":"error","error":{"type":"brand_new_error","message":"m","details":null}}`, `"type":"brand_new_error"`},
		{"anthropic", 404, `{"type":"error","error":{"type":"not_found_error","message":"m","details":{"error_code":"thread_not_found"}}}`, `"type":"not_found_error","details":{"error_code":"thread_not_found"}`},
		{"anthropic", 500, `{"error":{"message":"m","type":"html"}}`, `"type":"api_error"`},
	} {
		f := upstreamerror.Failure{Shape: c.shape, Provider: "p", Status: c.status, Body: []byte(c.body)}
		typ, details, _ := strings.Cut(c.want, `,"details"`)
		if details != "" {
			details = `,"details"` + details
		}
		want := `{"type":"error","error":{` + typ + `,"message":"p error: m"` + details + `},"provider":"p"}`
		if got := string(f.ForMessages()); got != want {
			t.Errorf("%s %d %s: %s", c.shape, c.status, c.body, got)
		}
	}
	if got := string((upstreamerror.Failure{Shape: "anthropic", Provider: "p", Status: 502, Body: []byte("<html>")}).ForMessages()); !strings.Contains(got, `"api_error"`) {
		t.Errorf("no JSON: %s", got)
	}
}

func TestNormaliseLeavesWhatTheGatewayMade(t *testing.T) {
	t.Parallel()
	for _, status := range []int{408, 412} {
		if got := string((upstreamerror.Failure{Shape: "openai", Provider: "openai", Status: status, Body: []byte("as it is")}).Normalised()); got != "as it is" {
			t.Errorf("%d: %s", status, got)
		}
	}
}

func TestNormaliseIsBounded(t *testing.T) {
	t.Parallel()
	for _, body := range []string{strings.Repeat("ü", 3<<20), `{"odd":"` + strings.Repeat("ü", 10000) + `"}`} {
		if out := (upstreamerror.Failure{Shape: "html", Provider: "x", Status: 500, Body: []byte(body)}).Normalised(); len(out) > 16<<10 || !utf8.Valid(out) || !json.Valid(out) {
			t.Errorf("a body of %d bytes becomes an error of %d", len(body), len(out))
		}
	}
}

func FuzzNormalise(f *testing.F) {
	f.Add("openai", []byte(`{"error":{"message":"m","code":1e400}}`))
	f.Add("detail_list", []byte(`{"detail":[1,{"loc":[{}],"msg":2}]}`))
	f.Fuzz(func(t *testing.T, shape string, body []byte) {
		if out := (upstreamerror.Failure{Shape: shape, Provider: "p", Status: 500, Body: body}).Normalised(); !json.Valid(out) || !utf8.Valid(out) {
			t.Fatalf("%q", out)
		}
	})
}

func TestFirstEvent(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, input string
		complete    bool
		status      int
	}{
		{"nothing", "", false, 0},
		{"a comment", ": OPENROUTER PROCESSING\n\n", false, 0},
		{"a name", "event: message_start\n", false, 0},
		{"half a line", chunkRole[:40], false, 0},
		{"a chunk", ": x\n\n" + chunkRole, true, 0},
		{"an overload", "event: error\n" + `data: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}` + "\n\n", true, 529},
		{"a status as code", `data: {"error":{"message":"m","code":402}}` + "\n\n", true, 402},
		{"a rate limit", `data: {"error":{"message":"m","type":"rate_limit_exceeded"}}` + "\r\n\r\n", true, 429},
		{"a word", `data: {"error":"boom"}` + "\n\n", true, 500},
		{"a response", "event: error\n" + `data: {"type":"error","code":"server_error","message":"m"}` + "\n\n", true, 500},
		{"a failed response", `data: {"type":"response.failed","response":{"error":{"code":"rate_limit_exceeded","message":"m"}}}` + "\n\n", true, 429},
		{"a ping", "event: ping\ndata: {\"type\": \"ping\"}\n\n", false, 0},
		{"an overload behind a ping", "event: ping\ndata: {\"type\": \"ping\"}\n\nevent: error\n" + `data: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}` + "\n\n", true, 529},
		{"a chunk without a name behind a ping", "event: ping\ndata: {}\n\n" + chunkRole, true, 0},
		{"an error later on", chunkRole + `data: {"error":"boom"}` + "\n\n", true, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := dialect.FirstEvent([]byte(c.input)); got != c.complete {
				t.Errorf("FirstEvent = %v", got)
			}
			if status, failed := dialect.FirstEventError([]byte(c.input)); status != c.status || failed != (c.status != 0) {
				t.Errorf("FirstEventError = %d, %v; want %d", status, failed, c.status)
			}
		})
	}
}

func TestFirstEventFailure(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]string{
		"": "", chunkRole: "",
		`data: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}` + "\n\n":      `{"error":{"message":"Overloaded","type":"overloaded_error"}}`,
		`data: {"error":{"message":"m","code":402}}` + "\n\n":                                             `{"error":{"message":"m","code":"402"}}`,
		"event: error\n" + `data: {"type":"error","code":"server_error","message":"m"}` + "\n\n":          `{"error":{"message":"m","type":"server_error","code":"server_error"}}`,
		"event: error\n" + `data: {"type":"error","code":500,"message":"m","sequence_number":0}` + "\n\n": `{"error":{"message":"m","code":"500"}}`,
		`data: {"error":"boom"}` + "\n\n":                                                                 `{"error":{"message":"boom"}}`,
	} {
		if got := dialect.FirstEventFailure([]byte(input)); string(got) != want {
			t.Errorf("%s: %s, want %s", input, got, want)
		}
	}
}

func TestErrorEvent(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ep   llm.Endpoint
		want string
	}{
		{llm.ChatComplete, `data: {"error":{"code":null,"message":"it \"ended\"","param":null,"type":"upstream_error"}}` + "\n\n"},
		{llm.Complete, `data: {"error":{"code":null,"message":"it \"ended\"","param":null,"type":"upstream_error"}}` + "\n\n"},
		{llm.CreateModelResponse, "event: error\n" + `data: {"code":"upstream_error","message":"it \"ended\"","param":null,"sequence_number":0,"type":"error"}` + "\n\n"},
		{llm.Messages, "event: error\n" + `data: {"error":{"message":"it \"ended\"","type":"api_error"},"type":"error"}` + "\n\n"},
		{llm.CreateTranscription, "event: error\n" + `data: {"error":{"code":null,"message":"it \"ended\"","param":null,"type":"upstream_error"},"type":"error"}` + "\n\n"},
	} {
		ev := upstreamerror.Event(c.ep, `it "ended"`, "upstream_error")
		if string(ev) != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.ep, ev, c.want)
		}
		if _, failed := dialect.FirstEventError(ev); !failed {
			t.Errorf("%s: we would not know our own error event", c.ep)
		}
	}
}

// The number of an error in a list is in its text.
func TestListedErrorKeepsItsNumber(t *testing.T) {
	t.Parallel()
	ev, ok := upstreamerror.ReadEvent([]byte(`{"errors":[{"code":3030,"message":"boom"}],"success":false}`))
	if !ok || ev.Text != "Error 3030:boom" || ev.ID != "" {
		t.Errorf("%v %+v", ok, ev)
	}
}
