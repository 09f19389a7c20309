package anthropic

import (
	"context"
	"strings"

	"sluice/internal/dialect"
	"sluice/internal/llm"
	"sluice/internal/splice"
	"sluice/internal/wire"
)

// unchangedParams are the parameters of the Messages API that need no change, by their names
// in the hub. Callers of other surfaces may use those that are Anthropic's own.
// Source: contract/provider-transforms.md 2.1; contract/providers.yaml, anthropic.
var unchangedParams = [...]string{
	"container", "mcp_servers", "context_management", "inference_geo", "diagnostics", "fallbacks",
	"fallback_credit_token", "compaction", "cache_control",
}

// EncodeCall makes a request for a message.
func (messages) EncodeCall(_ context.Context, c *llm.Call, to *dialect.Target) (*dialect.Outgoing, error) {
	model := dialect.ClaudeOf(to.Model)
	c = dialect.StartWithUserTurn(c)
	if c.Surface != llm.Messages && !model.Continues() {
		c = dialect.EndWithUserTurn(c)
	}
	w := callWriter{JSON: dialect.For(c), c: c, t: llm.NewTally(c), to: to, model: model}
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

type callWriter struct {
	dialect.JSON
	c      *llm.Call
	t      *llm.FieldTracker
	to     *dialect.Target
	model  dialect.ClaudeModel // what its name tells
	tokens []byte              // what the answer may have, as the caller said; nil: not said
	level  []byte              // raw, of output_config.effort
	added  dialect.Added
	betas  []string     // that the request needs
	tooled bool         // there are tools in it
	stay   map[int]bool // instructions in the middle of the conversation that stay there
	spent  bool         // they are those that were called, and no more to be called
}

// native reports whether the caller speaks the shape, so that what the hub has no word
// for is as Anthropic knows it.
func (w *callWriter) native() bool { return w.c.Surface == llm.Messages }

// limit says how long the answer may become.
func (w *callWriter) limit() {
	raw, ok := w.t.First(llm.MaxTokens, llm.MaxCompletionTokens)
	if ok {
		w.tokens = raw
		w.Raw(llm.MaxTokens, raw)
		return
	}
	w.Int(llm.MaxTokens, w.model.MaxOutput())
}

func (w *callWriter) params() {
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

// stops are the sequences that end an answer; callers of messages know what their model takes.
func (w *callWriter) stops(raw []byte) []byte {
	if w.native() {
		return raw
	}
	return dialect.Stops(raw, false)
}

// sampling says how the words are drawn, to models that can be told.
func (w *callWriter) sampling() {
	for _, name := range [...]string{"temperature", "top_k", "top_p"} {
		raw, ok := w.sampled(name)
		if !ok {
			continue
		}
		if _, both := w.t.Peek("temperature"); both && name == "top_p" { // which newer models refuse
			w.t.Drop(name)
			continue
		}
		w.Raw(name, raw)
	}
}

// sampled is the value of such a parameter; callers of messages know what their model takes.
func (w *callWriter) sampled(name string) ([]byte, bool) {
	if w.native() {
		return w.t.Consume(name)
	}
	return w.model.Sampled(w.t, name)
}

// metadata says who the caller's user is.
func (w *callWriter) metadata() {
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

// tiers are OpenAI's service tiers in Anthropic's words; "fast" and "standard" are
// speeds.
// Source: contract/provider-transforms.md 2.1.
var tiers = map[string][2]string{
	`"auto"`: {"service_tier", "auto"}, `"default"`: {"service_tier", "standard_only"}, `"standard_only"`: {"service_tier", "standard_only"},
	`"fast"`: {"speed", "fast"}, `"standard"`: {"speed", "standard"},
}

func (w *callWriter) tier() {
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

// filesBeta lets a request name uploaded files.
// Source: https://platform.claude.com/docs/en/build-with-claude/files, read 2026-11.
const filesBeta = "files-api-2025-04-14"

// header is the line of betas, where the request needs one beside those that the
// caller asked for. Those in the body are sent as well.
// Source: contract/provider-transforms.md 2.1.
func (w *callWriter) header() wire.Header {
	if raw, ok := w.t.Consume("anthropic_beta"); ok {
		if text, isText := splice.Unquote(raw); isText {
			w.betas = append(w.betas, strings.Split(text, ",")...)
		}
		for val := range splice.Elements(raw) {
			w.betas = append(w.betas, plainName(val))
		}
	}
	return betaHeader(w.to, w.betas)
}

// betaHeader joins betas with those of the credential.
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
