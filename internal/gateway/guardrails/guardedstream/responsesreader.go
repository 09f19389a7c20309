package guardedstream

import (
	"bytes"
	"strings"
)

// responses reads the events of OpenAI's Responses API. Most texts arrive in deltas and then complete
// in the events for the end of a part, of an item and of the response.
type responses struct {
	response []byte // of the last event that contains one: the object without output
	usage    []byte // the last one that the provider counted
	created  []byte // the raw event response.created, if it has no text
	started  bool   // the client received response.created
	items    []item // that the client received, in order
	sequence int    // the last number that the client received
}

// responseTexts are the kinds of the texts, by the type of the event without its last part.
var responseTexts = map[string]struct{ kind, complete string }{
	"response.output_text":                {KindText, "text"},
	"response.refusal":                    {KindRefusal, "refusal"},
	"response.reasoning_text":             {KindReasoning, "text"},
	"response.reasoning_summary_text":     {KindReasoning, "text"},
	"response.function_call_arguments":    {KindArguments, "arguments"},
	"response.mcp_call_arguments":         {KindArguments, "arguments"},
	"response.custom_tool_call_input":     {KindInput, "input"},
	"response.code_interpreter_call_code": {KindInput, "code"},
	"response.audio.transcript":           {KindTranscript, "transcript"},
}

// reasoningContent is the block of the first content part of a reasoning item. Its summary parts have
// the blocks before.
const reasoningContent = 1 << 10

// requestMembers are the members of a response that repeat the request. They are not text of the
// answer.
var requestMembers = map[string]bool{
	"instructions": true, "tools": true, "tool_choice": true, "metadata": true, "text": true, "prompt": true, "user": true, "reasoning": true,
	"safety_identifier": true, "prompt_cache_key": true, "prompt_cache_retention": true, "conversation": true, "include": true, "input": true,
}

func (r *responses) read(t *texts, e *event) {
	d, root := e.doc()
	e.kind = e.typeOf(d, root)
	choice := 0
	if output, ok := d.find(root, "output_index"); ok {
		choice = d.integer(output, 0)
		e.position, e.belongs = position{0, choice}, true
		e.numbers = append(e.numbers, number{at: output, position: e.position})
	}
	id, complete := textOf(d, e.kind, choice, root)
	for name, value := range d.members(root) {
		known := r.readObject(t, e, choice, root, name, value) || readText(t, e, id, complete, name, value)
		if !known && !d.isName(name, value) && !d.isIdentity(name, value) {
			t.addUnknown(e, choice, e.kind+"."+name, value)
		}
	}
	r.finishRead(t, e, choice)
}

// readObject reads a member that is a response, an item or a part, or the number of the event. It
// reports false for another member.
func (r *responses) readObject(t *texts, e *event, choice int, root span, name string, value span) bool {
	d := document(e.data)
	if n := d.integer(value, -1); name == "sequence_number" && n >= 0 {
		e.numbers = append(e.numbers, number{at: value, position: position{-1, n}, sequence: true})
		return true
	}
	if !d.isObject(value) {
		return false
	}
	switch name {
	case "response":
		r.readResponse(t, e, value)
	case "item":
		readItem(t, e, choice, value)
	case "part":
		readPart(t, e, partChannel(d, choice, root, value), value)
	default:
		return false
	}
	return true
}

// readText reads the text of an event, in a delta or complete, and its log probabilities. It reports
// false for another member.
func readText(t *texts, e *event, id Channel, complete, name string, value span) bool {
	d := document(e.data)
	switch {
	case name == "logprobs" && d.isList(value):
		readTokens(t, e, id.Choice, value, complete != "")
	case !d.isString(value):
		return false
	case name == "delta" && id.Kind != "":
		t.add(e, id, value)
	case name == "delta" && e.kind == "response.audio.delta":
		return d.isIdentity("data", value)
	case name == complete:
		t.repeat(e, id, value)
		t.open(id).ended = true
	default:
		return false
	}
	return true
}

// readTokens reads the log probabilities of a delta, or of the complete text.
func readTokens(t *texts, e *event, choice int, list span, complete bool) {
	if complete {
		t.repeatTokens(e, choice, list)
		return
	}
	t.addTokens(e, choice, list, document(e.data).joinRanks(list))
	t.addOthers(e, choice, list)
}

// finishRead notes what the type of an event ends.
func (r *responses) finishRead(t *texts, e *event, choice int) {
	switch e.kind {
	case "response.output_item.done":
		t.end(choice, -1)
	case "response.completed", "response.incomplete", "response.failed":
		e.last = true
	case "response.created":
		if !e.hasText() && len(e.lines) == 0 {
			r.created = e.raw
		}
	}
}

