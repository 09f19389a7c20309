package guardrail

// operators combine several words, keys or pairs.
var operators = oneOf("any", "all", "none")

// languages are those that default.containsCode distinguishes.
var languages = oneOf("SQL", "Python", "TypeScript", "JavaScript", "Java", "C#", "C++", "C", "Ruby", "PHP", "Swift", "Kotlin", "Go", "Rust", "Scala",
	"R", "Perl", "Shell", "HTML", "CSS", "XML", "JSON", "YAML", "Markdown", "Dockerfile")

var matching = oneOf("exact", "contains", "containsAll", "regex")

// count is a bound of something that is counted in a text.
var count = number(0, 99_999_999)

// builtins are the checks that need nobody else.
func builtins() []Known {
	return []Known{
		{ID: "default.regexMatch", Hooks: bothHooks, Params: []Param{must("rule", pattern), not}},
		{ID: "default.regexReplace", Hooks: bothHooks, Transformer: true, Params: []Param{must("rule", slashed), may("redactText", text(1024)), may("failOnDetection", boolean)}},
		{ID: "default.sentenceCount", Hooks: bothHooks, Params: []Param{may("minSentences", count), may("maxSentences", count), not}},
		{ID: "default.wordCount", Hooks: bothHooks, Params: []Param{may("minWords", count), may("maxWords", count), not}},
		{ID: "default.characterCount", Hooks: bothHooks, Params: []Param{may("minCharacters", count), may("maxCharacters", count), not}},
		{ID: "default.alluppercase", Hooks: bothHooks, Params: []Param{not}},
		{ID: "default.isAllLowerCase", Aliases: []string{"default.alllowercase"}, Hooks: bothHooks, Params: []Param{not}},
		{ID: "default.endsWith", Hooks: bothHooks, Params: []Param{must("suffix", text(1024)), not}},
		{ID: "default.jsonSchema", Hooks: outputHooks, Params: []Param{must("schema", schema), not}},
		{ID: "default.jsonKeys", Hooks: outputHooks, Params: []Param{must("keys", textList), must("operator", operators)}},
		{ID: "default.contains", Hooks: bothHooks, Params: []Param{must("words", textList), must("operator", operators)}},
		{ID: "default.validUrls", Hooks: outputHooks, Params: []Param{may("onlyDNS", boolean), not}},
		{ID: "default.containsCode", Hooks: outputHooks, Params: []Param{must("format", languages), not}},
		{ID: "default.notNull", Hooks: outputHooks, Params: []Param{not}},
		{ID: "default.webhook", Hooks: bothHooks, Params: []Param{calls(must("webhookURL", link)), may("headers", headers), timeout, may("forwardHeaders", forwarded)}},
		{ID: "default.log", Hooks: outputHooks, Params: []Param{calls(must("logURL", link)), may("headers", headers), timeout}},
		{ID: "default.jwt", Hooks: inputHooks, Params: jwtParams()},
		{ID: "default.modelWhitelist", Aliases: []string{"default.modelwhitelist"}, Hooks: inputHooks, Params: []Param{must("models", textList), not}},
		{ID: "default.modelRules", Hooks: inputHooks, Params: []Param{must("rules", modelRules), not}},
		{ID: "default.allowedRequestTypes", Hooks: inputHooks, Params: []Param{may("allowedTypes", textListOrCSV), may("blockedTypes", textListOrCSV)}},
		{ID: "default.requiredMetadataKeys", Hooks: inputHooks, Params: []Param{must("metadataKeys", textList), must("operator", operators)}},
		{ID: "default.requiredMetadataKeyPairs", Hooks: inputHooks, Params: []Param{must("metadataPairs", object), must("operator", operators), may("matchType", matching)}},
		{ID: "default.addPrefix", Hooks: inputHooks, Transformer: true, Params: []Param{
			must("prefix", text(16_384)), may("applyToRole", oneOf("user", "system", "assistant")), may("addToExisting", boolean), may("onlyIfEmpty", boolean),
		}},
		{ID: "default.inlineImageUrls", Hooks: inputHooks, Transformer: true, Params: []Param{
			may("providers", textList), may("maxSizeBytes", positiveInteger(1<<30)), may("timeoutMs", positiveInteger(300_000)),
		}},
		{ID: "default.requestParams", Aliases: []string{"default.requestParametersCheck"}, Hooks: inputHooks, Params: requestParams()},
	}
}

func jwtParams() []Param {
	return []Param{
		calls(may("jwksUri", link)), may("jwks", object), must("headerKey", text(255)), may("cacheMaxAge", count), may("clockTolerance", count),
		may("maxTokenAge", span), may("algorithms", textList), calls(may("introspectEndpoint", link)), may("introspectContentType", text(255)),
		may("introspectCacheMaxAge", count), may("requiredClaims", textList), may("claimValues", object), may("headerPayloadMatch", textList),
		may("extractClaims", textList), may("claimPrefix", text(255)),
	}
}

// modelRules are the models that a request may name, by its metadata.
var modelRules = fields(may("defaults", textList), may("metadata", mapOf(mapOf(textList))))

func requestParams() []Param {
	values := fields(may("blockedValues", list(anything)), may("allowedValues", list(anything)))
	return []Param{
		may("tools", fields(may("blockedTypes", textList), may("allowedTypes", textList), may("blockedFunctionNames", textList), may("allowedFunctionNames", textList))),
		may("params", fields(may("blockedKeys", textList), may("allowedKeys", textList), may("values", mapOf(values)))),
	}
}
