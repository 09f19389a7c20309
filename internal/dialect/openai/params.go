package openai

import (
	"sluice/internal/dialect"
	"sluice/internal/dialect/fields"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// needs lists the fields that the body of an endpoint must contain in addition to the model.
// One field of a group is enough. Source: contract/dataplane.md 6.1; for responses, which may take their
// input from a stored prompt or conversation, contract/providers.yaml openai_responses.
var needs = map[llm.Endpoint][]string{
	llm.ChatComplete:             {"messages"},
	llm.Complete:                 {"prompt"},
	llm.Embed:                    {"input"},
	llm.CreateModelResponse:      {"input", "prompt", "conversation", "previous_response_id"},
	llm.Messages:                 {"messages"},
	llm.MessagesCountTokens:      {"messages"},
	llm.CountResponseInputTokens: {"input", "instructions", "conversation", "previous_response_id"},
	llm.ImageGenerate:            {"prompt"},
	llm.CreateSpeech:             {"input"},
	llm.Moderate:                 {"input"},
	llm.Rerank:                   {"query"},
	llm.OCR:                      {"document"},
}

// optionalModel are the endpoints that providers answer without a model.
var optionalModel = map[llm.Endpoint]bool{
	llm.ImageGenerate: true, llm.Moderate: true,
	llm.CreateModelResponse:      true, // a stored prompt names it
	llm.CountResponseInputTokens: true,
}

// Check refuses a JSON request without its model or its input, or with a model that is not a
// string, with fault.InvalidParameter. Fields that the target sets may be missing. Other
// endpoints need nothing.
func Check(ep llm.Endpoint, d *jsonedit.Doc, s dialect.Shaping) error {
	group, ok := needs[ep]
	if !ok {
		return nil
	}
	if err := checkModel(d, s.Sets("model") || optionalModel[ep], s.Model); err != nil {
		return err
	}
	for _, name := range group {
		if raw, ok := d.Raw(name); ok && string(raw) != "null" || s.Sets(name) {
			return nil
		}
	}
	return missing(group[0])
}

// checkModel checks the model of a body. An empty model is valid if another replaces it.
func checkModel(d *jsonedit.Doc, optional bool, instead string) error {
	raw, ok := d.Raw("model")
	if !ok || string(raw) == "null" {
		if optional {
			return nil
		}
		return missing("model")
	}
	switch {
	case raw[0] != '"':
		return fields.Invalid("model", "must be a string, for example \"gpt-4o-mini\"")
	case string(raw) == `""` && instead == "":
		return fields.Invalid("model", "must not be empty")
	}
	return nil
}

func missing(name string) error {
	return fault.Newf(fault.InvalidParameter, "%s is required; send it in the request body", name).WithParam(name)
}
