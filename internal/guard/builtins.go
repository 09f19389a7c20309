package guard

// operators combine several words, keys or pairs.
var operators = oneOf("any", "all", "none")

// languages are those that default.containsCode tells apart.
var languages = oneOf("SQL", "Python", "TypeScript", "JavaScript", "Java", "C#", "C++", "C", "Ruby", "PHP", "Swift", "Kotlin", "Go", "Rust", "Scala",
	"R", "Perl", "Shell", "HTML", "CSS", "XML", "JSON", "YAML", "Markdown", "Dockerfile")

var matching = oneOf("exact", "contains", "containsAll", "regex")

// count is a bound of something that is counted in a text.
var count = number(0, 99_999_999)

// builtins are the checks that need nobody else.
func builtins() []Known {
	return []Known{
		{ID: "default.regexMatch", Hooks: both, Params: []Param{must("rule", pattern), not}},
		{ID: "default.regexReplace", Hooks: both, Transformer: true, Params: []Param{must("rule", slashed), may("redactText", text(1024)), may("failOnDetection", boolean)}},
		{ID: "default.sentenceCount", Hooks: both, Params: []Param{may("minSentences", count), may("maxSentences", count), not}},
		{ID: "default.wordCount", Hooks: both, Params: []Param{may("minWords", count), may("maxWords", count), not}},
		{ID: "default.characterCount", Hooks: both, Params: []Param{may("minCharacters", count), may("maxCharacters", count), not}},
		{ID: "default.alluppercase", Hooks: both, Params: []Param{not}},
		{ID: "default.isAllLowerCase", Aliases: []string{"default.alllowercase"}, Hooks: both, Params: []Param{not}},
		{ID: "default.endsWith", Hooks: both, Params: []Param{must("suffix", text(1024)), not}},
		{ID: "default.jsonSchema", Hooks: out, Params: []Param{must("schema", schema), not}},
		{ID: "default.jsonKeys", Hooks: out, Params: []Param{must("keys", words), must("operator", operators)}},
		{ID: "default.contains", Hooks: both, Params: []Param{must("words", words), must("operator", operators)}},
		{ID: "default.validUrls", Hooks: out, Params: []Param{may("onlyDNS", boolean), not}},
		{ID: "default.containsCode", Hooks: out, Params: []Param{must("format", languages), not}},
		{ID: "default.notNull", Hooks: out, Params: []Param{not}},
		{ID: "default.webhook", Hooks: both, Params: []Param{calls(must("webhookURL", link)), may("headers", headers), timeout, may("forwardHeaders", forwarded)}},
		{ID: "default.log", Hooks: out, Params: []Param{calls(must("logURL", link)), may("headers", headers), timeout}},
		{ID: "default.jwt", Hooks: in, Params: jwtParams()},
		{ID: "default.modelWhitelist", Aliases: []string{"default.modelwhitelist"}, Hooks: in, Params: []Param{must("models", words), not}},
		{ID: "default.modelRules", Hooks: in, Params: []Param{must("rules", modelRules), not}},
		{ID: "default.allowedRequestTypes", Hooks: in, Params: []Param{may("allowedTypes", wordsOrCSV), may("blockedTypes", wordsOrCSV)}},
		{ID: "default.requiredMetadataKeys", Hooks: in, Params: []Param{must("metadataKeys", words), must("operator", operators)}},
		{ID: "default.requiredMetadataKeyPairs", Hooks: in, Params: []Param{must("metadataPairs", object), must("operator", operators), may("matchType", matching)}},
		{ID: "default.addPrefix", Hooks: in, Transformer: true, Params: []Param{
			must("prefix", text(16_384)), may("applyToRole", oneOf("user", "system", "assistant")), may("addToExisting", boolean), may("onlyIfEmpty", boolean),
		}},
		{ID: "default.inlineImageUrls", Hooks: in, Transformer: true, Params: []Param{
			may("providers", words), may("maxSizeBytes", positiveInteger(1<<30)), may("timeoutMs", positiveInteger(300_000)),
		}},
		{ID: "default.requestParams", Aliases: []string{"default.requestParametersCheck"}, Hooks: in, Params: requestParams()},
	}
}

func jwtParams() []Param {
	return []Param{
		calls(may("jwksUri", link)), may("jwks", object), must("headerKey", text(255)), may("cacheMaxAge", count), may("clockTolerance", count),
		may("maxTokenAge", span), may("algorithms", words), calls(may("introspectEndpoint", link)), may("introspectContentType", text(255)),
		may("introspectCacheMaxAge", count), may("requiredClaims", words), may("claimValues", object), may("headerPayloadMatch", words),
		may("extractClaims", words), may("claimPrefix", text(255)),
	}
}

// modelRules are the models that a request may name, by its metadata.
var modelRules = fields(may("defaults", words), may("metadata", mapOf(mapOf(words))))

func requestParams() []Param {
	values := fields(may("blockedValues", list(anything)), may("allowedValues", list(anything)))
	return []Param{
		may("tools", fields(may("blockedTypes", words), may("allowedTypes", words), may("blockedFunctionNames", words), may("allowedFunctionNames", words))),
		may("params", fields(may("blockedKeys", words), may("allowedKeys", words), may("values", mapOf(values)))),
	}
}