// textOf returns the channel of the text of an event. Complete is the name of the member with the
// complete text; it is empty for a delta.
func textOf(d document, kind string, choice int, root span) (id Channel, complete string) {
	at := strings.LastIndexByte(kind, '.')
	if at < 0 {
		return id, ""
	}
	known, ok := responseTexts[kind[:at]]
	if !ok {
		return id, ""
	}
	id = Channel{known.kind, choice, d.number(root, "content_index", 0)}
	switch kind[:at] {
	case "response.reasoning_text":
		id.Block += reasoningContent
	case "response.reasoning_summary_text":
		id.Block = d.number(root, "summary_index", 0)
	}
	if kind[at:] == ".done" {
		complete = known.complete
	}
	return id, complete
}

// partTexts are the kinds of the texts of a content part, by its type.
var partTexts = map[string]struct{ member, kind string }{
	"output_text":    {"text", KindText},
	"text":           {"text", KindText},
	"refusal":        {"refusal", KindRefusal},
	"summary_text":   {"text", KindReasoning},
	"reasoning_text": {"text", KindReasoning},
	"output_audio":   {"transcript", KindTranscript},
}

// partChannel returns the channel of the part of an event.
func partChannel(d document, choice int, root, part span) Channel {
	kind := d.text(part, "type")
	id := Channel{partTexts[kind].kind, choice, d.number(root, "content_index", 0)}
	switch kind {
	case "summary_text":
		id.Block = d.number(root, "summary_index", 0)
	case "reasoning_text":
		id.Block += reasoningContent
	}
	return id
}

// readPart reads a content or summary part, which states its complete text.
func readPart(t *texts, e *event, id Channel, part span) {
	d := document(e.data)
	member := partTexts[d.text(part, "type")].member
	for name, value := range d.members(part) {
		switch {
		case name == member && d.isString(value):
			t.repeat(e, id, value)
		case name == "logprobs" && d.isList(value):
			t.repeatTokens(e, id.Choice, value)
		case !d.isIdentity(name, value):
			t.addUnknown(e, id.Choice, "part."+name, value)
		}
	}
}

// itemTexts are the kinds of the texts of an output item, by their member.
var itemTexts = map[string]string{"arguments": KindArguments, "input": KindInput, "code": KindInput}

// readItem reads an output item, which states its complete texts.
func readItem(t *texts, e *event, choice int, s span) {
	d := document(e.data)
	for name, value := range d.members(s) {
		switch known := itemTexts[name]; {
		case known != "" && d.isString(value):
			t.repeat(e, Channel{known, choice, 0}, value)
		case (name == "content" || name == "summary") && d.isList(value):
			for i, part := range t.objects(e, choice, "item."+name, value) {
				readPart(t, e, itemPart(d, choice, i, part), part)
			}
		case !d.isName(name, value) && !d.isIdentity(name, value):
			t.addUnknown(e, choice, "item."+name, value)
		}
	}
	finishItem(t, e, choice, s)
}

// finishItem notes the call and the encrypted reasoning of an item.
func finishItem(t *texts, e *event, choice int, s span) {
	d := document(e.data)
	note := Call{Channel{KindArguments, choice, 0}, d.text(s, "call_id"), d.text(s, "name")}
	switch d.text(s, "type") {
	case "function_call":
		t.addCall(note)
	case "custom_tool_call":
		note.Channel.Kind = KindInput
		t.addCall(note)
	case "reasoning":
		if sealed, ok := d.find(s, "encrypted_content"); ok && d.isIdentity("encrypted_content", sealed) {
			signReasoning(t, e, choice, sealed)
		}
	}
}

// signReasoning adds the encrypted content of a reasoning item. An edit of the reasoning removes it.
func signReasoning(t *texts, e *event, choice int, value span) {
	for _, c := range t.list {
		if c.id.Kind == KindReasoning && c.id.Choice == choice && len(c.text) > 0 {
			t.sign(e, c.id, value, tokens)
		}
	}
}

// itemPart returns the channel of a part of an item.
func itemPart(d document, choice, index int, part span) Channel {
	kind := d.text(part, "type")
	id := Channel{partTexts[kind].kind, choice, index}
	if kind == "reasoning_text" {
		id.Block += reasoningContent
	}
	return id
}

// readResponse reads the response of an event: its output, and what is needed to end it.
func (r *responses) readResponse(t *texts, e *event, s span) {
	d := document(e.data)
	r.response = bytes.Clone(d.raw(s))
	for name, value := range d.members(s) {
		switch {
		case name == "output" && d.isList(value):
			for i, item := range t.objects(e, -1, name, value) {
				e.elements = append(e.elements, element{item, value, position{0, i}})
				readItem(t, e, i, item)
			}
		case name == "usage" && d.isObject(value) && d.isCount(name, value):
			r.usage = bytes.Clone(d.raw(value))
		case requestMembers[name] || d.isIdentity(name, value):
		default:
			t.addUnknown(e, -1, "response."+name, value)
		}
	}
}

func (r *responses) position(arguments Channel) position { return position{0, arguments.Choice} }

func (r *responses) reason(f finish, _ bool) string { return f.reason }

// counted implements surface.
func (r *responses) counted() *[]byte { return &r.usage }
