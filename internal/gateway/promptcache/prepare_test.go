package promptcache_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"sluice/internal/gateway/promptcache"
	"sluice/internal/kernel/llm"
)

const (
	sonnet = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
	nova   = "us.amazon.nova-pro-v1:0"
)

func TestPrepare_PlacesOrDropsMarksAsTheTargetRequires(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 20_000)
	marked := `{"type":"text","text":"s","cache_control":{"type":"ephemeral"}}`
	const (
		chat     = `{"messages":[{"role":"system","content":"LONG"},{"role":"user","content":"q"}]}`
		messages = `{"system":"LONG","messages":[{"role":"user","content":"q"}]}`
		converse = `{"system":[{"text":"LONG"}],"messages":[{"role":"user","content":[{"text":"q"}]}]}`
		marking  = `{"messages":[{"role":"system","content":[MARKED]},{"role":"user","content":"LONG"}]}`
	)
	for name, c := range map[string]struct {
		target  promptcache.Target
		body    string
		placed  []string
		dropped []string
	}{
		"Anthropic":                       {promptcache.Target{Provider: "anthropic", Dialect: "anthropic", Endpoint: llm.Messages, Model: "claude-opus-4-5"}, messages, []string{"system", "messages[0].content"}, nil},
		"Claude on Bedrock":               {promptcache.Target{Provider: "bedrock", Dialect: "bedrock-claude", Endpoint: llm.Messages, Model: sonnet}, messages, []string{"system", "messages[0].content"}, nil},
		"Claude on Bedrock by Converse":   {promptcache.Target{Provider: "bedrock", Dialect: "bedrock", Endpoint: llm.ChatComplete, Model: sonnet}, converse, []string{"system[0]", "messages[0].content[0]"}, nil},
		"Nova":                            {promptcache.Target{Provider: "bedrock", Dialect: "bedrock", Endpoint: llm.ChatComplete, Model: nova}, converse, []string{"system[0]", "messages[0].content[0]"}, nil},
		"a model of Bedrock without":      {promptcache.Target{Provider: "bedrock", Dialect: "bedrock", Endpoint: llm.ChatComplete, Model: "us.meta.llama4-maverick-17b-instruct-v1:0"}, converse, nil, nil},
		"a profile of Bedrock":            {promptcache.Target{Provider: "bedrock", Dialect: "bedrock", Endpoint: llm.ChatComplete, Model: "arn:aws:bedrock:us-east-1:1:application-inference-profile/abc"}, converse, nil, nil},
		"Claude on OpenRouter":            {promptcache.Target{Provider: "openrouter", Dialect: "openai", Endpoint: llm.ChatComplete, Model: "anthropic/claude-sonnet-4.5"}, chat, []string{"messages[0].content", "messages[1].content"}, nil},
		"another model on OpenRouter":     {promptcache.Target{Provider: "openrouter", Dialect: "openai", Endpoint: llm.ChatComplete, Model: "openai/gpt-5"}, marking, nil, nil},
		"Qwen":                            {promptcache.Target{Provider: "dashscope", Dialect: "openai", Endpoint: llm.ChatComplete, Model: "qwen3-max"}, chat, []string{"messages[0].content", "messages[1].content"}, nil},
		"Llama on Databricks":             {promptcache.Target{Provider: "databricks", Dialect: "openai", Endpoint: llm.ChatComplete, Model: "databricks-llama-4-maverick"}, marking, nil, []string{"messages[0].content[0].cache_control"}},
		"a fallback to OpenAI":            {promptcache.Target{Provider: "openai", Dialect: "openai", Endpoint: llm.ChatComplete, Model: "gpt-5"}, marking, nil, []string{"messages[0].content[0].cache_control"}},
		"a fallback to a custom host":     {promptcache.Target{Provider: "custom", Dialect: "openai", Endpoint: llm.ChatComplete, Model: "m"}, marking, nil, nil},
		"the caller's marks and ours":     {promptcache.Target{Provider: "openrouter", Dialect: "openai", Endpoint: llm.ChatComplete, Model: "anthropic/claude-sonnet-4.5"}, marking, []string{"messages[1].content"}, nil},
		"an endpoint that embeds":         {promptcache.Target{Provider: "openai", Dialect: "openai", Endpoint: llm.Embed, Model: "e"}, marking, nil, nil},
		"Responses":                       {promptcache.Target{Provider: "openai", Dialect: "responses", Endpoint: llm.CreateModelResponse, Model: "gpt-5"}, `{"prompt_cache_key":"k","input":"LONG"}`, nil, nil},
		"a form without marks":            {promptcache.Target{Provider: "google", Dialect: "gemini", Endpoint: llm.ChatComplete, Model: "gemini-3-pro"}, `{"contents":[{"parts":[{"text":"LONG"}]}],"cachedContent":"c"}`, nil, nil},
		"a prompt below the minimum size": {promptcache.Target{Provider: "anthropic", Dialect: "anthropic", Endpoint: llm.Messages, Model: "claude-opus-4-5"}, `{"system":"s","messages":[{"role":"user","content":"q"}]}`, nil, nil},
	} {
		body := strings.NewReplacer("LONG", long, "MARKED", marked).Replace(c.body)
		got := promptcache.Find(c.target).Prepare([]byte(body), promptcache.Options{Auto: true})
		if !slices.Equal(got.Placed, c.placed) || !slices.Equal(got.Dropped, c.dropped) {
			t.Errorf("%s: placed %q, dropped %q, want %q and %q", name, got.Placed, got.Dropped, c.placed, c.dropped)
		}
		if len(c.placed)+len(c.dropped) == 0 && string(got.Body) != body {
			t.Errorf("%s: the body changed", name)
		}
	}
}

