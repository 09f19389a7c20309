package anthropic

import (
	"context"
	"strings"

	"sluice/internal/dialect"
	"sluice/internal/dialect/claude"
	"sluice/internal/dialect/conversation"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/wire"
)

// unchangedParams lists the parameters of the Messages API that are sent unchanged, by their
// names in the hub. Callers of other surfaces may use those that only Anthropic has, too.
// Source: contract/provider-transforms.md 2.1; contract/providers.yaml, anthropic.
var unchangedParams = [...]string{
	"container", "mcp_servers", "context_management", "inference_geo", "diagnostics", "fallbacks",
	"fallback_credit_token", "compaction", "cache_control",
}

// EncodeCall builds a request for a message.
func (messages) EncodeCall(_ context.Context, c *llm.Call, to *dialect.Target) (*dialect.Outgoing, error) {
	model := claude.ParseModel(to.Model)
	c = conversation.StartWithUserTurn(c)
	if c.Surface != llm.Messages && !model.Continues() {
		c = conversation.EndWithUserTurn(c)
	}
	w := newCallWriter(&callBody{Writer: jsonwriter.NewForCall(c), c: c, t: llm.NewTally(c), to: to, model: model})
	w.Open('{')
	w.Str("model", to.Model)
	w.limit()
	if err := w.conversation(); err != nil {
		return nil, err
	}
	w.tools()
	w.choice()
	w.effort()
	w.output()
	header := w.header()
	w.params()
	if c.Stream {
		w.Bool("stream", true)
	}
	w.Close('}')
	return &dialect.Outgoing{Body: w.B, Header: header, Dropped: w.t.Dropped(), Added: w.added}, nil
}

// callWriter writes one request: its turns, its tools and its parameters into one body.
type callWriter struct {
	*callBody
	turnWriter
	toolWriter
	parameterWriter
}

// newCallWriter returns a writer of a body.
func newCallWriter(body *callBody) callWriter {
	return callWriter{body, turnWriter{callBody: body, content: contentWriter{body}}, toolWriter{body}, parameterWriter{callBody: body}}
}

// callBody is the body of a request, with the call that it is written from and its target. The
// writers of its parts share it.
type callBody struct {
	jsonwriter.Writer
	c      *llm.Call
	t      *llm.FieldTracker
	to     *dialect.Target
	model  claude.Model // parsed from the model name
	added  dialect.Added
	tokens []byte   // maximum response tokens that the caller set; nil if not set
	betas  []string // beta flags that the request needs
	tooled bool     // the request contains tools
	spent  bool     // the tools were called earlier and must not be called again
}

// parameterWriter writes the parameters of a request: limits, sampling, thinking, format.
type parameterWriter struct {
	*callBody
	level []byte // raw, for output_config.effort
}

// native reports whether the caller uses the Messages API. Fields without a name in the hub are
// then in Anthropic's format.
func (w *callBody) native() bool { return w.c.Surface == llm.Messages }

// limit writes the maximum length of the response.
func (w *parameterWriter) limit() {
	raw, ok := w.t.First(llm.MaxTokens, llm.MaxCompletionTokens)
	if ok {
		w.tokens = raw
		w.Raw(llm.MaxTokens, raw)
		return
	}
	w.Int(llm.MaxTokens, w.model.MaxOutput())
}

func (w *parameterWriter) params() {
	for _, name := range unchangedParams {
		if raw, ok := w.t.Consume(name); ok {
			w.Raw(name, raw)
		}
	}
	if raw, ok := w.t.Consume(llm.Stop); ok {
		w.Raw("stop_sequences", w.stops(raw))
	}
	w.sampling()
	w.metadata()
	w.tier()
	if w.native() {
		for _, p := range w.t.Rest() {
			w.Named(p.Name, p.Raw)
		}
	}
}

// stops returns the stop sequences. Those of native callers are returned unchanged.
func (w *parameterWriter) stops(raw []byte) []byte {
	if w.native() {
		return raw
	}
	return conversation.Stops(raw, false)
}

// sampling writes the sampling parameters that the model supports.
func (w *parameterWriter) sampling() {
	for _, name := range [...]string{"temperature", "top_k", "top_p"} {
		raw, ok := w.sampled(name)
		if !ok {
			continue
		}
		if _, both := w.t.Peek("temperature"); both && name == "top_p" { // newer models reject both together
			w.t.Drop(name)
			continue
		}
		w.Raw(name, raw)
	}
}

// sampled returns the value of a sampling parameter. It does not check those of native callers.
func (w *parameterWriter) sampled(name string) ([]byte, bool) {
	if w.native() {
		return w.t.Consume(name)
	}
	return w.model.Sampled(w.t, name)
}

// metadata writes the caller's user id and the other metadata members.
func (w *parameterWriter) metadata() {
	const prefix = "metadata."
	open := false
	put := func(name string, raw []byte) {
		if !open {
			w.Key("metadata").Open('{')
			open = true
		}
		w.Named(name, raw)
	}
	if raw, ok := w.t.Consume(llm.User); ok {
		put("user_id", raw)
	}
	for i := range w.c.Params {
		if name, ok := strings.CutPrefix(w.c.Params[i].Name, prefix); ok {
			raw, _ := w.t.Consume(w.c.Params[i].Name)
			put(name, raw)
		}
	}
	if open {
		w.Close('}')
	}
}

// tiers maps OpenAI's service tiers to Anthropic's field and value. "fast" and "standard" are
// speeds.
// Source: contract/provider-transforms.md 2.1.
var tiers = map[string][2]string{
	`"auto"`: {"service_tier", "auto"}, `"default"`: {"service_tier", "standard_only"}, `"standard_only"`: {"service_tier", "standard_only"},
	`"fast"`: {"speed", "fast"}, `"standard"`: {"speed", "standard"},
}

func (w *parameterWriter) tier() {
	if raw, ok := w.t.Consume("speed"); ok {
		w.Raw("speed", raw)
	}
	raw, ok := w.t.Peek("service_tier")
	if !ok || w.native() {
		return
	}
	if to, known := tiers[string(raw)]; known {
		w.t.Consume("service_tier")
		w.Str(to[0], to[1])
	}
}

// filesBeta is the beta flag that a request needs to reference uploaded files.
// Source: https://platform.claude.com/docs/en/build-with-claude/files, read 2026-11.
const filesBeta = "files-api-2025-04-14"

// header returns the header with the beta flags, nil if the request needs none. It includes the
// flags that the caller set in the body.
// Source: contract/provider-transforms.md 2.1.
func (w *parameterWriter) header() wire.Header {
	if raw, ok := w.t.Consume("anthropic_beta"); ok {
		if text, isText := jsonedit.Unquote(raw); isText {
			w.betas = append(w.betas, strings.Split(text, ",")...)
		}
		for val := range jsonedit.Elements(raw) {
			w.betas = append(w.betas, plainName(val))
		}
	}
	return betaHeader(w.to, w.betas)
}

// betaHeader joins the needed flags with those of the credential, without duplicates.
func betaHeader(to *dialect.Target, needed []string) wire.Header {
	if len(needed) == 0 {
		return nil
	}
	var list []string
	seen := map[string]bool{}
	for _, b := range append(strings.Split(to.Value("anthropic_beta"), ","), needed...) {
		if b = strings.TrimSpace(b); b != "" && !seen[b] {
			seen[b] = true
			list = append(list, b)
		}
	}
	return wire.Header{{Name: "anthropic-beta", Value: strings.Join(list, ",")}}
}
