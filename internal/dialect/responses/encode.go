package responses

import (
	"cmp"
	"context"

	"sluice/internal/dialect"
	"sluice/internal/dialect/conversation"
	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/dialect/toolcalls"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// unchangedParams are the parameters that responses and chat share, by their names in the hub.
var unchangedParams = [...]string{
	"temperature", "top_p", "top_logprobs", "prompt_cache_key", "prompt_cache_retention", "safety_identifier",
}

// shared are further parameters that responses and chat share. They mean something else on
// messages.
var shared = [...]string{"metadata", "service_tier", "truncation", "max_tool_calls"}

// EncodeCall builds a responses request from a call in another shape. It sends "store":false unless
// the caller requests storage, because that is the rule on chat and messages.
// Source: contract/provider-transforms.md 10.1, read from right to left.
func (upstream) EncodeCall(_ context.Context, c *llm.Call, to *dialect.Target) (*dialect.Outgoing, error) {
	t := llm.NewTally(c)
	w := callWriter{c: c, t: t, reasons: conversation.Reasons(to.Model)}
	w.Open('{')
	w.Str("model", to.Model)
	if err := w.conversation(); err != nil {
		return nil, err
	}
	w.tools()
	w.choice()
	w.text()
	w.reasoning()
	w.params()
	w.include()
	w.Close('}')
	return &dialect.Outgoing{Body: w.B, Dropped: t.Dropped(), Added: w.added}, nil
}

type callWriter struct {
	jsonwriter.Writer
	c      *llm.Call
	t      *llm.FieldTracker
	exact  bool            // the caller of messages sends reasoning back with its signatures
	custom map[string]bool // see isCustom; nil before its first call

	reasons bool // the model accepts reasoning settings
	added   dialect.Added
}

func (w *callWriter) params() {
	if raw, ok := w.t.Consume(llm.User); ok {
		w.Raw(llm.User, fields.User(raw))
	}
	for _, name := range unchangedParams {
		if raw, ok := w.t.Consume(name); ok {
			w.Raw(name, raw)
		}
	}
	if w.c.Surface != llm.Messages {
		for _, name := range shared {
			if raw, ok := w.t.Consume(name); ok {
				w.Raw(name, raw)
			}
		}
	}
	if raw, ok := w.t.First(llm.MaxCompletionTokens, llm.MaxTokens); ok {
		w.Raw("max_output_tokens", raw)
	}
	store, ok := w.t.Consume("store")
	w.Bool("store", ok && isTrue(store))
	if !ok {
		w.added |= dialect.AddedStore
	}
	if w.c.Stream {
		w.Bool("stream", true)
	}
}

// text writes the response format and the verbosity.
func (w *callWriter) text() {
	verbosity, requested := w.t.Consume(llm.Verbosity)
	f := w.c.Format
	if f == nil && !requested {
		return
	}
	w.Key("text").Open('{')
	if f != nil {
		w.Key("format")
		writeFormat(&w.Writer, f)
	}
	w.Raw(llm.Verbosity, verbosity)
	w.Close('}')
}

func writeFormat(w *jsonwriter.Writer, f *llm.Format) {
	w.Open('{')
	w.Str("type", f.Type)
	if f.Type == "json_schema" {
		w.Str("name", cmp.Or(f.Name, "output"))
		w.Opt("description", f.Description)
		w.Raw("schema", f.Schema)
		if f.Strict != nil {
			w.Bool("strict", *f.Strict)
		}
	}
	w.Close('}')
}

// reasoning writes the effort and the summary mode. The effort is the caller's, or is derived from
// the budget that callers of messages send.
func (w *callWriter) reasoning() {
	if !w.reasons {
		w.t.Consume(reasoningPrefix + "summary")
		return // other reasoning settings are reported as dropped
	}
	thinking, _ := w.t.Peek(llm.Thinking)
	effort, requested := w.t.Consume(llm.ReasoningEffort)
	if level := conversation.EffortOf(thinking); level != "" {
		w.t.Consume(llm.Thinking)
		w.exact = true
		if !requested {
			effort = jsonedit.Quote(level)
		}
	}
	summary, _ := w.t.Consume(reasoningPrefix + "summary")
	if len(effort) == 0 && len(summary) == 0 {
		return
	}
	w.Key("reasoning").Open('{')
	w.Raw("effort", effort)
	w.Raw("summary", summary)
	w.Close('}')
}

// include writes the caller's include list. It adds logprobs, and reasoning in the form that can be
// sent back to a provider that stores nothing.
func (w *callWriter) include() {
	logprobs, _ := w.t.Consume("logprobs")
	include, _ := w.t.Consume("include")
	var list jsonwriter.Writer
	list.Open('[')
	for val := range jsonedit.Elements(include) {
		list.Value(val)
	}
	if isTrue(logprobs) {
		list.Text(includeLogprobs)
	}
	if w.exact {
		if len(list.B) == len("[") {
			w.added |= dialect.AddedInclude
		}
		list.Text(includeReasoning)
	}
	list.Close(']')
	if len(list.B) > 2 {
		w.Raw("include", list.B)
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
		w.tool(t)
	}
	parallel, _ := w.t.Consume(llm.ParallelToolCalls)
	if open {
		w.Close(']')
		w.Raw(llm.ParallelToolCalls, parallel) // rejected without tools
	}
}

// supportsTool reports whether responses can represent a tool.
func supportsTool(t *llm.Tool) bool {
	return t.Type == llm.Function || t.Type == llm.Custom && t.Shape == chatShape
}

// tool writes a tool. It always writes strict, because a function without it is strict in responses
// and not strict in the other shapes.
func (w *callWriter) tool(t *llm.Tool) {
	w.Open('{')
	w.Str("type", t.Type)
	if t.Type == llm.Custom {
		w.Str("name", cmp.Or(t.Name, jsonedit.Text(inner(t), "name")))
		w.Opt("description", cmp.Or(t.Description, jsonedit.Text(inner(t), "description")))
		w.Raw("format", flatFormat(t))
	} else {
		w.Str("name", t.Name)
		w.Opt("description", t.Description)
		if len(t.Schema) > 0 {
			w.Raw("parameters", toolcalls.Arguments(t.Schema))
		} else {
			w.Raw("parameters", []byte(`{"type":"object","properties":{}}`))
		}
		w.Bool("strict", t.Strict != nil && *t.Strict)
	}
	w.Close('}')
	if t.Cache != nil {
		w.t.Drop(fields.ElementPath("tools", t.Index) + ".cache_control")
	}
}

// inner returns the inner object of a custom tool of chat completions.
func inner(t *llm.Tool) []byte {
	raw, _ := jsonedit.Find(t.Raw, llm.Custom)
	return raw
}

func (w *callWriter) choice() {
	switch c := toolcalls.ChoiceAmong(w.t, w.c, supportsTool); c.Mode {
	case "":
	case "tool":
		w.Key("tool_choice").Open('{')
		w.Str("type", llm.Function)
		w.Str("name", c.Name)
		w.Close('}')
	case "opaque":
		if w.c.Surface == llm.CreateModelResponse {
			w.Raw("tool_choice", c.Raw)
			return
		}
		w.t.Drop(c.From)
	default:
		w.Str("tool_choice", c.Mode)
	}
}
