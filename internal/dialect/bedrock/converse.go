package bedrock

import (
	"context"

	"sluice/internal/dialect"
	"sluice/internal/fault"
	"sluice/internal/llm"
	"sluice/internal/splice"
)

// conversation is a chat with any model: Converse, or for a few old models the native
// body of their family.
// Source: contract/provider-transforms.md 3.3 to 3.6 and 3.10;
// https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html, read 2026-11.
type conversation struct{}

var _ dialect.Upstream = conversation{}

// EncodeCall makes the body of a Converse or ConverseStream request.
func (conversation) EncodeCall(ctx context.Context, c *llm.Call, to *dialect.Target) (*dialect.Outgoing, error) {
	if isInvoked(to.Underlying()) {
		return encodeFlat(c, to)
	}
	family, model := familyOf(to.Underlying()), dialect.ClaudeOf(to.Underlying())
	c = dialect.StartWithUserTurn(c)
	if family == claude && !model.Continues() {
		c = dialect.EndWithUserTurn(c)
	}
	w := callWriter{JSON: dialect.For(c), c: c, t: llm.NewTally(c), to: to, family: family, model: model, caches: caches(to.Underlying())}
	w.Open('{')
	if err := w.conversation(ctx); err != nil {
		return nil, err
	}
	w.inference()
	w.settings()
	w.output()
	w.additional()
	w.Close('}')
	return &dialect.Outgoing{Body: w.B, Dropped: w.t.Dropped(), Added: w.added}, nil
}

// DecodeResponse reads the answer of Converse.
func (conversation) DecodeResponse(incoming *dialect.Incoming) (*llm.Response, error) {
	if isInvoked(incoming.To.Underlying()) {
		return decodeFlat(incoming)
	}
	return decodeConverse(incoming)
}

// NewDecoder makes the decoder of a ConverseStream.
func (conversation) NewDecoder(incoming *dialect.Incoming) dialect.EventDecoder {
	if isInvoked(incoming.To.Underlying()) {
		return newFlatDecoder(incoming)
	}
	return &streamReader{}
}

// callWriter writes one request.
type callWriter struct {
	dialect.JSON
	c      *llm.Call
	t      *llm.FieldTracker
	to     *dialect.Target
	family string
	model  dialect.ClaudeModel // of Anthropic's family
	caches bool                // the model takes cache points

	thinking []byte // what is told to Claude of it
	added    dialect.Added
	effort   string         // for outputConfig
	native   []*llm.Tool    // tools that only Claude's own form can name
	names    map[string]int // of documents so far, with the number that the last of that name got
}

// conversation writes what both Converse and the counting of its tokens have: system,
// messages and toolConfig.
func (w *callWriter) conversation(ctx context.Context) error {
	if err := w.system(); err != nil {
		return err
	}
	if err := w.messages(ctx); err != nil {
		return err
	}
	w.tools()
	return nil
}

func (w *callWriter) refuse(path, text string) error {
	return fault.New(fault.InvalidParameter, path+" "+text).WithParam(path)
}

// writeFirst writes the first of the names that the call has under another.
func (w *callWriter) writeFirst(name string, from ...string) {
	if raw, ok := w.t.First(from...); ok {
		w.Raw(name, raw)
	}
}

// sampled is carry for a parameter of sampling, which not every Claude takes.
func (w *callWriter) sampled(name, from string) {
	if w.family != claude {
		w.writeFirst(name, from)
	} else if raw, ok := w.model.Sampled(w.t, from); ok {
		w.Raw(name, raw)
	}
}

// inference writes what Converse knows of every model.
func (w *callWriter) inference() {
	w.think()
	before := w.JSON
	w.Key("inferenceConfig").Open('{')
	empty := len(w.B)
	w.writeFirst("maxTokens", llm.MaxTokens, llm.MaxCompletionTokens)
	w.sampled("temperature", "temperature")
	w.sampled("topP", "top_p")
	if raw, ok := w.t.Consume(llm.Stop); ok {
		w.Raw("stopSequences", dialect.Stops(raw, w.family != claude))
	}
	w.close('}', before, empty)
}

// close ends an object or a list, or undoes it when nothing came to stand in it.
func (w *callWriter) close(bracket byte, before dialect.JSON, empty int) (nonEmpty bool) {
	if len(w.B) == empty {
		w.JSON = before
		return false
	}
	w.Close(bracket)
	return true
}

// tiers are the words of OpenAI and Anthropic that Bedrock has one for.
// Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ServiceTier.html, read 2026-11.
var tiers = map[string]string{
	`"default"`: "default", `"flex"`: "flex", `"priority"`: "priority", `"reserved"`: "reserved", `"standard_only"`: "default",
}

// settings writes what is told beside the conversation. Of the two spellings of a
// setting Amazon's own comes first.
func (w *callWriter) settings() {
	w.writeFirst("guardrailConfig", "guardrailConfig", "guardrail_config")
	w.writeFirst("performanceConfig", "performanceConfig", "performance_config")
	w.writeFirst("additionalModelResponseFieldPaths", "additionalModelResponseFieldPaths", "additional_model_response_field_paths")
	if raw, ok := w.t.Peek("metadata"); ok && raw[0] == '{' && len(raw) > 2 {
		w.writeFirst("requestMetadata", "metadata")
	}
	if raw, ok := w.t.Peek("service_tier"); ok && tiers[string(raw)] != "" {
		w.t.Consume("service_tier")
		w.Key("serviceTier").Open('{')
		w.Str("type", tiers[string(raw)])
		w.Close('}')
	}
}

// output writes the form of the answer, and how hard newer models shall think about it.
// A schema is a text that holds JSON.
func (w *callWriter) output() {
	f := w.c.Format
	schema := f != nil && f.Type == "json_schema"
	if !schema && w.effort == "" {
		return
	}
	w.Key("outputConfig").Open('{')
	w.Opt("effort", w.effort)
	if schema {
		w.Key("textFormat").Open('{')
		w.Str("type", "json_schema")
		w.Key("structure").Open('{')
		w.Key("jsonSchema").Open('{')
		w.Str("schema", string(w.responseSchema()))
		w.Opt("name", f.Name)
		w.Opt("description", f.Description)
		w.Close('}')
		w.Close('}')
		w.Close('}')
	}
	w.Close('}')
}

// responseSchema is that of the answer. Callers of messages write theirs for Claude, whose words
// for schemas are Bedrock's too.
func (w *callWriter) responseSchema() []byte {
	f := w.c.Format
	if w.c.Surface == llm.Messages {
		return f.Schema
	}
	return dialect.RestrictSchema(f.Schema, dialect.NestedPath(w.c, f.From, "json_schema")+".schema", w.t.Drop)
}

// valueOf is a credential field of the target, "" when there is none.
func valueOf(to *dialect.Target, name string) string {
	if to.Value == nil {
		return ""
	}
	return to.Value(name)
}

// plain is a raw text without quotes and escapes, "" when raw is none.
func plain(raw []byte) string {
	s, _ := splice.Unquote(raw)
	return s
}
