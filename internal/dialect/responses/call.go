package responses

import (
	"cmp"

	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/dialect/signatures"
	"sluice/internal/dialect/toolcalls"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// DecodeCall reads a request to create a response. It rejects what only a provider with stored
// responses can do: conversations, background work, stored prompts, and a previous_response_id
// that nothing resolved. It omits tools that the provider runs, and their items, and names them
// in Unserved. It does not read store: the gateway decides whether a response is stored, in
// dialect.Answering.
// Source: contract/provider-transforms.md 10.1, contract/dataplane.md 6.8.
func (client) DecodeCall(body []byte) (*llm.Call, error) {
	r := callReader{c: &llm.Call{Surface: llm.CreateModelResponse, Bytes: len(body)}}
	for name, val := range jsonedit.Members(body) {
		if jsonedit.IsNull(val) {
			continue
		}
		if err := r.field(plainName(name), val); err != nil {
			return nil, err
		}
	}
	if err := r.input(); err != nil {
		return nil, err
	}
	r.logprobs()
	if len(r.c.Messages) == 0 {
		if err := toolcalls.Served(r.c); err != nil {
			return nil, err
		}
		return nil, fields.Invalid("input", "must have at least one item")
	}
	r.chooseSpaced()
	if err := toolcalls.CheckTools(r.c); err != nil {
		return nil, err
	}
	signatures.Restore(r.c)
	return r.c, nil
}

// callReader fills a Call from the fields of a request, in any order.
type callReader struct {
	c             *llm.Call
	instructions  []byte
	items         []byte            // of the input
	names         map[string]string // ids of the calls so far and their tools
	turn          bool              // the last message is the model's and may go on
	logprobsField string            // the field that asks for them
}

func (r *callReader) field(name string, val []byte) (err error) {
	if err = callTypes.Check(name, val); err != nil {
		return err
	}
	switch c := r.c; name {
	case "model":
		c.Model, err = fields.String(val, name)
	case "instructions":
		r.instructions = val
	case "input":
		r.items = val
	case "tools":
		err = r.tools(val)
	case "tool_choice":
		c.Choice, err = toolcalls.ReadToolChoice(val, "name")
	case "text":
		err = r.text(val)
	case "reasoning":
		err = r.reasoning(val)
	case "include":
		r.include(val)
	case "stream":
		c.Stream = isTrue(val)
	case "max_output_tokens":
		r.param(llm.MaxTokens, name, val)
	case "store":
	case "background":
		if isTrue(val) {
			err = fields.Invalid(name, "requires a provider with native responses support")
		}
	case "conversation", "prompt", "previous_response_id":
		err = fields.Invalid(name, "requires a provider with native responses support; send the complete conversation in input")
	default:
		r.param(name, name, val)
	}
	return err
}

func (r *callReader) param(name, from string, raw []byte) {
	r.c.Params = append(r.c.Params, llm.Param{Name: name, From: from, Raw: raw})
}

// text reads the member {"format":{…},"verbosity":"low"}.
func (r *callReader) text(raw []byte) (err error) {
	for name, val := range jsonedit.Members(raw) {
		n := plainName(name)
		if err = callTypes.Check("text."+n, val); err != nil {
			return err
		}
		switch {
		case jsonedit.IsNull(val):
		case n == "format":
			if r.c.Format, err = readFormat(val); err != nil {
				return err
			}
		default:
			r.param(n, "text."+n, val)
		}
	}
	return nil
}

// reasoning reads {"effort":"low","summary":"auto"}.
func (r *callReader) reasoning(raw []byte) error {
	for name, val := range jsonedit.Members(raw) {
		n := plainName(name)
		if err := callTypes.Check("reasoning."+n, val); err != nil {
			return err
		}
		switch {
		case jsonedit.IsNull(val):
		case n == "effort":
			r.param(llm.ReasoningEffort, "reasoning.effort", val)
		default:
			r.param(reasoningPrefix+n, "reasoning."+n, val)
		}
	}
	return nil
}

// reasoningPrefix is the prefix of the hub's names for members of reasoning other than the
// effort: "reasoning.summary".
const reasoningPrefix = "reasoning."

// Values of include that are answered whoever the provider is: thoughts come with what
// proves them, and logprobs are chat's own wish.
const (
	includeReasoning = "reasoning.encrypted_content"
	includeLogprobs  = "message.output_text.logprobs"
)

func (r *callReader) include(raw []byte) {
	var rest jsonwriter.Writer
	rest.Open('[')
	for val := range jsonedit.Elements(raw) {
		switch s, _ := jsonedit.Unquote(val); s {
		case includeReasoning:
		case includeLogprobs:
			r.logprobsField = "include"
		default:
			rest.Value(val)
		}
	}
	rest.Close(']')
	r.param("include", "include", rest.B)
}

// logprobs converts a request for logprobs to chat's, which has a switch and a number.
func (r *callReader) logprobs() {
	for i := range r.c.Params {
		if p := &r.c.Params[i]; p.Name == "top_logprobs" && string(p.Raw) != "0" {
			r.logprobsField = cmp.Or(r.logprobsField, p.From)
		}
	}
	if r.logprobsField != "" {
		r.param("logprobs", r.logprobsField, []byte("true"))
	}
}

func readFormat(raw []byte) (*llm.Format, error) {
	f := &llm.Format{From: "text.format", Type: jsonedit.Text(raw, "type")}
	switch f.Type {
	case "text", "json_object":
		return f, nil
	case "json_schema":
	default:
		return nil, fields.Invalid("text.format.type", `must be "text", "json_object" or "json_schema"`)
	}
	return f, toolcalls.ReadSchema(f, raw, "text.format")
}
