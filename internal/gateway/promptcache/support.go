package promptcache

import (
	"strings"
	"time"

	"sluice/internal/dialect/bedrock"
	"sluice/internal/dialect/claude"
	"sluice/internal/gateway/promptcache/marks"
	"sluice/internal/kernel/llm"
)

// Kind is how a target caches prompts.
type Kind uint8

// The kinds.
const (
	// Unknown is the kind of targets of which nothing is published, such as custom hosts. The
	// caller's marks are forwarded, and none are placed.
	Unknown Kind = iota
	// None is the kind of models without a prompt cache, or whose provider rejects marks. The
	// caller's marks are dropped.
	None
	// Automatic is the kind of providers that cache without marks. The caller's marks are dropped,
	// because strict providers reject members that they do not support.
	Automatic
	// Marked is the kind of models that cache up to marks in the prompt.
	Marked
)

// Target is what decides about the prompt cache of a call.
type Target struct {
	Provider string       // id of the provider: "openrouter"
	Dialect  string       // of the provider's endpoint: "anthropic", "openai", "bedrock", "bedrock-claude"
	Endpoint llm.Endpoint // of the provider: llm.Messages or llm.ChatComplete
	Model    string       // name that reveals the model: "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
}

// Support is how a target caches prompts. The zero Support is Unknown.
type Support struct {
	Kind  Kind
	Rules marks.Rules // of the body, for all kinds except Unknown
	// ReadsAttribution is set for hosts that use the line by which coding agents of Anthropic
	// identify themselves. Prepare removes it for all others.
	ReadsAttribution bool

	lifetime time.Duration // of a prefix after its last use; 0: usualLifetime
}

// usualLifetime is how long most providers cache a prefix after its last use, and longLifetime the
// longer of the two lifetimes of marks.
// Source: https://platform.claude.com/docs/en/build-with-claude/prompt-caching and
// https://platform.openai.com/docs/guides/prompt-caching, read 2026-11.
const (
	usualLifetime = 5 * time.Minute
	longLifetime  = time.Hour
)

// autoMinTokens is the smallest prefix that most automatic caches store.
// Source: https://platform.openai.com/docs/guides/prompt-caching, read 2026-11.
const autoMinTokens = 1024

// Find returns how a target caches prompts. It covers the endpoints for conversations. Others are
// Unknown.
func Find(t Target) Support {
	switch t.Endpoint {
	case llm.ChatComplete, llm.Messages:
	case llm.CreateModelResponse:
		return automaticSupport(t)
	default:
		return Support{}
	}
	switch t.Dialect {
	case "anthropic":
		return messagesSupport(t)
	case "bedrock", "bedrock-claude":
		return bedrockSupport(t)
	case "openai":
		return chatSupport(t)
	}
	return automaticSupport(t)
}

// automaticSupport is that of a provider that needs no marks, or Unknown.
func automaticSupport(t Target) Support {
	lifetime, ok := automatic[t.Provider]
	if !ok {
		return Support{}
	}
	return Support{Kind: Automatic, Rules: marks.Rules{Form: marks.Chat, MinTokens: autoMinTokens}, lifetime: lifetime}
}

// hourHosts are the hosts of Claude with marks of an hour for all models.
// Source: https://platform.claude.com/docs/en/build-with-claude/prompt-caching, read 2026-11.
var hourHosts = map[string]bool{"anthropic": true, "claude-platform-aws": true, "azure-ai": true}

// messagesSupport is that of hosts with Anthropic's Messages API.
func messagesSupport(t Target) Support {
	m := claude.ParseModel(t.Model)
	hour := hourHosts[t.Provider] || t.Provider == "vertex-ai" && m.Since(4, 5)
	return Support{
		Kind:             Marked,
		Rules:            marks.Rules{Form: marks.Messages, MinTokens: minTokens(m), Tools: true, Hour: hour},
		ReadsAttribution: t.Provider == "anthropic" || t.Provider == "claude-platform-aws",
	}
}

// novaMinTokens is the smallest prefix that Amazon's own models cache.
// Source: https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html, read 2026-11.
const novaMinTokens = 1000

// bedrockSupport is that of Amazon Bedrock, in Converse's form or in that of Messages for Claude.
// Amazon's own models do not accept marks after tools.
func bedrockSupport(t Target) Support {
	rules := marks.Rules{Form: marks.Converse, MinTokens: novaMinTokens, Hour: bedrock.CachesForAnHour(t.Model)}
	if t.Dialect == "bedrock-claude" {
		rules.Form = marks.Messages
	}
	if m := claude.ParseModel(t.Model); m.Major > 0 || t.Dialect == "bedrock-claude" {
		rules.MinTokens, rules.Tools = minTokens(m), true
	}
	switch {
	case strings.HasPrefix(t.Model, "arn:") && claude.ParseModel(t.Model).Major == 0:
		return Support{} // the model of a profile is not known
	case !bedrock.CachesPrompts(t.Model):
		return Support{Kind: None, Rules: rules}
	}
	return Support{Kind: Marked, Rules: rules}
}

