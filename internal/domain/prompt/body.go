package prompt

import (
	"bytes"
	"encoding/json"
	"slices"

	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
)

// Call is what a caller sends to run or render a prompt, taken apart.
type Call struct {
	Variables []byte // JSON object; nil when none was sent
	fields    fields // at the root, for the request itself
}

// ReadCall takes the body of a call apart; raw is a valid JSON object. The fields of an
// object "hyperparameters" count as standing at the root, where those that do stand
// there come first. Source: contract/content-and-observability.md 1.5.
func ReadCall(raw []byte) (*Call, error) {
	c := new(Call)
	var grouped []byte
	for key, val := range jsonedit.Members(raw) {
		switch name, _ := jsonedit.Unquote(key); name {
		case "variables":
			if !bytes.HasPrefix(val, []byte("{")) {
				return nil, fault.New(fault.InvalidParameter, "variables must be an object of values by name; send {} if the prompt has none").WithParam("variables")
			}
			c.Variables = val
		case "hyperparameters":
			grouped = val
		case "messages", "prompt":
			if jsonedit.IsNull(val) {
				continue // without effect: a request needs one of the two
			}
			fallthrough
		default:
			if err := c.fields.add(name, val, "body"); err != nil {
				return nil, err
			}
		}
	}
	for key, val := range jsonedit.Members(grouped) {
		if name, _ := jsonedit.Unquote(key); name != "variables" && !c.fields.has(name) {
			if err := c.fields.add(name, val, "hyperparameters"); err != nil {
				return nil, err
			}
		}
	}
	return c, nil
}

// NeedVariables fails for a call that brings no variables.
func (c *Call) NeedVariables() error {
	if c.Variables == nil {
		return fault.New(fault.InvalidParameter, "variables is required; send {} if the prompt has none").WithParam("variables")
	}
	return nil
}

// Body is a model request made of a prompt.
type Body struct {
	JSON []byte // an object of valid JSON, as chat/completions or completions takes it
	Chat bool   // it is a conversation, else the completion of a text
}

// alternatives are fields of which a request has one: a call that sends one replaces
// the saved other, because providers refuse both.
var alternatives = map[string]string{"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}

// Body makes the request: the saved parameters, over them model, tools, functions and
// tool_choice of the version and what its template comes to, over all that the fields
// of the call. A null in the call takes a field away. Messages in the call stand in the
// place of the template. A saved stream has no effect: the caller requests one.
// Source: contract/content-and-observability.md 1.5.
func (c *Compiled) Body(call *Call, source Source) (*Body, error) {
	f := slices.Clone(c.parameters)
	for _, member := range c.modelFields {
		f.set(member.name, member.raw)
	}
	out := &Body{Chat: c.Chat || call.fields.has("messages")}
	switch {
	case call.fields.has("messages"), !c.Chat && call.fields.has("prompt"):
	case c.Chat:
		messages, err := c.messages(call.Variables, source)
		if err != nil {
			return nil, err
		}
		f.set("messages", messages)
	default:
		text, err := c.text.Render(call.Variables, source)
		if err != nil {
			return nil, err
		}
		f.set("prompt", jsonedit.Quote(text))
	}
	for _, sent := range call.fields {
		if other, is := alternatives[sent.name]; is && !call.fields.has(other) {
			f.drop(other)
		}
		f.set(sent.name, sent.raw)
	}
	if !f.holds("stream", "true") && !call.fields.has("stream_options") {
		f.drop("stream_options")
	}
	out.JSON = f.json()
	return out, nil
}

// messages fills the template of a conversation in.
func (c *Compiled) messages(variables []byte, source Source) ([]byte, error) {
	vars, err := variablesOf(variables)
	if err != nil {
		return nil, err
	}
	r := newRenderer(vars, source)
	if c.document != nil {
		return c.document.render(r)
	}
	r.out.raw = true
	if err := r.nodes(c.text.nodes); err != nil {
		return nil, err
	}
	raw := bytes.TrimSpace(withoutTrailing(r.out.b))
	if !areObjects(raw) {
		return nil, invalid("the rendered template is not a JSON array of messages: %s", noMessages(raw)).WithParam("string")
	}
	return raw, nil
}

// noMessages describes why a value is not a list of messages.
func noMessages(raw []byte) string {
	if err := json.Unmarshal(raw, new([]map[string]any)); err != nil {
		return err.Error()
	}
	return "it contains null, or is nested too deeply"
}

// areObjects reports whether raw is a JSON list of objects.
func areObjects(raw []byte) bool {
	r := jsonedit.NewReader(raw)
	if r.Kind() != '[' {
		return false
	}
	for range r.Elements() {
		if r.Kind() != '{' {
			return false
		}
	}
	return r.IsComplete()
}
