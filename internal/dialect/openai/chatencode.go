package openai

import (
	"cmp"
	"context"

	"sluice/internal/dialect"
	"sluice/internal/dialect/conversation"
	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/dialect/toolcalls"
	"sluice/internal/kernel/llm"
)

// unchangedParams are the parameters that chat has, by their names in the hub. Metadata and
// service_tier mean something else on messages.
var unchangedParams = [...]string{
	"temperature", "top_p", llm.Stop, "seed", "n", "presence_penalty", "frequency_penalty", "logit_bias", "top_logprobs",
	llm.Verbosity, "prediction", "modalities", "audio", "prompt_cache_key", "prompt_cache_retention",
	"safety_identifier", "web_search_options", "logprobs",
}

// shared are the parameters that only chat and responses share.
var shared = [...]string{"metadata", "service_tier", "store"}

// EncodeCall builds a chat completion request from a call that came in another shape.
// Source: contract/provider-transforms.md 9.1 and 10.1.
func (chat) EncodeCall(_ context.Context, c *llm.Call, to *dialect.Target) (*dialect.Outgoing, error) {
	t := llm.NewTally(c)
	w := callWriter{c: c, t: t, model: to.Model, rules: to.Rules, reasons: conversation.Reasons(to.Model)}
	if to.Rules != nil {
		w.reasoningField, w.switched = to.Rules.ReasoningField, to.Rules.ThinkingSwitch
	}
	w.Open('{')
	w.Str("model", to.Model)
	if err := w.messages(); err != nil {
		return nil, err
	}
	w.tools()
	w.choice()
	w.format()
	w.params()
	w.limit(to)
	w.effort()
	if c.Stream {
		w.Bool("stream", true)
	}
	w.Close('}')
	return &dialect.Outgoing{Body: w.B, Dropped: t.Dropped()}, nil
}

type callWriter struct {
	jsonwriter.Writer
	c              *llm.Call
	t              *llm.FieldTracker
	model          string
	rules          *dialect.RequestRules // nil for none
	reasoningField string                // dialect.RequestRules.Thoughts
	switched       bool                  // dialect.RequestRules.ThinkingSwitch
	reasons        bool                  // the model accepts a reasoning effort
	aside          conversation.DeferredContent
}

func (w *callWriter) params() {
	if raw, ok := w.take(llm.User); ok {
		w.Raw(llm.User, fields.User(raw))
	}
	w.writeUnchanged(unchangedParams[:])
	if w.c.Surface != llm.Messages {
		w.writeUnchanged(shared[:])
	}
}

func (w *callWriter) writeUnchanged(names []string) {
	for _, name := range names {
		if raw, ok := w.take(name); ok {
			w.Raw(name, raw)
		}
	}
}

// take returns the value of a parameter that the provider accepts. It does not consume a
// refused parameter, which is therefore reported as dropped under the caller's name.
func (w *callWriter) take(name string) (raw []byte, ok bool) {
	if w.rules.Rejects(name) {
		return nil, false
	}
	return w.t.Consume(name)
}

// limit writes the maximum length of the response under the name that the provider supports.
func (w *callWriter) limit(to *dialect.Target) {
	raw, ok := w.t.First(llm.MaxCompletionTokens, llm.MaxTokens)
	switch {
	case !ok:
	case to.Newer:
		w.Raw(llm.MaxCompletionTokens, raw)
	default:
		w.Raw(llm.MaxTokens, raw)
	}
}

func (w *callWriter) tools() {
	open := false
	for i := range w.c.Tools {
		t := &w.c.Tools[i]
		if !supportsTool(t) {
			w.t.Drop(fields.ElementPath("tools", t.Index))
			continue
		}
		if !open {
			w.Key("tools").Open('[')
			open = true
		}
		if t.Type != llm.Function {
			w.Value(t.Raw)
			continue
		}
		w.function(t)
	}
	parallel, _ := w.t.Consume(llm.ParallelToolCalls)
	if open {
		w.Close(']')
		w.Raw(llm.ParallelToolCalls, parallel) // providers refuse it without tools
	}
}

// supportsTool reports whether a chat completion supports a tool.
func supportsTool(t *llm.Tool) bool { return toolcalls.IsFunction(t) || t.Shape == shapeName }

func (w *callWriter) function(t *llm.Tool) {
	w.Open('{')
	w.Str("type", llm.Function)
	w.Key("function").Open('{')
	w.Str("name", t.Name)
	w.Opt("description", t.Description)
	w.Raw("parameters", toolcalls.Arguments(t.Schema))
	if t.Strict != nil {
		w.Bool("strict", *t.Strict)
	}
	w.Close('}')
	w.Close('}')
	if t.Cache != nil {
		w.t.Drop(fields.ElementPath("tools", t.Index) + ".cache_control")
	}
}

func (w *callWriter) choice() {
	switch c := toolcalls.ChoiceAmong(w.t, w.c, supportsTool); c.Mode {
	case "":
	case "tool":
		w.Key("tool_choice").Open('{')
		w.Str("type", llm.Function)
		w.Key("function").Open('{')
		w.Str("name", c.Name)
		w.Close('}')
		w.Close('}')
	case "opaque":
		if w.c.Surface == llm.ChatComplete {
			w.Raw("tool_choice", c.Raw)
			return
		}
		w.t.Drop(c.From)
	default:
		w.Str("tool_choice", c.Mode)
	}
}

func (w *callWriter) format() {
	f := w.c.Format
	if f == nil {
		return
	}
	w.Key("response_format").Open('{')
	w.Str("type", f.Type)
	if f.Type == "json_schema" {
		w.Key("json_schema").Open('{')
		w.Str("name", cmp.Or(f.Name, "output"))
		w.Opt("description", f.Description)
		w.Raw("schema", f.Schema)
		if f.Strict != nil {
			w.Bool("strict", *f.Strict)
		}
		w.Close('}')
	}
	w.Close('}')
}
