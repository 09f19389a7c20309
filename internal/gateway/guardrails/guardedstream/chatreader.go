package guardedstream

import "bytes"

// chat reads chunks of chat completions and of completions.
type chat struct {
	legacy  bool // completions
	id      []byte
	model   []byte
	created []byte
	usage   []byte // the last one that the provider counted
	choices map[int]*choiceState
}

// choiceState is what the client received of a choice.
type choiceState struct{ started, finished bool }

// chatTexts are the kinds and blocks of the texts in a delta.
var chatTexts = map[string]Channel{
	"content":           {Kind: KindText},
	"refusal":           {Kind: KindRefusal},
	"reasoning_content": {Kind: KindReasoning},
	"reasoning":         {Kind: KindReasoning, Block: 1},
}

func (c *chat) read(t *texts, e *event) {
	d, root := e.doc()
	for name, value := range d.members(root) {
		if name == "choices" && d.isList(value) {
			for i, choice := range t.objects(e, -1, name, value) {
				c.readChoice(t, e, choice, i)
			}
			continue
		}
		c.note(d, e, name, value)
		if !d.isIdentity(name, value) {
			t.addUnknown(e, -1, name, value)
		}
	}
	e.onlyCall = e.onlyCall && len(e.choices) == 1 && len(e.finishes) == 0 && !e.counted
}

// note copies the members that the last chunk repeats.
func (c *chat) note(d document, e *event, name string, value span) {
	switch name {
	case "usage":
		if d.isObject(value) && d.isCount(name, value) {
			c.usage, e.counted = bytes.Clone(d.raw(value)), true
		}
	case "id":
		noteFirst(&c.id, d, name, value)
	case "model":
		noteFirst(&c.model, d, name, value)
	case "created":
		noteFirst(&c.created, d, name, value)
	}
}

// noteFirst copies an identifier or a number into at unless at is set.
func noteFirst(at *[]byte, d document, name string, value span) {
	if *at == nil && d.isCount(name, value) && !d.isObject(value) {
		*at = bytes.Clone(d.raw(value))
	}
}

func (c *chat) readChoice(t *texts, e *event, s span, position int) {
	d := document(e.data)
	index := d.number(s, "index", position)
	e.choices = append(e.choices, index)
	if c.choices[index] == nil && len(c.choices) < maxChannels {
		c.choices[index] = &choiceState{}
	}
	for name, value := range d.members(s) {
		c.readChoiceMember(t, e, index, name, value)
	}
	if len(e.finishes) > 0 && e.finishes[len(e.finishes)-1].choice == index {
		t.end(index, -1)
	}
}

func (c *chat) readChoiceMember(t *texts, e *event, index int, name string, value span) {
	d := document(e.data)
	switch {
	case name == "delta" && d.isObject(value):
		c.readDelta(t, e, index, value)
	case name == "text" && d.isString(value):
		t.add(e, Channel{KindText, index, 0}, value)
	case name == "logprobs":
		readLogprobs(t, e, index, value)
	case name == "finish_reason" && d.isIdentity(name, value):
		e.finishes = append(e.finishes, finish{value, index, d.string(value)})
	case !d.isIdentity(name, value):
		t.addUnknown(e, index, "choice."+name, value)
	}
}

func (c *chat) readDelta(t *texts, e *event, index int, s span) {
	d := document(e.data)
	e.onlyCall = true
	for name, value := range d.members(s) {
		at, known := chatTexts[name]
		read := deltaMembers[name]
		switch {
		case known && d.isString(value):
			t.add(e, Channel{at.Kind, index, at.Block}, value)
		case read != nil:
			read(t, e, index, value)
		case !d.isIdentity(name, value):
			t.addUnknown(e, index, "delta."+name, value)
		}
		e.onlyCall = e.onlyCall && (name == "tool_calls" || name == "function_call")
	}
}

// deltaMembers read the other members of a delta.
var deltaMembers = map[string]func(t *texts, e *event, choice int, value span){
	"tool_calls":        readChatCalls,
	"function_call":     readFunctionCall,
	"audio":             readAudio,
	"reasoning_details": readReasoningDetails,
	"content_blocks":    readContentBlocks,
}

// readFunctionCall reads a call of the deprecated form.
func readFunctionCall(t *texts, e *event, choice int, value span) {
	e.elements = append(e.elements, element{value, value, position{choice, 0}})
	readChatCall(t, e, Channel{KindArguments, choice, 0}, value, value)
}

func readChatCalls(t *texts, e *event, choice int, list span) {
	d := document(e.data)
	for i, call := range t.objects(e, choice, "delta.tool_calls", list) {
		index, state := d.find(call, "index")
		n := i
		if state {
			n = d.integer(index, i)
			e.numbers = append(e.numbers, number{at: index, position: position{choice, n}})
		}
		e.elements = append(e.elements, element{call, list, position{choice, n}})
		readChatCall(t, e, Channel{KindArguments, choice, n}, call, call)
	}
}

// readChatCall reads a tool call, or the function of one.
func readChatCall(t *texts, e *event, id Channel, call, s span) {
	d := document(e.data)
	note := Call{Channel: id, ID: d.text(call, "id"), Name: d.text(s, "name")}
	for name, value := range t.members(e, id.Choice, "call", s) {
		kind, inner := callTexts[name], callObjects[name]
		switch {
		case inner != "" && d.isObject(value) && s == call:
			readChatCall(t, e, Channel{inner, id.Choice, id.Block}, call, value)
		case kind != "" && d.isString(value):
			t.add(e, Channel{kind, id.Choice, id.Block}, value)
		case !d.isName(name, value) && !d.isIdentity(name, value):
			t.addUnknown(e, id.Choice, "call."+name, value)
		}
	}
	t.addCall(note)
}

// callObjects are the members of a call with its name and text, and the kinds of the text.
var callObjects = map[string]string{"function": KindArguments, "custom": KindInput}

// callTexts are the kinds of the texts of a call.
var callTexts = map[string]string{"arguments": KindArguments, "input": KindInput}

func (c *chat) position(arguments Channel) position {
	return position{arguments.Choice, arguments.Block}
}

func (c *chat) reason(f finish, callsLeft bool) string {
	if !callsLeft && (f.reason == "tool_calls" || f.reason == "function_call") {
		return "stop"
	}
	return f.reason
}

// counted implements surface.
func (c *chat) counted() *[]byte { return &c.usage }
