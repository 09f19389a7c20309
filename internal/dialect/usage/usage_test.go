package usage_test

import (
	"encoding/json"
	"strings"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/usage"
	"sluice/internal/kernel/llm"
)

// Numbers that are none, are beyond what a call uses, or are told in another way than JSON's.
var oddNumbers = []string{
	"12", "12.0", "12.7", "-1", "-0", "0", "1e3", "1e308", "-1e308", "1e999", "9223372036854775807", "-9223372036854775808", "1125899906842624", "1125899906842625",
	"NaN", "-NaN", "Inf", "-Inf", "+Inf", "Infinity", "0x1p4", "1_000", `"12"`, `"NaN"`, `"-Inf"`, `"infinity"`, `"-3"`, `"1e308"`, `""`, "null", "true", "[]", "[12]", "{}", `{"total_cost":12}`,
}

// places of a number in an answer, N.
var numberTemplates = []string{
	`"duration":N`, `"usage":{"cost":{"total_cost":N}}`, `"usage":{"cost":{"total_cost":N,"currency":"USD"}}`,
	`"usage":{"server_tool_use":{"web_search_requests":N,"x_search_calls":N,"web_search_calls":N}}`,
	`"usage":{"output_tokens":N,"reasoning_tokens":N,"citation_tokens":N}`, `"usage":{"input_tokens":N,"cache_creation":{"ephemeral_1h_input_tokens":N}}`,
	`"usageMetadata":{"promptTokenCount":N,"toolUsePromptTokenCount":N,"candidatesTokenCount":N,"thoughtsTokenCount":N}`, `"eval_count":N,"prompt_eval_count":N`,
	`"usage":{"inputTokens":N,"outputTokens":N,"totalTokens":N,"cacheReadInputTokens":N}`, `"usage":{"tokens":{"input_tokens":N},"billed_units":N}`,
	`"meta":{"billed_units":{"search_units":N}}`, `"usage_info":{"pages_processed":N}`, `"response":{"usage":{"input_tokens":N}}`, `"x":{"usage":{"seconds":N}}`,
}

// Whatever number a provider gives of anything, what is read is one from 0 on that can be put
// on record, also where it says it twice.
func TestUsageIsSound(t *testing.T) {
	t.Parallel()
	templates := numberTemplates
	for _, name := range []string{
		"prompt_tokens", "input_tokens", "completion_tokens", "output_tokens", "total_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "cached_tokens",
		"pages_processed", "seconds", "prompt_audio_seconds", "search_units", "num_search_queries", "citation_tokens", "reasoning_tokens",
	} {
		templates = append(templates, `"usage":{"`+name+`":N}`, `"usage":{"`+name+`":N,"`+name+`":12,"`+name+`":N}`, `"usage":{"prompt_tokens":12,"completion_tokens":3,"`+name+`":N}`)
	}
	for _, name := range []string{"cached_tokens", "cache_write_tokens", "audio_tokens", "image_tokens", "reasoning_tokens"} {
		templates = append(templates, `"usage":{"prompt_tokens_details":{"`+name+`":N},"completion_tokens_details":{"`+name+`":N}}`)
	}
	for _, template := range templates {
		for _, n := range oddNumbers {
			body := `{"model":"m",` + strings.ReplaceAll(template, "N", n) + `}`
			for _, ep := range []llm.Endpoint{llm.ChatComplete, llm.Messages, llm.CreateModelResponse, llm.Rerank, llm.OCR, llm.CreateTranscription, llm.Proxy} {
				u, _ := usage.Read(ep, []byte(body), "x.usage")
				checkRange(t, u, body)
				s := dialect.NewStream(dialect.StreamOptions{Endpoint: ep, Rules: dialect.ResponseRules{UsagePath: "x.usage"}})
				s.Feed([]byte("data: " + body + "\n\n"))
				checkRange(t, s.Usage(), body)
			}
		}
	}
}

func checkRange(t *testing.T, u llm.Usage, body string) {
	t.Helper()
	b, err := json.Marshal(u)
	if err != nil || strings.Contains(string(b), ":-") || max(u.CachedTokens, u.ReasoningTokens, u.SearchUnits, u.Pages, u.CostNano) > llm.MaxCount || u.AudioSeconds > llm.MaxCount {
		t.Errorf("%+v (%v) of %s", u, err, body)
	}
}

