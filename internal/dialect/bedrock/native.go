package bedrock

import (
	"strconv"

	"sluice/internal/dialect/conversation"
	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/dialect/usage"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/wire"
)

// native describes the InvokeModel format of a model family that completes a text prompt.
// Complete responses and stream events have the same members.
// Source: contract/provider-transforms.md 3.6;
// https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters.html, read 2026-11.
type native struct {
	prompt string          // member for the prompt
	turns  bool            // the prompt must be wrapped as a turn of a dialogue
	inside string          // object that contains the parameters; empty: the top-level object
	params []fields.Rename // OpenAI's parameter names and the family's
	scaled []fields.Rename // numbers written as {"scale":…}
	stop   string          // member for the list of stop sequences
	limit  string          // member for max_tokens
	need   int64           // default max_tokens for families that require one; 0: not required
	stream string          // member set to true for a stream; empty: only the URL selects streaming

	list   string   // member with the list of results; empty or absent: the object itself is the result
	text   []string // path of a result's text
	finish []string // path of a result's finish reason
	index  string   // member with a result's index; empty: there is one result
	used   [2]string
}

var natives = map[string]*native{
	anthropic: {
		prompt: "prompt", turns: true, limit: "max_tokens_to_sample", need: 4096, stop: "stop_sequences",
		params: []fields.Rename{{Path: "temperature", To: "temperature"}, {Path: "top_p", To: "top_p"}, {Path: "top_k", To: "top_k"}},
		text:   []string{"completion"}, finish: []string{"stop_reason"},
	},
	cohere: {
		prompt: "prompt", limit: "max_tokens", stop: "end_sequences", stream: "stream",
		params: []fields.Rename{
			{Path: "temperature", To: "temperature"}, {Path: "top_p", To: "p"}, {Path: "top_k", To: "k"}, {Path: "n", To: "num_generations"},
			{Path: "frequency_penalty", To: "frequency_penalty"}, {Path: "presence_penalty", To: "presence_penalty"}, {Path: "logit_bias", To: "logit_bias"},
		},
		list: "generations", text: []string{"text"}, finish: []string{"finish_reason"}, index: "index",
	},
	meta: {
		prompt: "prompt", limit: "max_gen_len",
		params: []fields.Rename{{Path: "temperature", To: "temperature"}, {Path: "top_p", To: "top_p"}},
		text:   []string{"generation"}, finish: []string{"stop_reason"}, used: [2]string{"prompt_token_count", "generation_token_count"},
	},
	mistr: {
		prompt: "prompt", limit: "max_tokens", stop: "stop",
		params: []fields.Rename{{Path: "temperature", To: "temperature"}, {Path: "top_p", To: "top_p"}, {Path: "top_k", To: "top_k"}},
		list:   "outputs", text: []string{"text"}, finish: []string{"stop_reason"},
	},
	amazon: {
		prompt: "inputText", inside: "textGenerationConfig", limit: "maxTokenCount", stop: "stopSequences",
		params: []fields.Rename{{Path: "temperature", To: "temperature"}, {Path: "top_p", To: "topP"}},
		list:   "results", text: []string{"outputText"}, finish: []string{"completionReason"}, used: [2]string{"inputTextTokenCount", "tokenCount"},
	},
	ai21: {
		prompt: "prompt", limit: "maxTokens", stop: "stopSequences",
		params: []fields.Rename{
			{Path: "temperature", To: "temperature"}, {Path: "top_p", To: "topP"}, {Path: "presencePenalty", To: "presencePenalty"},
			{Path: "frequencyPenalty", To: "frequencyPenalty"}, {Path: "countPenalty", To: "countPenalty"},
		},
		scaled: []fields.Rename{{Path: "presence_penalty", To: "presencePenalty"}, {Path: "frequency_penalty", To: "frequencyPenalty"}},
		list:   "completions", text: []string{"data", "text"}, finish: []string{"finishReason", "reason"},
	},
}

// nativeOf returns the format of a model. A model without one is fault.NotSupported.
func nativeOf(model string) (*native, error) {
	if n, ok := natives[familyOf(model)]; ok {
		return n, nil
	}
	return nil, fault.New(fault.NotSupported, "text completions are not supported for this model by bedrock; use chat completions").WithParam("model")
}

