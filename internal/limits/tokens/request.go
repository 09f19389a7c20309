package tokens

import (
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// reading is how a member of a body is counted.
type reading func(r *reader, raw []byte)

// requests are the members of request bodies that models read, by endpoint.
var requests = map[llm.Endpoint]map[string]reading{
	llm.ChatComplete: {
		"messages": (*reader).messages, "tools": (*reader).tools, "functions": (*reader).tools, "response_format": (*reader).schema,
	},
	llm.Messages:            messageReadings,
	llm.MessagesCountTokens: messageReadings,
	llm.CreateModelResponse: {
		"instructions": (*reader).instruction, "input": (*reader).input, "tools": (*reader).tools, "text": (*reader).schema,
	},
	llm.Complete: {"prompt": (*reader).prompt, "suffix": (*reader).prompt},
	llm.Embed:    {"input": (*reader).prompt},
}

var messageReadings = map[string]reading{
	"system": (*reader).instruction, "messages": (*reader).messages, "tools": (*reader).tools, "output_config": (*reader).schema,
}

// answers are the members of responses that models wrote.
var answers = map[llm.Endpoint]map[string]reading{
	llm.ChatComplete:        {"choices": (*reader).content},
	llm.Messages:            {"content": (*reader).content},
	llm.CreateModelResponse: {"output": (*reader).content},
	llm.Complete:            {"choices": (*reader).content},
	llm.CreateTranscription: {"text": (*reader).content},
	llm.CreateTranslation:   {"text": (*reader).content},
}

func countRequest(s counter, ep llm.Endpoint, body []byte) {
	countMembers(&reader{counter: s}, requests[ep], body)
}

func countResponse(s counter, ep llm.Endpoint, body []byte) {
	if known := answers[ep]; known["text"] != nil && len(body) > 0 && body[0] != '{' {
		s.text(cueText(string(body)))
		return
	}
	countMembers(&reader{counter: s, isResponse: true}, answers[ep], body)
}

func countMembers(r *reader, known map[string]reading, body []byte) {
	if len(known) == 0 {
		return
	}
	for name, raw := range jsonedit.Members(body) {
		if key, _ := jsonedit.Unquote(name); known[key] != nil {
			known[key](r, raw)
		}
	}
}

// reader passes raw JSON to a counter.
type reader struct {
	counter    counter
	isResponse bool // a response of a model, in which nothing counts twice
}

func (r *reader) messages(raw []byte) {
	for m := range jsonedit.Elements(raw) {
		r.message(m)
	}
}

func (r *reader) message(m []byte) {
	members := lastMembers(m, "role", "name")
	r.counter.turn(text(members[0]), text(members[1]))
	r.members(m, 0)
}

// instruction reads what is outside the list of messages: a string, or parts.
func (r *reader) instruction(raw []byte) {
	if !jsonedit.IsNull(raw) {
		r.counter.turn("system", "")
		r.value(raw, 0)
	}
}

// input reads the input of createModelResponse: a string, or items of which some are messages.
func (r *reader) input(raw []byte) {
	if len(raw) > 0 && raw[0] == '"' {
		r.counter.turn("user", "")
		r.value(raw, 0)
		return
	}
	for item := range jsonedit.Elements(raw) {
		r.message(item)
	}
}

func (r *reader) content(raw []byte) { r.value(raw, 0) }

// prompt reads a string, a list of strings, or either as tokens.
func (r *reader) prompt(raw []byte) {
	if len(raw) == 0 {
		return
	}
	switch raw[0] {
	case '"':
		r.value(raw, 0)
	case '[':
		for el := range jsonedit.Elements(raw) {
			switch el[0] {
			case '[':
				r.numbers(el)
			case '"':
				r.value(el, 0)
			default:
				r.counter.tokens(1)
			}
		}
	}
}

func (r *reader) numbers(list []byte) {
	var n int64
	for range jsonedit.Elements(list) {
		n++
	}
	r.counter.tokens(n)
}

func (r *reader) tools(raw []byte) {
	for t := range jsonedit.Elements(raw) {
		tool := toolOf(t)
		r.counter.tool(&tool)
	}
}

// toolOf reads a tool in any format.
func toolOf(raw []byte) llm.Tool {
	t := lastMembers(raw, "type", "function", "parameters", "input_schema")
	kind, inner, flat := text(t[0]), t[1], t[2] != nil || t[3] != nil
	switch {
	case inner != nil && flat: // it is not known which of them is read
		return llm.Tool{Raw: raw}
	case inner != nil:
		return function(inner)
	case t[3] != nil, kind == llm.Function, kind == "":
		return function(raw)
	}
	return llm.Tool{Type: kind, Raw: raw}
}

func function(raw []byte) llm.Tool {
	f := lastMembers(raw, "name", "description", "parameters", "input_schema")
	t := llm.Tool{Type: llm.Function, Name: text(f[0]), Description: text(f[1]), Schema: f[2]}
	if f[3] != nil {
		t.Schema = f[3]
	}
	return t
}

// schema reads the schema of a response, in any of its fields.
func (r *reader) schema(raw []byte) {
	for _, key := range [...]string{"json_schema", "format"} {
		if f := last(raw, key); f != nil {
			raw = f
		}
	}
	if f := lastMembers(raw, "schema", "name", "description"); f[0] != nil {
		r.counter.text(text(f[1]))
		r.counter.text(text(f[2]))
		r.counter.text(string(f[0]))
	}
}
