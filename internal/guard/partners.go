package guard

import "slices"

// hosted are the checks of the gateway's own that need a model to judge.
func hosted() []Known {
	moderation := listOf("hate", "hate/threatening", "harassment", "harassment/threatening", "self-harm", "self-harm/intent", "self-harm/instructions",
		"sexual", "sexual/minors", "violence", "violence/graphic")
	personal := listOf("EMAIL_ADDRESS", "PHONE_NUMBER", "LOCATION_ADDRESS", "NAME", "IP_ADDRESS", "CREDIT_CARD", "SSN")
	return []Known{
		{ID: "gateway.moderateContent", Hooks: in, Params: []Param{must("categories", moderation), timeout, not}},
		{ID: "gateway.language", Hooks: in, Params: []Param{may("language", languageCodes), timeout, not}},
		{ID: "gateway.pii", Hooks: both, Params: []Param{must("categories", personal), may("redact", boolean), timeout, not}},
		{ID: "gateway.gibberish", Hooks: both, Params: []Param{timeout, not}},
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
		partner("azure.contentSafety", both, append(azure, may("blocklistNames", words), may("severity", number(0, 7)), may("categories", harms))...),
		partner("azure.pii", both, append(azure, may("domain", oneOf("none", "phi")), may("modelVersion", text(64)), redact, may("language", text(16)))...),
		partner("azure.shieldPrompt", in, azure...),
		partner("azure.protectedMaterial", out, azure...),
		partner("bedrock.guard", both, must("guardrailVersion", text(64)), must("guardrailId", text(2048)), redact),
		partner("mistral.moderateContent", both, must("categories", mistral), may("model", text(255))),
		partner("acuvity.scan", both),
		partner("aporia.validateProject", both, must("projectID", text(255))),
		partner("crowdstrike-aidr.guardChatCompletions", both),
		partner("exa.online", in, may("numResults", positiveInteger(100)), may("includeDomains", words), may("excludeDomains", words)),
		partner("f5-guardrails.scan", both, may("projectId", text(255)), redact),
		partner("javelin.guardrails", both),
		partner("lakera.guard", both, may("projectID", text(255))),
		partner("lasso.classify", both),
		partner("pangea.textGuard", both),
		partner("pangea.pii", both, redact),
		partner("panw-prisma-airs.intercept", both, may("profile_name", text(255)), may("profile_id", text(255))),
		partner("pillar.scanPrompt", in, must("scanners", listOf("prompt_injection", "pii", "secrets", "toxic_language", "invisible_characters"))),
		partner("pillar.scanResponse", out, must("scanners", listOf("pii", "secrets", "toxic_language"))),
		partner("promptfoo.guard", in),
		partner("promptfoo.pii", both, redact),
		partner("promptfoo.harm", both),
		partner("promptsecurity.protectPrompt", in),
		partner("promptsecurity.protectResponse", out),
		partner("sydelabs.sydeguard", both),
		partner("walledai.walledprotect", both),
		partner("zscaler.*", both, must("policyId", textOrNumber)),
	}
	return slices.Concat(all, patronus(), qualifire())
}

func partner(id string, hooks []Hook, params ...Param) Known {
	return Known{ID: id, Hooks: hooks, Params: append(slices.Clone(params), external...), Open: true}
}

func patronus() []Known {
	list := []Known{partner("patronus.custom", out, must("profile", text(255)))}
	for _, name := range []string{"phi", "pii"} {
		list = append(list, partner("patronus."+name, out, may("redact", boolean)))
	}
	for _, name := range []string{"isConcise", "isHelpful", "isPolite", "noApologies", "noGenderBias", "noRacialBias", "retrievalAnswerRelevance", "retrievalHallucination", "toxicity"} {
		list = append(list, partner("patronus."+name, out))
	}
	return list
}

func qualifire() []Known {
	mode := may("mode", oneOf("speed", "balanced", "quality"))
	list := []Known{
		partner("qualifire.policy", both, must("policies", words), may("policy_target", oneOf("input", "output", "both")), mode),
		partner("qualifire.contentModeration", both, mode), partner("qualifire.pii", both, mode), partner("qualifire.promptInjections", in, mode),
	}
	for _, name := range []string{"hallucinations", "grounding", "toolUseQuality"} {
		list = append(list, partner("qualifire."+name, out, mode))
	}
	return list
}
