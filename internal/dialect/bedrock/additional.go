package bedrock

import (
	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/llm"
)

// extras lists, by model family, the parameters that the family supports and Converse does not,
// with their names in additionalModelRequestFields.
// Source: contract/provider-transforms.md 3.3.
var extras = map[string][]fields.Rename{
	anthropic: {{Path: "anthropic_version", To: "anthropic_version"}},
	cohere: {
		{Path: "top_k", To: "top_k"}, {Path: "n", To: "n"}, {Path: "frequency_penalty", To: "frequency_penalty"},
		{Path: "presence_penalty", To: "presence_penalty"}, {Path: "logit_bias", To: "logitBias"},
	},
	ai21: {
		{Path: "top_k", To: "top_k"}, {Path: "frequencyPenalty", To: "frequencyPenalty"}, {Path: "presencePenalty", To: "presencePenalty"},
		{Path: "countPenalty", To: "countPenalty"},
	},
	amazon: {},
	openai: {{Path: "top_k", To: "top_k"}, {Path: llm.ReasoningEffort, To: "reasoning_effort"}},
	"":     {{Path: "top_k", To: "top_k"}},
}

// additional writes additionalModelRequestFields: the members that the caller set there, and the
// parameters of the family. The caller's members win.
func (w *parameterWriter) additional() {
	const name = "additionalModelRequestFields"
	provided, _ := w.t.First(name, "additional_model_request_fields")
	if len(provided) == 0 {
		before := w.Writer
		w.Key(name).Open('{')
		empty := len(w.B)
		w.writeFamilyParams(&w.Writer)
		w.close('}', before, empty)
		return
	}
	familyParams := jsonwriter.Writer{}
	familyParams.Open('{')
	w.writeFamilyParams(&familyParams)
	familyParams.Close('}')
	if provided[0] != '{' { // wrong type: Bedrock returns the error
		w.Raw(name, provided)
		return
	}
	w.Raw(name, merged(provided, familyParams.B))
}

// bare returns a name of jsonedit.Members without its quotes. Escapes remain.
func bare(name []byte) string { return string(name[1 : len(name)-1]) }

// writeFamilyParams writes the parameters that only the model family supports.
func (w *parameterWriter) writeFamilyParams(o *jsonwriter.Writer) {
	list, known := extras[w.family]
	if !known {
		list = extras[""]
	}
	fields.WriteParams(o, w.t, list)
	switch w.family {
	case anthropic:
		w.claudes(o)
	case ai21:
		w.scaled(o, "frequency_penalty", "frequencyPenalty")
		w.scaled(o, "presence_penalty", "presencePenalty")
	case amazon:
		w.novas(o)
	}
}

// claudes writes the parameters that only Claude supports.
func (w *parameterWriter) claudes(o *jsonwriter.Writer) {
	if raw, ok := w.model.Sampled(w.t, "top_k"); ok {
		o.Raw("top_k", raw)
	}
	if raw, ok := w.t.Consume(llm.User); ok {
		o.Key("metadata").Open('{')
		o.Raw("user_id", raw)
		o.Close('}')
	}
	o.Raw("thinking", w.thinking)
	beta, _ := w.t.Consume("anthropic_beta")
	writeBetas(o, betas(w.to, beta))
	if len(w.native) > 0 {
		o.Key("tools").Open('[')
		for _, t := range w.native {
			writeNative(o, t)
		}
		o.Close(']')
	}
}

// scaled writes a penalty in Jurassic's format {"scale":…}, unless the caller set it in that
// format.
func (w *parameterWriter) scaled(o *jsonwriter.Writer, from, to string) {
	if _, provided := w.t.Peek(to); provided {
		return
	}
	if raw, ok := w.t.Consume(from); ok {
		o.Key(to).Open('{')
		o.Raw("scale", raw)
		o.Close('}')
	}
}

// novas writes the parameters that Amazon's own models expect in a nested object.
// Source: https://docs.aws.amazon.com/nova/latest/userguide/complete-request-schema.html, read 2026-11.
func (w *parameterWriter) novas(o *jsonwriter.Writer) {
	if raw, ok := w.t.Consume("top_k"); ok {
		o.Key("inferenceConfig").Open('{')
		o.Raw("topK", raw)
		o.Close('}')
	}
}
