package openai

import (
	"strings"

	"sluice/internal/dialect"
	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/signatures"
	"sluice/internal/dialect/toolcalls"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// shapeName is the name of this package's shape in llm.Part.Shape and llm.Tool.Shape.
const shapeName = "openai"

// chat translates chat completions, for callers and for providers.
// Source: https://platform.openai.com/docs/api-reference/chat, read 2026-11;
// contract/provider-transforms.md.
type chat struct{}

var (
	_ dialect.Client   = chat{}
	_ dialect.Upstream = chat{}
)

// DecodeCall reads a chat completion request.
func (chat) DecodeCall(body []byte) (*llm.Call, error) {
	r := callReader{Reader: jsonedit.NewReader(body), c: &llm.Call{Surface: llm.ChatComplete, Bytes: len(body)}}
	for name := range r.Members() {
		if r.Null() {
			continue
		}
		if err := r.field(name); err != nil {
			return nil, err
		}
	}
	if len(r.c.Messages) == 0 {
		return nil, fields.Invalid("messages", "must have at least one message")
	}
	if err := toolcalls.CheckTools(r.c); err != nil {
		return nil, err
	}
	signatures.Restore(r.c)
	return r.c, nil
}

// callReader fills a Call from the fields of a request, in any order.
type callReader struct {
	jsonedit.Reader
	c     *llm.Call
	names map[string]string // ids of the calls so far and their tools

	called map[string]string // functions and the ids of their last calls
}

func (r *callReader) field(name []byte) (err error) {
	switch c := r.c; string(name) {
	case "model":
		c.Model, err = fields.String(r.Raw(), "model")
	case "messages":
		err = r.messages()
	case "tools":
		err = r.tools()
	case "functions":
		err = r.functions()
	case "function_call":
		c.Choice, err = functionChoice(r.Raw())
	case "tool_choice":
		c.Choice, err = toolcalls.ReadToolChoice(r.Raw(), "function", "name")
	case "response_format":
		c.Format, err = readFormat(r.Raw())
	case "stream":
		raw := r.Raw()
		c.Stream, err = string(raw) == "true", callTypes.Check("stream", raw)
	default:
		param, raw := known(name), r.Raw()
		if err = callTypes.Check(param, raw); err != nil {
			return err
		}
		if c.Params == nil {
			c.Params = make([]llm.Param, 0, usualParams)
		}
		c.Params = append(c.Params, llm.Param{Name: param, From: param, Raw: raw})
	}
	return err
}

// Initial capacities that are large enough for typical calls, so that lists do not grow.
const (
	usualParams   = 4
	usualTools    = 4
	usualMessages = 8
)

func (r *callReader) tools() error {
	if r.Kind() != '[' {
		return fields.Invalid("tools", "must be a list")
	}
	if r.c.Tools == nil {
		r.c.Tools = make([]llm.Tool, 0, usualTools)
	}
	for i := range r.Elements() {
		if r.Kind() != '{' {
			return fields.IsObject.Refuse(fields.ElementPath("tools", i))
		}
		t := llm.Tool{Index: i, Shape: shapeName}
		var fn, custom []byte
		from := r.Mark()
		for name := range r.Members() {
			switch string(name) {
			case "type":
				t.Type = intern(r.Raw())
			case "function":
				fn = r.Raw()
			case "custom":
				custom = r.Raw()
			case "cache_control":
				t.Cache = fields.ReadCache(r.Raw())
			}
		}
		t.Raw = r.Since(from)
		if t.Type == "" {
			return fields.Invalid(fields.ElementPath("tools", i)+".type", `is required; use "function" for tools that you run yourself`)
		}
		switch t.Type {
		case llm.Function:
			if err := readFunction(&t, fn, func() string { return fields.ElementPath("tools", i) + ".function" }); err != nil {
				return err
			}
		case llm.Custom:
			if t.Name = jsonedit.Text(custom, "name"); t.Name == "" {
				return fields.Invalid(fields.ElementPath("tools", i)+".custom.name", "is required")
			}
		}
		r.c.Tools = append(r.c.Tools, t)
	}
	return nil
}

// readFunction reads the definition of a tool that the caller runs.
func readFunction(t *llm.Tool, raw []byte, path func() string) error {
	fn := jsonedit.NewReader(raw)
	for name := range fn.Members() {
		if fn.Null() {
			continue
		}
		n, val := known(name), fn.Raw()
		if !functionMembers.Fit(n, val) {
			return functionMembers.Refuse(n, path())
		}
		switch n {
		case "name":
			t.Name, _ = jsonedit.Unquote(val)
		case "description":
			t.Description, _ = jsonedit.Unquote(val)
		case "parameters":
			t.Schema = val
		case "strict":
			t.Strict = fields.ParseBool(val)
		case "cache_control":
			t.Cache = fields.ReadCache(val)
		default:
			t.Extra = append(t.Extra, llm.Param{Name: n, From: path() + "." + n, Raw: val})
		}
	}
	if t.Name == "" {
		return fields.Invalid(path()+".name", "is required")
	}
	return nil
}

// inSchema is the path of the schema in the response format.
const inSchema = "response_format.json_schema"

func readFormat(raw []byte) (*llm.Format, error) {
	if !fields.IsObject.Fit(raw) {
		return nil, fields.IsObject.Refuse("response_format")
	}
	f := &llm.Format{From: "response_format", Type: jsonedit.Text(raw, "type")}
	switch f.Type {
	case "text", "json_object":
		return f, nil
	case "json_schema":
	default:
		return nil, fields.Invalid("response_format.type", `must be "text", "json_object" or "json_schema"`)
	}
	inner, _ := jsonedit.Find(raw, "json_schema")
	return f, toolcalls.ReadSchema(f, inner, inSchema)
}

// plainName returns a name of jsonedit.Members without quotes and escapes.
func plainName(raw []byte) string { return intern(raw) }

// intern returns a raw string. It does not allocate for strings that most calls have.
func intern(raw []byte) string {
	if len(raw) > 2 && raw[0] == '"' {
		if w, ok := interned[string(raw[1:len(raw)-1])]; ok {
			return w
		}
	}
	s, _ := jsonedit.Unquote(raw)
	return s
}

// known returns a name. It does not allocate for names that most calls have.
func known(name []byte) string {
	if w, ok := interned[string(name)]; ok {
		return w
	}
	return string(name)
}

var interned = newInternTable(strings.Fields(`
	model messages tools tool_choice response_format stream stream_options temperature top_p max_tokens max_completion_tokens stop user seed n
	metadata store parallel_tool_calls reasoning_effort presence_penalty frequency_penalty logprobs top_logprobs service_tier
	role name content content_blocks tool_calls tool_call_id refusal reasoning_content reasoning cache_control
	system developer assistant tool function id type arguments parameters description strict text image_url input_audio file url detail
	auto none required json_schema json_object index`))

func newInternTable(list []string) map[string]string {
	m := make(map[string]string, len(list))
	for _, w := range list {
		m[w] = w
	}
	return m
}