// encode writes the request body that completes a prompt.
func (n *native) encode(t *llm.FieldTracker, prompt string, stream bool) []byte {
	var w jsonwriter.Writer
	w.Open('{')
	if n.turns {
		prompt = "\n\nHuman: " + prompt + "\n\nAssistant:"
	}
	w.Str(n.prompt, prompt)
	if n.inside != "" {
		w.Key(n.inside).Open('{')
	}
	limit, limited := t.First(llm.MaxTokens, llm.MaxCompletionTokens)
	switch {
	case limited:
		w.Raw(n.limit, limit)
	case n.need > 0:
		w.Int(n.limit, n.need)
	}
	fields.WriteParams(&w, t, n.params)
	for _, s := range n.scaled {
		if _, requested := t.Peek(s.To); requested {
			continue
		}
		if raw, ok := t.Consume(s.Path); ok {
			w.Key(s.To).Open('{')
			w.Raw("scale", raw)
			w.Close('}')
		}
	}
	if n.stop != "" {
		if raw, ok := t.Consume(llm.Stop); ok {
			w.Raw(n.stop, conversation.Stops(raw, true))
		}
	}
	if n.inside != "" {
		w.Close('}')
	}
	if stream && n.stream != "" {
		w.Bool(n.stream, true)
	}
	w.Close('}')
	return w.B
}

// outputText is a text or a text fragment of one choice, with its finish reason.
type outputText struct {
	choice int
	text   string
	reason string // "endoftext"; empty: the choice has not ended
}

// outputTexts returns the texts in a response or an event. It returns nil if there are none.
func (n *native) outputTexts(body []byte) []outputText {
	var all []outputText
	list, several := jsonedit.Find(body, n.list)
	if n.list == "" || !several {
		if s, ok := n.outputText(body, 0); ok {
			all = append(all, s)
		}
		return all
	}
	for val := range jsonedit.Elements(list) {
		if s, ok := n.outputText(val, len(all)); ok {
			all = append(all, s)
		}
	}
	return all
}

// maxChoices limits the index of a choice. No model returns more choices.
const maxChoices = 128

func (n *native) outputText(raw []byte, index int) (s outputText, ok bool) {
	s.choice = index
	text, hasText := jsonedit.Find(raw, n.text...)
	reason, ended := jsonedit.Find(raw, n.finish...)
	s.text, s.reason = plain(text), plain(reason)
	if n.index != "" {
		val, _ := jsonedit.Find(raw, n.index)
		if k, err := strconv.Atoi(string(val)); err == nil && k >= 0 && k < maxChoices {
			s.choice = k
		}
	}
	return s, hasText || ended
}

// finishReasons maps the families' finish reasons to ours.
// Source: contract/provider-transforms.md 1.1.
var finishReasons = map[string]llm.Finish{
	"length": llm.FinishLength, "max_tokens": llm.FinishLength, "MAX_TOKENS": llm.FinishLength, "LENGTH": llm.FinishLength,
	"CONTENT_FILTERED": llm.FinishFilter, "ERROR_TOXIC": llm.FinishFilter,
}

// nativeFinish translates a finish reason of any family. Reasons that are not in finishReasons
// mean that the response is complete.
func nativeFinish(reason string) llm.Finish {
	f := finishReasons[reason]
	if f == llm.FinishNone && reason != "" {
		return llm.FinishStop
	}
	return f
}

// Amazon reports the usage of an invocation in headers or in the last event.
const (
	inputHeader  = "x-amzn-bedrock-input-token-count"
	outputHeader = "x-amzn-bedrock-output-token-count"
	metricsName  = "amazon-bedrock-invocationMetrics"
)

// usage returns the usage of an invocation. It reads the headers, and the response body if the
// headers report none.
func (n *native) usage(h wire.Header, body []byte) llm.Usage {
	u := headerUsage(h)
	if u.Reported || n.used[0] == "" {
		return u
	}
	input, ok := jsonedit.Find(body, n.used[0])
	if ok {
		count(input, &u.InputTokens)
	}
	output, reported := jsonedit.Find(body, n.used[1])
	count(output, &u.OutputTokens)
	list, _ := jsonedit.Find(body, n.list)
	for val := range jsonedit.Elements(list) {
		one, _ := jsonedit.Find(val, n.used[1])
		tokens, isCount := usage.Count(one)
		u.OutputTokens += tokens
		reported = reported || isCount
	}
	u.TotalTokens, u.Reported = u.InputTokens+u.OutputTokens, ok || reported
	return u
}

// headerUsage returns the usage in the response headers.
func headerUsage(h wire.Header) llm.Usage {
	var u llm.Usage
	input, output := h.Get(inputHeader), h.Get(outputHeader)
	count([]byte(input), &u.InputTokens)
	count([]byte(output), &u.OutputTokens)
	u.TotalTokens, u.Reported = u.InputTokens+u.OutputTokens, input != "" || output != ""
	return u
}

// metricsUsage returns the usage in the last event of a stream. For other events ok is false.
func metricsUsage(event []byte) (u llm.Usage, ok bool) {
	m, ok := jsonedit.Find(event, metricsName)
	if !ok {
		return u, false
	}
	input, _ := jsonedit.Find(m, "inputTokenCount")
	output, _ := jsonedit.Find(m, "outputTokenCount")
	count(input, &u.InputTokens)
	count(output, &u.OutputTokens)
	u.TotalTokens, u.Reported = u.InputTokens+u.OutputTokens, true
	return u, true
}
