package oracle

import (
	"bytes"
	"cmp"
	"context"
	"strings"

	"sluice/internal/dialect"
	"sluice/internal/dialect/conversation"
	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/dialect/toolcalls"
	"sluice/internal/kernel/llm"
)

// renamed are the parameters that differ only in their names.
var renamed = []fields.Rename{
	{Path: "temperature", To: "temperature"},
	{Path: "top_p", To: "topP"},
	{Path: "top_k", To: "topK"},
	{Path: "frequency_penalty", To: "frequencyPenalty"},
	{Path: "presence_penalty", To: "presencePenalty"},
	{Path: "seed", To: "seed"},
	{Path: "n", To: "numGenerations"},
	{Path: "logit_bias", To: "logitBias"},
	{Path: llm.ParallelToolCalls, To: "isParallelToolCalls"},
	{Path: "is_echo", To: "isEcho"},
}

// upperCaseFields are the parameters whose values are in capitals here.
var upperCaseFields = []fields.Rename{
	{Path: llm.ReasoningEffort, To: "reasoningEffort"},
	{Path: llm.Verbosity, To: "verbosity"},
}

// EncodeCall builds the body of a chat: the compartment that pays, the model or the
// dedicated endpoint, and the conversation.
func (chat) EncodeCall(_ context.Context, c *llm.Call, to *dialect.Target) (*dialect.Outgoing, error) {
	w := writer{c: c, t: llm.NewTally(c)}
	w.Open('{')
	w.Str("compartmentId", to.Value("oracle_compartment_id"))
	w.serving(to)
	w.Key("chatRequest").Open('{')
	kind := format(to)
	w.Str("apiFormat", kind)
	var err error
	switch kind {
	case cohere:
		err = (&cohereWriter{writer: &w, calls: map[string]*llm.ToolCall{}}).request()
	case cohereV2:
		err = v2Writer{&w, new(conversation.DeferredContent)}.request()
	default:
		err = w.request(to)
	}
	if err != nil {
		return nil, err
	}
	if c.Stream {
		w.Bool("isStream", true)
		w.Key("streamOptions").Open('{')
		w.Bool("isIncludeUsage", true) // usage is not reported otherwise
		w.Close('}')
	}
	w.Close('}')
	w.Close('}')
	return &dialect.Outgoing{Body: w.B, Dropped: w.t.Dropped()}, nil
}

// request writes a chat request in the generic format.
func (w *writer) request(to *dialect.Target) error {
	if err := w.messages(); err != nil {
		return err
	}
	w.tools()
	w.choice()
	w.format()
	w.params(to)
	return nil
}

// writer writes one request.
type writer struct {
	jsonwriter.Writer
	c *llm.Call
	t *llm.FieldTracker
}

// serving writes the name of a shared model, or the endpoint of the customer's own cluster.
func (w *writer) serving(to *dialect.Target) {
	mode, name := "ON_DEMAND", "modelId"
	if to.Value("oracle_serving_mode") == "DEDICATED" {
		mode, name = "DEDICATED", "endpointId"
	}
	w.Key("servingMode").Open('{')
	w.Str("servingType", mode)
	w.Str(name, to.Model)
	w.Close('}')
}

func (w *writer) params(to *dialect.Target) {
	fields.WriteParams(&w.Writer, w.t, renamed)
	w.upperCaseFields(upperCaseFields)
	if raw, ok := w.t.Consume(llm.Stop); ok {
		w.Raw("stop", conversation.Stops(raw, true))
	}
	if raw, ok := w.t.First(llm.MaxCompletionTokens, llm.MaxTokens); ok {
		w.Raw(limit(to.Model), raw)
	}
	w.logprobs()
	if w.c.Surface == llm.Messages {
		return // both have a different meaning there
	}
	if raw, ok := w.t.Consume("metadata"); ok {
		w.Raw("metadata", raw)
	}
	if raw, ok := w.t.Consume("service_tier"); ok {
		w.Raw("serviceTier", upperCase(raw))
	}
}

// upperCaseFields writes parameters whose values are in capitals.
func (w *writer) upperCaseFields(list []fields.Rename) {
	for _, n := range list {
		if raw, ok := w.t.Consume(n.Path); ok {
			w.Raw(n.To, upperCase(raw))
		}
	}
}

// limit returns the name of the parameter for the maximum response length. OpenAI's models
// refuse the name that all others support.
func limit(model string) string {
	if strings.HasPrefix(model, "openai.") {
		return "maxCompletionTokens"
	}
	return "maxTokens"
}

// upperCase returns a value in capitals. The provider refuses anything that is not valid.
func upperCase(raw []byte) []byte {
	if raw[0] != '"' || bytes.IndexByte(raw, '\\') >= 0 {
		return raw
	}
	return bytes.ToUpper(raw)
}

// logprobs requests the log probabilities of tokens. Here one number both requests them and
// sets how many.
func (w *writer) logprobs() {
	logprobs, _ := w.t.Consume("logprobs")
	top, many := w.t.Consume("top_logprobs")
	switch {
	case string(logprobs) == "true" && many:
		w.Raw("logProbs", top)
	case string(logprobs) == "true":
		w.Int("logProbs", 1)
	}
}

func (w *writer) tools() {
	toolcalls.WriteFunctions(&w.Writer, w.t, w.c, func(t *llm.Tool, path string) {
		w.Open('{')
		w.Str("type", "FUNCTION")
		w.Str("name", t.Name)
		w.Opt("description", t.Description)
		w.Raw("parameters", t.Schema)
		w.Close('}')
		if t.Strict != nil && *t.Strict {
			w.t.Drop(fields.NestedPath(w.c, path, "function") + ".strict")
		}
		if t.Cache != nil {
			w.t.Drop(path + ".cache_control")
		}
	})
}

func (w *writer) choice() {
	c := toolcalls.ChoiceAmong(w.t, w.c, toolcalls.IsFunction)
	kind := map[string]string{"auto": "AUTO", "none": "NONE", "required": "REQUIRED", "tool": "FUNCTION"}[c.Mode]
	switch {
	case kind != "":
		w.Key("toolChoice").Open('{')
		w.Str("type", kind)
		w.Opt("name", c.Name)
		w.Close('}')
	case c.Mode != "":
		w.t.Drop(c.From)
	}
}

func (w *writer) format() {
	f := w.c.Format
	if f == nil {
		return
	}
	w.Key("responseFormat").Open('{')
	w.Str("type", strings.ToUpper(f.Type))
	if f.Type == "json_schema" {
		w.Key("jsonSchema").Open('{')
		w.Str("name", cmp.Or(f.Name, "output"))
		w.Opt("description", f.Description)
		w.Raw("schema", f.Schema)
		if f.Strict != nil {
			w.Bool("isStrict", *f.Strict)
		}
		w.Close('}')
	}
	w.Close('}')
}