// What is passed through may be in its provider's own words.
func TestUsageInOwnWords(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		body  string
		model string
		want  llm.Usage
	}{
		"Gemini": {
			`{"candidates":[],"usageMetadata":{"promptTokenCount":10,"toolUsePromptTokenCount":2,"candidatesTokenCount":5,"thoughtsTokenCount":3,"cachedContentTokenCount":4,"totalTokenCount":20},"modelVersion":"gemini-2.5-flash"}`,
			"gemini-2.5-flash", llm.Usage{InputTokens: 12, OutputTokens: 8, ReasoningTokens: 3, CachedTokens: 4, TotalTokens: 20, Reported: true},
		},
		"Converse":                    {`{"usage":{"inputTokens":10,"outputTokens":5,"totalTokens":22,"cacheReadInputTokens":4,"cacheWriteInputTokens":3}}`, "", llm.Usage{InputTokens: 17, OutputTokens: 5, CachedTokens: 4, CacheWriteTokens: 3, TotalTokens: 22, Reported: true}},
		"Amazon":                      {`{"generation":"a","amazon-bedrock-invocationMetrics":{"inputTokenCount":12,"outputTokenCount":7}}`, "", llm.Usage{InputTokens: 12, OutputTokens: 7, TotalTokens: 19, Reported: true}},
		"Claude":                      {`{"type":"message","usage":{"input_tokens":10,"output_tokens":5,"cache_read_input_tokens":4,"cache_creation_input_tokens":3}}`, "", llm.Usage{InputTokens: 17, OutputTokens: 5, CachedTokens: 4, CacheWriteTokens: 3, TotalTokens: 22, Reported: true}},
		"Cohere":                      {`{"usage":{"billed_units":{"input_tokens":7,"output_tokens":5},"tokens":{"input_tokens":70,"output_tokens":5}}}`, "", llm.Usage{InputTokens: 70, OutputTokens: 5, TotalTokens: 75, FreeInputTokens: 63, Reported: true}},
		"Cohere, the other way round": {`{"usage":{"tokens":{"input_tokens":70,"output_tokens":9},"billed_units":{"input_tokens":7,"output_tokens":5}}}`, "", llm.Usage{InputTokens: 70, OutputTokens: 9, TotalTokens: 79, FreeInputTokens: 63, FreeOutputTokens: 4, Reported: true}},
		"of old":                      {`{"text":"a","meta":{"billed_units":{"input_tokens":7,"output_tokens":5}}}`, "", llm.Usage{InputTokens: 7, OutputTokens: 5, TotalTokens: 12, Reported: true}},
		"Ollama":                      {`{"model":"llama3.2","response":"Because","prompt_eval_count":26,"eval_count":3}`, "llama3.2", llm.Usage{InputTokens: 26, OutputTokens: 3, TotalTokens: 29, Reported: true}},
		"a picture of Gemini's": {`{"candidates":[],"usageMetadata":{"promptTokenCount":100,"promptTokensDetails":[{"modality":"TEXT","tokenCount":10},{"modality":"AUDIO","tokenCount":60},{"modality":"IMAGE","tokenCount":30}],"candidatesTokenCount":1300,"candidatesTokensDetails":[{"modality":"IMAGE","tokenCount":1290}],"cachedContentTokenCount":50,"cacheTokensDetails":[{"modality":"AUDIO","tokenCount":40},{"modality":"IMAGE","tokenCount":5}],"totalTokenCount":1400},"modelVersion":"gemini-2.5-flash-image"}`, "gemini-2.5-flash-image", llm.Usage{
			InputTokens: 100, OutputTokens: 1300, TotalTokens: 1400, CachedTokens: 50, InputAudioTokens: 60, InputImageTokens: 30, OutputImageTokens: 1290, CachedAudioTokens: 40, CachedImageTokens: 5, Reported: true,
		}},
		"what Amazon keeps for an hour": {
			`{"output":{},"usage":{"inputTokens":5,"outputTokens":7,"totalTokens":112,"cacheWriteInputTokens":100,"cacheDetails":[{"ttl":"5m","inputTokens":30},{"ttl":"1h","inputTokens":70}]}}`, "",
			llm.Usage{InputTokens: 105, OutputTokens: 7, TotalTokens: 112, CacheWriteTokens: 100, CacheHourTokens: 70, Reported: true},
		},
		"no number": {`{"usageMetadata":{"promptTokenCount":-1,"thoughtsTokenCount":null},"eval_count":"x"}`, "", llm.Usage{}},
	} {
		u, model := usage.Read(llm.Proxy, []byte(c.body), "")
		if u != c.want || model != c.model {
			t.Errorf("%s: %+v of %q, want %+v", name, u, model, c.want)
		}
		var s usage.Scanner
		s.Feed([]byte(c.body))
		if u, model := s.Usage(llm.Proxy); u != c.want || model != c.model {
			t.Errorf("%s, sieved: %+v of %q", name, u, model)
		}
		stream := dialect.NewStream(dialect.StreamOptions{Endpoint: llm.Proxy})
		stream.Feed([]byte("data: " + c.body + "\n\n"))
		if u := stream.Usage(); name != "of old" && name != "Ollama" && u != c.want { // whose streams are no such events
			t.Errorf("%s, in an event: %+v", name, u)
		}
		if u, _ := usage.Read(llm.ChatComplete, []byte(c.body), ""); u.Reported && name != "Claude" {
			t.Errorf("%s, on a typed route: %+v", name, u)
		}
	}
}

