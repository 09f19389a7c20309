package oracle

import (
	"cmp"
	"strings"

	"sluice/internal/dialect"
	"sluice/internal/llm"
	"sluice/internal/splice"
)

// Cohere's newer models, which see and which reason, have a list of messages, in the
// manner of Cohere's own second version.
// Source: https://docs.oracle.com/en-us/iaas/tools/python/latest/api/generative_ai_inference/models/oci.generative_ai_inference.models.CohereChatRequestV2.html
// and, for the names on the wire, the attribute maps of oracle/oci-python-sdk,
// src/oci/generative_ai_inference/models/cohere_*_v2.py, read 2026-11.
const cohereV2 = "COHEREV2"

// v2Models are the beginnings of models that are asked so: those that see and those that
// reason, which only this form can say. Oracle lists no form of each model (ours);
// oracle_api_format tells otherwise.
// Source: https://docs.oracle.com/iaas/Content/generative-ai/cohere-models.htm, read 2026-11.
var v2Models = [...]string{"cohere.command-a-vision", "cohere.command-a-reasoning"}

// v2Params are the parameters that the form has beside those of all of Cohere's.
var v2Params = []dialect.Rename{{Path: "priority", To: "priority"}}

// v2Writer writes a chat request in the form of Cohere's newer models.
type v2Writer struct {
	*writer
	aside *dialect.DeferredContent
}

func (w v2Writer) request() error {
	if err := w.messages(); err != nil {
		return err
	}
	w.tools()
	w.choice()
	w.cohereFormat()
	w.cohereParams()
	w.WriteParams(w.t, v2Params)
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

// turn writes what a user or the system says.
func (w v2Writer) turn(m *llm.Message, role string, parts []llm.Part) error {
	w.begin(role)
	for i := range parts {
		p := &parts[i]
		dialect.DropCacheControl(w.t, w.c, m, p)
		text, isText := dialect.PartText(p)
		switch {
		case isText:
			w.text(text)
		case p.Kind == llm.ImagePart && m.Role != llm.RoleSystem && m.Role != llm.RoleDeveloper:
			if err := w.media(p.Media, "IMAGE_URL", "imageUrl", w.c.Path(m, p.Index)); err != nil {
				return err
			}
		default:
			return dialect.RejectUnsupported(w.c, m, p)
		}
	}
	w.Close(']')
	w.Close('}')
	return nil
}

// begin begins a message with its contents.
func (w v2Writer) begin(role string) {
	w.Open('{')
	w.Str("role", role)
	w.Key("content").Open('[')
}

// writeAssistant writes what the model said before. What it says beside its calls is its plan.
// Cohere signs no thoughts.
func (w v2Writer) writeAssistant(m *llm.Message) error {
	s, err := dialect.ReadAssistantMessage(w.t, w.c, m)
	if err != nil || s.Nothing() && len(m.Parts) > 0 { // all of it is lost, and said to be
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

// results writes what tool calls came to, a message each. Images, which a result cannot
// hold, follow in a message of the user.
func (w v2Writer) results(m *llm.Message) error {
	for i := range m.Parts {
		text, images, err := dialect.ReadResult(w.t, w.c, m, &m.Parts[i])
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

// tools writes the functions. That answers keep to their schemas is said of all of them
// or of none.
func (w v2Writer) tools() {
	strict := w.strict()
	w.Functions(w.t, w.c, func(t *llm.Tool, path string) {
		w.Open('{')
		w.Str("type", "FUNCTION")
		w.Key("function").Open('{')
		w.Str("name", t.Name)
		w.Opt("description", t.Description)
		w.Raw("parameters", t.Schema)
		w.Close('}')
		w.Close('}')
		if t.Strict != nil && *t.Strict && !strict {
			w.t.Drop(dialect.NestedPath(w.c, path, "function") + ".strict")
		}
		if t.Cache != nil {
			w.t.Drop(path + ".cache_control")
		}
	})
	if strict {
		w.Bool("isStrictToolsEnabled", true)
	}
}

// strict reports whether all functions want their schemas kept to.
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

// choice says whether tools shall be called.
func (w v2Writer) choice() { w.Opt("toolsChoice", dialect.ChoiceOfTools(w.t, w.c)) }

// thinking says whether to think, and how long: {"type":"enabled","budget_tokens":2048}.
// The form knows ENABLED and DISABLED; any other wish, such as "adaptive", is lost.
func (w v2Writer) thinking() {
	raw, _ := w.t.Peek(llm.Thinking)
	mode := splice.Text(raw, "type")
	if mode != "enabled" && mode != "disabled" {
		return
	}
	w.t.Consume(llm.Thinking)
	w.Key("thinking").Open('{')
	w.Str("type", strings.ToUpper(mode))
	for _, name := range [...]string{"budget_tokens", "token_budget"} {
		if budget, ok := splice.Find(raw, name); ok {
			w.Raw("tokenBudget", budget)
			break
		}
	}
	w.Close('}')
}

// citations says how the model shall cite: {"mode":"fast"}.
func (w v2Writer) citations() {
	if raw, ok := w.t.Consume("citation_options"); ok {
		w.Key("citationOptions").Open('{')
		w.Str("mode", strings.ToUpper(splice.Text(raw, "mode")))
		w.Close('}')
	}
}
