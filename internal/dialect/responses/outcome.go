package responses

import (
	"cmp"
	"iter"

	"sluice/internal/dialect"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/dialect/upstreamerror"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

func elements(list []byte) iter.Seq[[]byte] { return jsonedit.Elements(list) }

// logprobsOf returns the entries of chat's {"content":[…]}, without brackets.
func logprobsOf(raw []byte) []byte {
	list, _ := jsonedit.Find(raw, "content")
	var out []byte
	for val := range jsonedit.Elements(list) {
		out = gather(out, val)
	}
	return out
}

// outcome is a response object: the output of the provider and the members that repeat the call. It
// contains every member that OpenAI's schema requires. A member that neither the caller nor the
// provider set has the default of the schema.
// Source: https://platform.openai.com/docs/api-reference/responses/object, read
// 2026-11; contract/provider-transforms.md 10.2.
type outcome struct {
	a       *dialect.ResponseContext
	model   string
	created int64
	running bool // still in progress
	finish  endState
	fault   *llm.Event // why it failed; nil if it did not
	output  []byte     // list of items
	usage   *llm.Usage // nil while unknown
	extra   []llm.Param
}

func (o *outcome) append(w *jsonwriter.Writer) {
	a, start := o.a, len(w.B)
	w.Open('{')
	w.Str("id", ID(a.ID))
	w.Str("object", "response")
	w.Int("created_at", o.createdAt())
	if o.running {
		w.Str("status", inProgress)
	} else {
		w.Str("status", o.finish.status())
	}
	w.Bool("background", false)
	w.Raw("completed_at", null)
	o.failure(w)
	o.reason(w)
	w.Key("instructions")
	o.instructions(w)
	o.repeat(w, "max_output_tokens", llm.MaxTokens, "null")
	o.repeat(w, "max_tool_calls", "max_tool_calls", "null")
	w.Str("model", cmp.Or(o.model, a.Call.Model))
	w.Opt("provider", a.Provider)
	w.Raw("output", o.output)
	o.repeat(w, "parallel_tool_calls", llm.ParallelToolCalls, "true")
	w.Key("previous_response_id")
	textOrNull(w, a.Previous)
	for _, r := range repeated {
		o.repeat(w, r.name, r.name, r.otherwise)
	}
	o.reasoning(w)
	w.Str("service_tier", o.tier())
	w.Bool("store", a.Store)
	o.text(w)
	o.tools(w)
	o.spent(w)
	o.others(w, start)
	w.Close('}')
}

// repeated are the members that repeat parameters of the caller, with their defaults.
var repeated = [...]struct{ name, otherwise string }{
	{"frequency_penalty", "0"}, {"metadata", "{}"}, {"presence_penalty", "0"}, {"prompt_cache_key", "null"}, {"safety_identifier", "null"},
	{"temperature", "1"}, {"top_logprobs", "0"}, {"top_p", "1"}, {"truncation", `"disabled"`}, {"user", "null"},
}

func (o *outcome) param(name string) []byte {
	for i := range o.a.Call.Params {
		if p := &o.a.Call.Params[i]; p.Name == name {
			return p.Raw
		}
	}
	return nil
}

func (o *outcome) repeat(w *jsonwriter.Writer, member, param, otherwise string) {
	if raw := o.param(param); raw != nil {
		w.Raw(member, raw)
		return
	}
	w.Raw(member, []byte(otherwise))
}

func (o *outcome) createdAt() int64 {
	if o.created != 0 {
		return o.created
	}
	return o.a.Created
}

func textOrNull(w *jsonwriter.Writer, s string) {
	if s == "" {
		w.Value(null)
		return
	}
	w.Text(s)
}

func (o *outcome) failure(w *jsonwriter.Writer) {
	if o.fault == nil {
		w.Raw("error", null)
		return
	}
	w.Key("error").Open('{')
	w.Str("code", codeOf(o.fault))
	w.Str("message", o.fault.Text)
	w.Close('}')
}

// codeOf returns the code of a failed response: one of OpenAI's few codes, or the code for a
// conversation that is too long, which coding agents check.
func codeOf(ev *llm.Event) string {
	switch {
	case ev.ID == upstreamerror.ContextCode:
		return ev.ID
	case ev.Status == 429:
		return "rate_limit_exceeded"
	}
	return "server_error"
}

// cuts are the reasons for an incomplete response.
var cuts = map[endState]string{cutByLength: "max_output_tokens", cutByFilter: "content_filter"}

func (o *outcome) reason(w *jsonwriter.Writer) {
	reason, ok := cuts[o.finish]
	if !ok {
		w.Raw("incomplete_details", null)
		return
	}
	w.Key("incomplete_details").Open('{')
	w.Str("reason", reason)
	w.Close('}')
}

func (o *outcome) instructions(w *jsonwriter.Writer) {
	text, _ := instructions(o.a.Call.Messages)
	textOrNull(w, text)
}

func (o *outcome) reasoning(w *jsonwriter.Writer) {
	w.Key("reasoning").Open('{')
	o.repeat(w, "effort", llm.ReasoningEffort, "null")
	o.repeat(w, "summary", reasoningPrefix+"summary", "null")
	w.Close('}')
}

func (o *outcome) tier() string {
	for i := range o.extra {
		if o.extra[i].Name == "service_tier" {
			if s, _ := jsonedit.Unquote(o.extra[i].Raw); s != "" {
				return s
			}
		}
	}
	s, _ := jsonedit.Unquote(o.param("service_tier"))
	return cmp.Or(s, "default")
}

func (o *outcome) text(w *jsonwriter.Writer) {
	w.Key("text").Open('{')
	w.Key("format")
	f := o.a.Call.Format
	if f == nil {
		f = &llm.Format{Type: "text"}
	}
	writeFormat(w, f)
	w.Raw(llm.Verbosity, o.param(llm.Verbosity))
	w.Close('}')
}

func (o *outcome) tools(w *jsonwriter.Writer) {
	switch c := o.a.Call.Choice; c.Mode {
	case "":
		w.Str("tool_choice", "auto")
	case "tool", "opaque":
		w.Raw("tool_choice", c.Raw)
	default:
		w.Str("tool_choice", c.Mode)
	}
	w.Key("tools").Open('[')
	var space *llm.Namespace
	for i := range o.a.Call.Tools {
		t := &o.a.Call.Tools[i]
		switch {
		case t.Namespace == nil:
			repeatTool(w, t)
		case t.Namespace != space:
			w.Value(t.Namespace.Raw)
		}
		space = t.Namespace
	}
	w.Close(']')
}

func repeatTool(w *jsonwriter.Writer, t *llm.Tool) {
	w.Open('{')
	w.Str("type", t.Type)
	w.Str("name", t.Name)
	w.Key("description")
	textOrNull(w, t.Description)
	if t.Type == llm.Custom {
		w.Raw("format", flatFormat(t))
	} else {
		if len(t.Schema) > 0 {
			w.Raw("parameters", t.Schema)
		} else {
			w.Raw("parameters", null)
		}
		w.Bool("strict", t.Strict != nil && *t.Strict)
	}
	for i := range t.Extra {
		w.Named(t.Extra[i].Name, t.Extra[i].Raw)
	}
	w.Close('}')
}

// spent writes the usage. The cache counters are where OpenAI has them. Audio and image tokens, if
// there are any, are next to them, as in chat completions.
// Source: contract/provider-transforms.md 1.3, 10.2.
func (o *outcome) spent(w *jsonwriter.Writer) {
	u := o.usage
	if u == nil {
		w.Raw("usage", null)
		return
	}
	w.Key("usage").Open('{')
	w.Int("input_tokens", u.InputTokens)
	w.Key("input_tokens_details").Open('{')
	w.Int("cached_tokens", u.CachedTokens)
	w.Int("cache_write_tokens", u.CacheWriteTokens)
	w.Some("audio_tokens", u.InputAudioTokens)
	w.Some("image_tokens", u.InputImageTokens)
	w.Close('}')
	w.Int("output_tokens", u.OutputTokens)
	w.Key("output_tokens_details").Open('{')
	w.Int("reasoning_tokens", u.ReasoningTokens)
	w.Some("audio_tokens", u.OutputAudioTokens)
	w.Some("image_tokens", u.OutputImageTokens)
	w.Close('}')
	total := u.TotalTokens
	if total == 0 {
		total = u.InputTokens + u.OutputTokens
	}
	w.Int("total_tokens", total)
	w.Close('}')
}

// others writes the other members that the provider sent, unless the object that begins at start
// already has a member of that name. Strict callers do not receive them.
func (o *outcome) others(w *jsonwriter.Writer, start int) {
	if o.a.Strict {
		return
	}
	for i := range o.extra {
		p := &o.extra[i]
		if _, taken := jsonedit.Find(w.B[start:], p.Name); !taken {
			w.Named(p.Name, p.Raw)
		}
	}
}
