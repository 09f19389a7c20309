package bedrock

import (
	"context"

	"sluice/internal/dialect"
	"sluice/internal/dialect/claude"
	"sluice/internal/dialect/conversation"
	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/jsonschema"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// converseUpstream implements chat with all models. It uses Converse or, for a few old models, the
// native body of their family.
// Source: contract/provider-transforms.md 3.3 to 3.6 and 3.10;
// https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html, read 2026-11.
type converseUpstream struct{}

var _ dialect.Upstream = converseUpstream{}

// EncodeCall builds the body of a Converse or ConverseStream request.
func (converseUpstream) EncodeCall(ctx context.Context, c *llm.Call, to *dialect.Target) (*dialect.Outgoing, error) {
	if isInvoked(to.Underlying()) {
		return encodeFlat(c, to)
	}
	family, model := familyOf(to.Underlying()), claude.ParseModel(to.Underlying())
	c = conversation.StartWithUserTurn(c)
	if family == anthropic && !model.Continues() {
		c = conversation.EndWithUserTurn(c)
	}
	w := newCallWriter(&callBody{Writer: jsonwriter.NewForCall(c), c: c, t: llm.NewTally(c), to: to, family: family, model: model, marks: newCacheMarks(c, to.Underlying())})
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

// DecodeResponse reads the response of Converse.
func (converseUpstream) DecodeResponse(incoming *dialect.Incoming) (*llm.Response, error) {
	if isInvoked(incoming.To.Underlying()) {
		return decodeFlat(incoming)
	}
	return decodeConverse(incoming)
}

// NewDecoder returns the decoder of a ConverseStream.
func (converseUpstream) NewDecoder(incoming *dialect.Incoming) dialect.EventDecoder {
	if isInvoked(incoming.To.Underlying()) {
		return newFlatDecoder(incoming)
	}
	return &streamReader{}
}

// callWriter writes one request: its contents, its tools and its parameters into one body.
type callWriter struct {
	*callBody
	contentWriter
	toolWriter
	parameterWriter
}

// newCallWriter returns a writer of a body.
func newCallWriter(body *callBody) callWriter {
	return callWriter{body, contentWriter{callBody: body}, toolWriter{body}, parameterWriter{callBody: body}}
}

// callBody is the body of a request, with the call that it is written from and its target. The
// writers of its parts share it.
type callBody struct {
	jsonwriter.Writer
	c      *llm.Call
	t      *llm.FieldTracker
	to     *dialect.Target
	family string
	model  claude.Model // parsed from the model name; for Anthropic's family
	marks  cacheMarks
	added  dialect.Added
	native []*llm.Tool // tools that only Claude's native format supports
}

// parameterWriter writes the parameters of a request: inference, output format, thinking, and the
// fields of a model family.
type parameterWriter struct {
	*callBody
	thinking []byte // raw, the thinking configuration for Claude
	effort   string // for outputConfig
}

// conversation writes the members that Converse and CountTokens share: system, messages and
// toolConfig.
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

func (w *callBody) refuse(path, text string) error {
	return fault.New(fault.InvalidParameter, path+" "+text).WithParam(path)
}

// writeFirst writes the first parameter of from that the call has, under another name.
func (w *parameterWriter) writeFirst(name string, from ...string) {
	if raw, ok := w.t.First(from...); ok {
		w.Raw(name, raw)
	}
}

// sampled writes a sampling parameter. Some Claude models do not support all of them.
func (w *parameterWriter) sampled(name, from string) {
	if w.family != anthropic {
		w.writeFirst(name, from)
	} else if raw, ok := w.model.Sampled(w.t, from); ok {
		w.Raw(name, raw)
	}
}

// inference writes the inference parameters that Converse has for all models.
func (w *parameterWriter) inference() {
	w.think()
	before := w.Writer
	w.Key("inferenceConfig").Open('{')
	empty := len(w.B)
	w.writeFirst("maxTokens", llm.MaxTokens, llm.MaxCompletionTokens)
	w.sampled("temperature", "temperature")
	w.sampled("topP", "top_p")
	if raw, ok := w.t.Consume(llm.Stop); ok {
		w.Raw("stopSequences", conversation.Stops(raw, w.family != anthropic))
	}
	w.close('}', before, empty)
}

// close ends an object or a list, or removes it when it is empty.
func (w *callBody) close(bracket byte, before jsonwriter.Writer, empty int) (nonEmpty bool) {
	if len(w.B) == empty {
		w.Writer = before
		return false
	}
	w.Close(bracket)
	return true
}

// tiers maps the service tiers of OpenAI and Anthropic to those of Bedrock.
// Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ServiceTier.html, read 2026-11.
var tiers = map[string]string{
	`"default"`: "default", `"flex"`: "flex", `"priority"`: "priority", `"reserved"`: "reserved", `"standard_only"`: "default",
}

// settings writes the settings outside the conversation. If a setting is present in two spellings,
// Amazon's wins.
func (w *parameterWriter) settings() {
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

// output writes the response format, and the effort for newer models. A schema is a string that
// contains JSON.
func (w *parameterWriter) output() {
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

// responseSchema returns the schema of the response. Callers of messages write it for Claude, whose
// supported schemas are also those of Bedrock.
func (w *parameterWriter) responseSchema() []byte {
	f := w.c.Format
	if w.c.Surface == llm.Messages {
		return f.Schema
	}
	return jsonschema.Restrict(f.Schema, fields.NestedPath(w.c, f.From, "json_schema")+".schema", w.t.Drop)
}

// valueOf returns a credential field of the target, "" when it is missing.
func valueOf(to *dialect.Target, name string) string {
	if to.Value == nil {
		return ""
	}
	return to.Value(name)
}

// plain returns a raw string without quotes and escapes, "" when raw is not a string.
func plain(raw []byte) string {
	s, _ := jsonedit.Unquote(raw)
	return s
}