// minTokens returns the smallest prefix that a Claude model caches. It is the lowest of the published
// numbers, which differ by host.
// Source: https://platform.claude.com/docs/en/build-with-claude/prompt-caching and
// https://docs.litellm.ai/docs/completion/prompt_caching, of 2026-10-07.
func minTokens(m claude.Model) int {
	switch {
	case m.Since(5, 0) && m.Family != "sonnet":
		return 512
	case m.Major == 4 && (m.Family == "opus" && (m.Minor == 5 || m.Minor == 6) || m.Family == "haiku"):
		return 4096
	case m.Major == 4 && m.Family == "opus" && m.Minor == 7, m.Major == 3 && m.Family == "haiku":
		return 2048
	}
	return 1024
}

// chatSupport is that of providers with chat completions.
func chatSupport(t Target) Support {
	explicit, ok := explicitChat[t.Provider]
	if !ok {
		return automaticSupport(t)
	}
	rules := marks.Rules{Form: marks.Chat, MinTokens: autoMinTokens, ToolTurns: explicit.toolTurns}
	if m := claude.ParseModel(t.Model); m.Major > 0 {
		rules.MinTokens = minTokens(m)
	}
	if !explicit.hasMarks(t.Model) {
		return Support{Kind: explicit.otherwise, Rules: rules}
	}
	return Support{Kind: Marked, Rules: rules}
}

// explicitModels are the models of a provider of chat completions that accept cache_control.
type explicitModels struct {
	prefixes  []string // of model names without the path of a publisher
	contains  string
	toolTurns bool // also in messages of role tool
	otherwise Kind // of its other models
}

func (e explicitModels) hasMarks(model string) bool {
	if e.contains != "" && strings.Contains(model, e.contains) {
		return true
	}
	for _, p := range e.prefixes {
		if strings.HasPrefix(model, p) {
			return true
		}
	}
	return false
}

// explicitChat lists the providers of chat completions with marks. OpenRouter ignores marks of models
// without a cache, so that none are dropped there.
// Source: https://openrouter.ai/docs/features/prompt-caching,
// https://help.aliyun.com/model-studio/context-cache and
// https://docs.databricks.com/aws/en/machine-learning/model-serving/score-foundation-models, read 2026-11.
var explicitChat = map[string]explicitModels{
	"openrouter": {prefixes: []string{"anthropic/claude-", "qwen/qwen"}, toolTurns: true},
	"dashscope":  {prefixes: []string{"qwen"}, otherwise: Unknown},
	"databricks": {contains: "claude", otherwise: None},
}

// automatic lists the providers that cache without marks, and for how long after the last use.
// Source: https://platform.openai.com/docs/guides/prompt-caching, https://api-docs.deepseek.com/guides/kv_cache,
// https://console.groq.com/docs/prompt-caching, https://docs.x.ai/docs/models,
// https://ai.google.dev/gemini-api/docs/caching and the errors in
// https://github.com/tombii/better-ccflare/pull/187, read 2026-11.
var automatic = map[string]time.Duration{
	"openai": usualLifetime, "azure-openai": usualLifetime, "deepseek": longLifetime, "groq": usualLifetime, "x-ai": usualLifetime,
	"google": usualLifetime, "vertex-ai": usualLifetime, "mistral-ai": usualLifetime, "cerebras": usualLifetime,
	"moonshot": usualLifetime, "z-ai": usualLifetime, "zhipu": usualLifetime, "fireworks-ai": usualLifetime,
}

// Lifetime returns for how long the target caches the prompt of a call that used u, counted from its
// end, or 0 if it caches nothing of it. The parameter hour is that of Prepared: the body has a mark of
// an hour. Of automatic caches, the size of the prompt decides: the first call of a conversation
// reports no cached tokens.
func (s Support) Lifetime(u llm.Usage, hour bool) time.Duration {
	lifetime := max(s.lifetime, usualLifetime)
	cached := u.CachedTokens + u.CacheWriteTokens
	switch {
	case s.Kind == Automatic && (cached > 0 || u.InputTokens >= int64(s.Rules.MinTokens)):
		return lifetime
	case cached == 0 || s.Kind == None:
		return 0
	case hour || u.CacheHourTokens > 0:
		return longLifetime
	}
	return lifetime
}