// What Google's other ways of asking Gemini say, which are passed through.
func TestUsageOfGeminiPassedThrough(t *testing.T) {
	t.Parallel()
	const interaction = `{"model":"gemini-3.5-flash","status":"completed","usage":{"total_input_tokens":9,"total_output_tokens":779,"total_thought_tokens":912,"total_cached_tokens":4,"total_tool_use_tokens":3,"total_tokens":1703}}`
	reported := llm.Usage{InputTokens: 12, OutputTokens: 1691, TotalTokens: 1703, CachedTokens: 4, ReasoningTokens: 912, Reported: true}
	chat := llm.Usage{InputTokens: 758, OutputTokens: 967, TotalTokens: 1725, ReasoningTokens: 865, Reported: true}
	const geminiBody = `{"model":"gemini-2.5-pro","choices":[],"usage":{"completion_tokens":102,"prompt_tokens":758,"total_tokens":1725}}`
	grounded := func(model string) string {
		return `{"candidates":[{"content":{"parts":[{"text":"sunny"}]},"groundingMetadata":{"webSearchQueries":["weather in Bern","Bern"],"groundingChunks":[{"web":{"uri":"https://bern.example"}}]}}],"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":5,"totalTokenCount":15},"modelVersion":"` + model + `"}`
	}
	searched := func(n int64) llm.Usage {
		return llm.Usage{InputTokens: 10, OutputTokens: 5, TotalTokens: 15, SearchUnits: n, Reported: true}
	}
	for name, c := range map[string]struct {
		body, event string
		want        llm.Usage
	}{
		"searches":                 {grounded("gemini-3.5-flash"), grounded("gemini-3.5-flash"), searched(2)},
		"searches of before":       {grounded("gemini-2.5-flash"), grounded("gemini-2.5-flash"), searched(1)},
		"a search for nothing":     {strings.ReplaceAll(grounded("gemini-2.5-flash"), `"web"`, `"maps"`), strings.ReplaceAll(grounded("gemini-2.5-flash"), `"web"`, `"maps"`), searched(0)},
		"an interaction":           {interaction, `{"event_type":"interaction.completed","interaction":` + interaction + `}`, reported},
		"a chat in OpenAI's words": {geminiBody, geminiBody, chat},
	} {
		if u, _ := usage.Read(llm.Proxy, []byte(c.body), ""); u != c.want {
			t.Errorf("%s: %+v, want %+v", name, u, c.want)
		}
		var s usage.Scanner
		s.Feed([]byte(c.body))
		if u, _ := s.Usage(llm.Proxy); u != c.want {
			t.Errorf("%s, sieved: %+v, want %+v", name, u, c.want)
		}
		stream := dialect.NewStream(dialect.StreamOptions{Endpoint: llm.Proxy})
		stream.Feed([]byte("data: " + c.event + "\n\n"))
		if u := stream.Usage(); u != c.want {
			t.Errorf("%s, in an event: %+v, want %+v", name, u, c.want)
		}
	}
}
