package oracle

import (
	"cmp"
	"strings"

	"sluice/internal/dialect/conversation"
	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/toolcalls"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// cohereV2 is the API format of Cohere's newer models, for vision and reasoning. Like version 2 of
// Cohere's own API, it has a list of messages.
// Source: https://docs.oracle.com/en-us/iaas/tools/python/latest/api/generative_ai_inference/models/oci.generative_ai_inference.models.CohereChatRequestV2.html
// and, for the names on the wire, the attribute maps of oracle/oci-python-sdk,
// src/oci/generative_ai_inference/models/cohere_*_v2.py, read 2026-11.
const cohereV2 = "COHEREV2"

// v2Models are the name prefixes of models that use this format: vision and reasoning models,
// whose features only this format supports. Oracle does not list the format of each model (ours);
// oracle_api_format overrides the choice.
// Source: https://docs.oracle.com/iaas/Content/generative-ai/cohere-models.htm, read 2026-11.
var v2Models = [...]string{"cohere.command-a-vision", "cohere.command-a-reasoning"}

// v2Params are the parameters of this format in addition to those of all Cohere formats.
var v2Params = []fields.Rename{{Path: "priority", To: "priority"}}

// v2Writer writes a chat request in the format of Cohere's newer models.
type v2Writer struct {
	*writer
	aside *conversation.DeferredContent
}

func (w v2Writer) request() error {
	if err := w.messages(); err != nil {
		return err
	}
	w.tools()
	w.choice()
	w.cohereFormat()
	w.cohereParams()
	fields.WriteParams(&w.writer.Writer, w.t, v2Params)
	w.thinking()
	w.citations()
	return nil
}

func (w v2Writer) messages() error {
	w.Key("messages").Open('[')
	if err := w.aside.Flush(w.c.Messages, w.message, w.writeDeferred); err != nil {
		return err
	}
	w.Close(']')
	return nil
}

func (w v2Writer) writeDeferred(m *llm.Message, parts []llm.Part) error {
	return w.turn(m, "USER", parts)
}

func (w v2Writer) message(m *llm.Message) error {
	w.unnamed(m)
	switch m.Role {
	case llm.RoleAssistant:
		return w.writeAssistant(m)
	case llm.RoleTool:
		return w.results(m)
	default:
		return w.turn(m, roles[m.Role], m.Parts)
	}
}

// turn writes a user or system message.
func (w v2Writer) turn(m *llm.Message, role string, parts []llm.Part) error {
	w.begin(role)
	for i := range parts {
		p := &parts[i]
		conversation.DropCacheControl(w.t, w.c, m, p)
		text, isText := conversation.PartText(p)
		switch {
		case isText:
			w.text(text)
		case p.Kind == llm.ImagePart && m.Role != llm.RoleSystem && m.Role != llm.RoleDeveloper:
			if err := w.media(p.Media, "IMAGE_URL", "imageUrl", w.c.Path(m, p.Index)); err != nil {
				return err
			}
		default:
			return conversation.RejectUnsupported(w.c, m, p)
		}
	}
	w.Close(']')
	w.Close('}')
	return nil
}

// begin opens a message and its content list.
func (w v2Writer) begin(role string) {
	w.Open('{')
	w.Str("role", role)
	w.Key("content").Open('[')
}

// writeAssistant writes an earlier message of the model. Text next to tool calls becomes the tool
// plan. Cohere does not sign reasoning.
func (w v2Writer) writeAssistant(m *llm.Message) error {
	s, err := conversation.ReadAssistantMessage(w.t, w.c, m)
	if err != nil || s.Nothing() && len(m.Parts) > 0 { // all parts are dropped and reported
		return err
	}
	w.begin("ASSISTANT")
	for _, p := range s.Reasoning {
		w.Open('{')
		w.Str("type", "THINKING")
		w.Str("thinking", p.Text)
		w.Close('}')
		if p.Signature != "" {
			w.t.Drop(w.c.Path(m, p.Index) + ".signature")
		}
	}
	if len(s.Calls) == 0 {
		for _, text := range s.Texts {
			w.text(text)
		}
	}
	w.Close(']')
	if len(s.Calls) > 0 {
		w.Opt("toolPlan", strings.Join(s.Texts, "\n"))
		w.calls(s.Calls)
	}
	w.Close('}')
	return nil
}

func (w v2Writer) calls(list []*llm.ToolCall) {
	w.Key("toolCalls").Open('[')
	for _, c := range list {
		w.Open('{')
		w.Str("id", c.ID)
		w.Str("type", "FUNCTION")
		w.Key("function").Open('{')
		w.Str("name", c.Name)
		w.Str("arguments", cmp.Or(c.Arguments, "{}"))
		w.Close('}')
		w.Close('}')
	}
	w.Close(']')
}

// results writes each tool result as a message. Images, which a result cannot contain, follow in
// a user message.
func (w v2Writer) results(m *llm.Message) error {
	for i := range m.Parts {
		text, images, err := conversation.ReadResult(w.t, w.c, m, &m.Parts[i])
		if err != nil {
			return err
		}
		w.aside.Add(m, images)
		w.begin("TOOL")
		w.text(text)
		w.Close(']')
		w.Str("toolCallId", m.Parts[i].Result.ID)
		w.Close('}')
	}
	return nil
}

// tools writes the functions. Strict schemas are enabled for all functions or for none.
func (w v2Writer) tools() {
	strict := w.strict()
	toolcalls.WriteFunctions(&w.writer.Writer, w.t, w.c, func(t *llm.Tool, path string) {
		w.Open('{')
		w.Str("type", "FUNCTION")
		w.Key("function").Open('{')
		w.Str("name", t.Name)
		w.Opt("description", t.Description)
		w.Raw("parameters", t.Schema)
		w.Close('}')
		w.Close('}')
		if t.Strict != nil && *t.Strict && !strict {
			w.t.Drop(fields.NestedPath(w.c, path, "function") + ".strict")
		}
		if t.Cache != nil {
			w.t.Drop(path + ".cache_control")
		}
	})
	if strict {
		w.Bool("isStrictToolsEnabled", true)
	}
}

// strict reports whether there are functions and all of them request strict schemas.
func (w v2Writer) strict() bool {
	some := false
	for i := range w.c.Tools {
		t := &w.c.Tools[i]
		if t.Type != llm.Function {
			continue
		}
		if t.Strict == nil || !*t.Strict {
			return false
		}
		some = true
	}
	return some
}

// choice writes the tool choice.
func (w v2Writer) choice() { w.Opt("toolsChoice", toolcalls.ChoiceOfTools(w.t, w.c)) }

// thinking translates the reasoning mode and its budget: {"type":"enabled","budget_tokens":2048}.
// The format supports ENABLED and DISABLED; any other mode, such as "adaptive", is dropped.
func (w v2Writer) thinking() {
	raw, _ := w.t.Peek(llm.Thinking)
	mode := jsonedit.Text(raw, "type")
	if mode != "enabled" && mode != "disabled" {
		return
	}
	w.t.Consume(llm.Thinking)
	w.Key("thinking").Open('{')
	w.Str("type", strings.ToUpper(mode))
	for _, name := range [...]string{"budget_tokens", "token_budget"} {
		if budget, ok := jsonedit.Find(raw, name); ok {
			w.Raw("tokenBudget", budget)
			break
		}
	}
	w.Close('}')
}

// citations translates the citation options: {"mode":"fast"}.
func (w v2Writer) citations() {
	if raw, ok := w.t.Consume("citation_options"); ok {
		w.Key("citationOptions").Open('{')
		w.Str("mode", strings.ToUpper(jsonedit.Text(raw, "mode")))
		w.Close('}')
	}
}
