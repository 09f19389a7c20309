package anthropic

import (
	"cmp"

	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/signatures"
	"sluice/internal/dialect/toolcalls"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// DecodeCall reads a request for a message.
func (messages) DecodeCall(body []byte) (*llm.Call, error) {
	r := callReader{c: &llm.Call{Surface: llm.Messages, Bytes: len(body)}}
	var rawMessages []byte
	for raw, val := range jsonedit.Members(body) {
		name := plainName(raw)
		if jsonedit.IsNull(val) {
			continue
		}
		if name == "messages" { // read after the system, wherever it is in the body
			rawMessages = val
			continue
		}
		if err := r.field(name, val); err != nil {
			return nil, err
		}
	}
	if err := r.messages(rawMessages); err != nil {
		return nil, err
	}
	if err := toolcalls.CheckTools(r.c); err != nil {
		return nil, err
	}
	signatures.Restore(r.c)
	return r.c, nil
}

// callReader fills a Call from the fields of a request, in any order.
type callReader struct {
	c     *llm.Call
	names map[string]string // tool names of the calls so far, by call id
}

// hubNames maps request fields to the hub's names for them. A field that is not listed has
// the same name in the hub.
var hubNames = map[string]string{"max_tokens": llm.MaxTokens, "stop_sequences": llm.Stop, "thinking": llm.Thinking}

func (r *callReader) field(name string, val []byte) (err error) {
	if err = callTypes.Check(name, val); err != nil {
		return err
	}
	switch c := r.c; name {
	case "model":
		c.Model, err = fields.String(val, name)
	case "system":
		err = r.system(val)
	case "tools":
		err = r.tools(val)
	case "tool_choice":
		err = r.choice(val)
	case "metadata":
		r.readObjectParams(name, val, map[string]string{"user_id": llm.User})
	case "output_config":
		err = r.output(val)
	case "output_format": // the earlier form of output_config.format
		c.Format, err = readFormat(val, name)
	case "stream":
		c.Stream = string(val) == "true"
	default:
		r.param(cmp.Or(hubNames[name], name), name, val)
	}
	return err
}

func (r *callReader) param(name, from string, raw []byte) {
	r.c.Params = append(r.c.Params, llm.Param{Name: name, From: from, Raw: raw})
}

// readObjectParams makes a parameter of each member of an object: "metadata.user_id". Members
// that known does not list get their complete path as name.
func (r *callReader) readObjectParams(name string, raw []byte, known map[string]string) {
	for key, val := range jsonedit.Members(raw) {
		from := name + "." + plainName(key)
		if !jsonedit.IsNull(val) {
			r.param(cmp.Or(known[plainName(key)], from), from, val)
		}
	}
}

// output reads the requirements for the response: {"effort":"high","format":{…}}.
func (r *callReader) output(raw []byte) (err error) {
	for key, val := range jsonedit.Members(raw) {
		if jsonedit.IsNull(val) {
			continue
		}
		path := "output_config." + plainName(key)
		if err = callTypes.Check(path, val); err != nil {
			return err
		}
		switch path {
		case "output_config.format":
			r.c.Format, err = readFormat(val, path)
		case "output_config.effort":
			r.param(llm.ReasoningEffort, path, val)
		default:
			r.param(path, path, val)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func readFormat(raw []byte, path string) (*llm.Format, error) {
	schema, _ := jsonedit.Find(raw, "schema")
	if jsonedit.Text(raw, "type") != "json_schema" {
		return nil, fields.Invalid(path+".type", `must be "json_schema"`)
	}
	if !isObject(schema) {
		return nil, fields.Invalid(path+".schema", "must be a JSON schema, an object")
	}
	return &llm.Format{Type: "json_schema", Schema: schema, From: path}, nil
}

// system reads the instructions, a string or a list of text blocks.
func (r *callReader) system(raw []byte) error {
	m := llm.Message{Role: llm.RoleSystem, Index: -1}
	parts, err := r.content(&m, raw, "system")
	if m.Parts = unattributed(parts); err != nil || len(m.Parts) == 0 {
		return err
	}
	r.c.Messages = append([]llm.Message{m}, r.c.Messages...)
	return nil
}
