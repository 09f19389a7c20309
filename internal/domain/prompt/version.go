package prompt

import (
	"bytes"
	"encoding/json"

	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
)

// VersionKind is the stored kind of the versions of prompts.
const VersionKind = "prompt_version"

// Version is one numbered content of a prompt: a record of its own, so that reading
// version 12 is one look-up however many there are. What it runs never changes.
// Source: contract/content-and-observability.yaml, PromptVersionFields.
type Version struct {
	PromptID    string          `json:"prompt_id"`
	Number      int             `json:"number"` // from 1
	String      string          `json:"string"` // the template; of a chat the JSON text of its messages
	Parameters  json.RawMessage `json:"parameters,omitempty"`
	Model       string          `json:"model,omitempty"`
	VirtualKey  string          `json:"virtual_key,omitempty"` // slug of a provider or virtual key
	Functions   json.RawMessage `json:"functions,omitempty"`
	Tools       json.RawMessage `json:"tools,omitempty"`
	ToolChoice  json.RawMessage `json:"tool_choice,omitempty"`
	Raw         bool            `json:"raw,omitempty"` // is_raw_template
	Metadata    json.RawMessage `json:"template_metadata,omitempty"`
	Description string          `json:"version_description,omitempty"`
	Partials    []string        `json:"partials,omitempty"` // ids of the saved partials that it names
}

// Same reports whether two versions run the same, whatever their numbers.
func (v *Version) Same(o *Version) bool {
	raws := [...][2]json.RawMessage{{v.Parameters, o.Parameters}, {v.Functions, o.Functions}, {v.Tools, o.Tools}, {v.ToolChoice, o.ToolChoice}, {v.Metadata, o.Metadata}}
	for _, pair := range raws {
		if !bytes.Equal(pair[0], pair[1]) {
			return false
		}
	}
	return v.String == o.String && v.Model == o.Model && v.VirtualKey == o.VirtualKey && v.Raw == o.Raw && v.Description == o.Description
}

// Compiled is a version ready to be run, any number of times and by several goroutines
// at once.
type Compiled struct {
	Chat        bool // its template is a conversation
	VirtualKey  string
	document    *document // of a chat that is not raw
	text        *Template // of all others
	parameters  fields    // without stream
	modelFields fields    // model, functions, tools, tool_choice
	partials    []PartialRef
}

// Partials lists the saved partials that the template names.
func (c *Compiled) Partials() []PartialRef { return c.partials }

// Compile reads the template of a version: fault.InvalidParameter, At "string", when it
// cannot be used. A template is a conversation if template_metadata.template_type is
// "chat", or absent, and it is a JSON array of objects; any other is a text.
// Source: contract/content-and-observability.md 1.1 and 1.3.
func (v *Version) Compile() (*Compiled, error) {
	c := &Compiled{VirtualKey: v.VirtualKey}
	for key, val := range jsonedit.Members(v.Parameters) {
		if name, _ := jsonedit.Unquote(key); name != "stream" {
			if err := c.parameters.add(name, val, "parameters"); err != nil {
				return nil, err
			}
		}
	}
	c.modelFields.setNonEmpty("model", quoted(v.Model))
	c.modelFields.setNonEmpty("functions", v.Functions)
	c.modelFields.setNonEmpty("tools", v.Tools)
	c.modelFields.setNonEmpty("tool_choice", v.ToolChoice)
	if len(v.String) > MaxTemplateBytes {
		return nil, invalid("the template is longer than %d bytes", MaxTemplateBytes).WithParam("string")
	}
	var err error
	if c.Chat, err = v.chat(); err != nil {
		return nil, err
	}
	if c.Chat && !v.Raw {
		c.document, err = parseDocument([]byte(v.String))
	} else {
		c.text, err = Parse(v.String)
	}
	if err != nil {
		return nil, fault.From(err).WithParam("string")
	}
	if c.document != nil {
		c.partials = c.document.partials
	} else {
		c.partials = c.text.partials
	}
	return c, nil
}

// setNonEmpty adds a member that has a value.
func (f *fields) setNonEmpty(name string, raw []byte) {
	if len(raw) > 0 {
		f.set(name, raw)
	}
}

func quoted(s string) []byte {
	if s == "" {
		return nil
	}
	return jsonedit.Quote(s)
}

// chat finds out what the template is. Text that says it is a conversation and begins
// like one, but is not JSON, is a slip that is better refused than run as a text.
func (v *Version) chat() (bool, error) {
	kind := jsonedit.Text(v.Metadata, "template_type")
	text := bytes.TrimSpace([]byte(v.String))
	switch {
	case kind != "chat" && kind != "":
		return false, nil
	case v.Raw:
		return kind == "chat" || bytes.HasPrefix(text, []byte("[")), nil
	case !bytes.HasPrefix(text, []byte("[")):
		return false, nil
	}
	var elements []json.RawMessage
	if err := json.Unmarshal(text, &elements); err != nil {
		if kind == "chat" {
			return false, invalid("the template is not a JSON array of messages: %s", err).WithParam("string")
		}
		return false, nil
	}
	if err := jsonedit.Scan([]byte(`{"messages":`+v.String+`}`), new(jsonedit.Doc)); err != nil {
		return false, fault.From(err).WithParam("string") // nested too deep for any provider
	}
	for _, e := range elements {
		if e[0] != '{' {
			return false, nil
		}
	}
	return true, nil
}