func TestPrepare_PlacesNothingUnlessRequested(t *testing.T) {
	t.Parallel()
	s := promptcache.Find(promptcache.Target{Provider: "anthropic", Dialect: "anthropic", Endpoint: llm.Messages, Model: "claude-opus-5"})
	for body, hour := range map[string]bool{
		`{"system":"` + strings.Repeat("a", 9000) + `","messages":[]}`:                                   false,
		`{"system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral"}}]}`:                   false,
		`{"system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral","ttl":"1h"}}]}`:        true,
		`{"system":"x-anthropic-billing-header: cch=1;","messages":[{"role":"user","content":"cache"}]}`: false,
	} {
		got := s.Prepare([]byte(body), promptcache.Options{})
		if string(got.Body) != body || got.Hour != hour || got.Placed != nil {
			t.Errorf("got hour %v, %q: %s", got.Hour, got.Placed, got.Body)
		}
	}
}

// prompt_cache_key belongs to the caller, whatever happens to marks.
func TestPrepare_PassesThePromptCacheKeyAsSent(t *testing.T) {
	t.Parallel()
	const key = `"prompt_cache_key":"k\u0065y-1"`
	for _, provider := range []string{"openai", "openrouter", "custom"} {
		s := promptcache.Find(promptcache.Target{Provider: provider, Dialect: "openai", Endpoint: llm.ChatComplete, Model: "anthropic/claude-opus-5"})
		body := `{` + key + `,"messages":[{"role":"user","content":[{"type":"text","text":"` + strings.Repeat("a", 9000) + `","cache_control":{"type":"ephemeral"}}]}]}`
		if got := s.Prepare([]byte(body), promptcache.Options{Auto: true}); !strings.HasPrefix(string(got.Body), `{`+key+`,`) {
			t.Errorf("%s: got %.60s…", provider, got.Body)
		}
	}
}

func TestLifetime_IsThatOfTheCachedPrompt(t *testing.T) {
	t.Parallel()
	claude := promptcache.Find(promptcache.Target{Provider: "anthropic", Dialect: "anthropic", Endpoint: llm.Messages, Model: "claude-opus-5"})
	openai := promptcache.Find(promptcache.Target{Provider: "openai", Dialect: "openai", Endpoint: llm.ChatComplete, Model: "gpt-5"})
	gemini := promptcache.Find(promptcache.Target{Provider: "google", Dialect: "gemini", Endpoint: llm.ChatComplete, Model: "gemini-3-pro"})
	deepseek := promptcache.Find(promptcache.Target{Provider: "deepseek", Dialect: "openai", Endpoint: llm.ChatComplete, Model: "deepseek-chat"})
	llama := promptcache.Find(promptcache.Target{Provider: "bedrock", Dialect: "bedrock", Endpoint: llm.ChatComplete, Model: "us.meta.llama4-maverick-17b-instruct-v1:0"})
	for name, c := range map[string]struct {
		support promptcache.Support
		usage   llm.Usage
		hour    bool
		want    time.Duration
	}{
		"written":                      {claude, llm.Usage{InputTokens: 5000, CacheWriteTokens: 4000}, false, 5 * time.Minute},
		"read":                         {claude, llm.Usage{InputTokens: 5000, CachedTokens: 4000}, false, 5 * time.Minute},
		"read for an hour":             {claude, llm.Usage{InputTokens: 5000, CachedTokens: 4000}, true, time.Hour},
		"written for an hour":          {claude, llm.Usage{InputTokens: 5000, CacheWriteTokens: 4000, CacheHourTokens: 10}, false, time.Hour},
		"a prompt that was not cached": {claude, llm.Usage{InputTokens: 5000}, true, 0},
		"no usage":                     {openai, llm.Usage{}, false, 0},
		"the first call of a cache":    {openai, llm.Usage{InputTokens: 1024}, false, 5 * time.Minute},
		"the first call of Gemini":     {gemini, llm.Usage{InputTokens: 5000}, false, 5 * time.Minute},
		"a short prompt":               {openai, llm.Usage{InputTokens: 1023}, false, 0},
		"a cache of hours":             {deepseek, llm.Usage{InputTokens: 5000}, false, time.Hour},
		"no cache":                     {llama, llm.Usage{InputTokens: 5000}, false, 0},
		"nothing published":            {promptcache.Support{}, llm.Usage{InputTokens: 5000}, false, 0},
		"nothing published, but read":  {promptcache.Support{}, llm.Usage{InputTokens: 5000, CachedTokens: 1}, false, 5 * time.Minute},
	} {
		if got := c.support.Lifetime(c.usage, c.hour); got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}
