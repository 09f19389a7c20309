package guardrail

import "slices"

// hosted are the checks of the gateway's own that need a model to judge.
func hosted() []Known {
	moderation := listOf("hate", "hate/threatening", "harassment", "harassment/threatening", "self-harm", "self-harm/intent", "self-harm/instructions",
		"sexual", "sexual/minors", "violence", "violence/graphic")
	personal := listOf("EMAIL_ADDRESS", "PHONE_NUMBER", "LOCATION_ADDRESS", "NAME", "IP_ADDRESS", "CREDIT_CARD", "SSN")
	return []Known{
		{ID: "gateway.moderateContent", Hooks: inputHooks, Params: []Param{must("categories", moderation), timeout, not}},
		{ID: "gateway.language", Hooks: inputHooks, Params: []Param{may("language", languageCodes), timeout, not}},
		{ID: "gateway.pii", Hooks: bothHooks, Params: []Param{must("categories", personal), may("redact", boolean), timeout, not}},
		{ID: "gateway.gibberish", Hooks: bothHooks, Params: []Param{timeout, not}},
	}
}

// partners are the checks of external services. What the contract names of their
// parameters is checked; the rest is theirs.
func partners() []Known {
	var (
		version = may("apiVersion", text(30))
		redact  = may("redact", boolean)
		azure   = []Param{version, may("customHost", text(2048))}
		harms   = listOf("Hate", "SelfHarm", "Sexual", "Violence")
		mistral = listOf("sexual", "hate_and_discrimination", "violence_and_threats", "dangerous_and_criminal_content", "selfharm", "health", "financial", "law", "pii")
	)
	all := []Known{
		partner("azure.contentSafety", bothHooks, append(azure, may("blocklistNames", textList), may("severity", number(0, 7)), may("categories", harms))...),
		partner("azure.pii", bothHooks, append(azure, may("domain", oneOf("none", "phi")), may("modelVersion", text(64)), redact, may("language", text(16)))...),
		partner("azure.shieldPrompt", inputHooks, azure...),
		partner("azure.protectedMaterial", outputHooks, azure...),
		partner("bedrock.guard", bothHooks, must("guardrailVersion", text(64)), must("guardrailId", text(2048)), redact),
		partner("mistral.moderateContent", bothHooks, must("categories", mistral), may("model", text(255))),
		partner("acuvity.scan", bothHooks),
		partner("aporia.validateProject", bothHooks, must("projectID", text(255))),
		partner("crowdstrike-aidr.guardChatCompletions", bothHooks),
		partner("exa.online", inputHooks, may("numResults", positiveInteger(100)), may("includeDomains", textList), may("excludeDomains", textList)),
		partner("f5-guardrails.scan", bothHooks, may("projectId", text(255)), redact),
		partner("javelin.guardrails", bothHooks),
		partner("lakera.guard", bothHooks, may("projectID", text(255))),
		partner("lasso.classify", bothHooks),
		partner("pangea.textGuard", bothHooks),
		partner("pangea.pii", bothHooks, redact),
		partner("panw-prisma-airs.intercept", bothHooks, may("profile_name", text(255)), may("profile_id", text(255))),
		partner("pillar.scanPrompt", inputHooks, must("scanners", listOf("prompt_injection", "pii", "secrets", "toxic_language", "invisible_characters"))),
		partner("pillar.scanResponse", outputHooks, must("scanners", listOf("pii", "secrets", "toxic_language"))),
		partner("promptfoo.guard", inputHooks),
		partner("promptfoo.pii", bothHooks, redact),
		partner("promptfoo.harm", bothHooks),
		partner("promptsecurity.protectPrompt", inputHooks),
		partner("promptsecurity.protectResponse", outputHooks),
		partner("sydelabs.sydeguard", bothHooks),
		partner("walledai.walledprotect", bothHooks),
		partner("zscaler.*", bothHooks, must("policyId", textOrNumber)),
	}
	return slices.Concat(all, patronus(), qualifire())
}

func partner(id string, hooks []Hook, params ...Param) Known {
	return Known{ID: id, Hooks: hooks, Params: append(slices.Clone(params), external...), Open: true}
}

func patronus() []Known {
	list := []Known{partner("patronus.custom", outputHooks, must("profile", text(255)))}
	for _, name := range []string{"phi", "pii"} {
		list = append(list, partner("patronus."+name, outputHooks, may("redact", boolean)))
	}
	for _, name := range []string{"isConcise", "isHelpful", "isPolite", "noApologies", "noGenderBias", "noRacialBias", "retrievalAnswerRelevance", "retrievalHallucination", "toxicity"} {
		list = append(list, partner("patronus."+name, outputHooks))
	}
	return list
}

func qualifire() []Known {
	mode := may("mode", oneOf("speed", "balanced", "quality"))
	list := []Known{
		partner("qualifire.policy", bothHooks, must("policies", textList), may("policy_target", oneOf("input", "output", "both")), mode),
		partner("qualifire.contentModeration", bothHooks, mode), partner("qualifire.pii", bothHooks, mode), partner("qualifire.promptInjections", inputHooks, mode),
	}
	for _, name := range []string{"hallucinations", "grounding", "toolUseQuality"} {
		list = append(list, partner("qualifire."+name, outputHooks, mode))
	}
	return list
}
