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

// reasoningDetails is the block of the first entry of reasoning_details.
const reasoningDetails = 2

func (c *chat) read(t *texts, e *event) {
	d, root := e.doc()
	for name, value := range d.members(root) {
		switch name {
		case "choices":
			for i, choice := range d.elements(value) {
				c.readChoice(t, e, choice, i)
			}
		case "usage":
			if d.isObject(value) {
				c.usage = bytes.Clone(d.raw(value))
			}
		case "id":
			noteFirst(&c.id, d.raw(value))
		case "model":
			noteFirst(&c.model, d.raw(value))
		case "created":
			noteFirst(&c.created, d.raw(value))
		}
		if name != "choices" && !d.isIdentity(name, value) {
			t.addUnknown(e, -1, name, value)
		}
	}
}

// noteFirst copies a value into at unless at is set.
func noteFirst(at *[]byte, raw []byte) {
	if *at == nil {
		*at = bytes.Clone(raw)
	}
}

func (c *chat) readChoice(t *texts, e *event, s span, position int) {
	d := document(e.data)
	if !d.isObject(s) {
		t.addUnknown(e, -1, "choices", s)
		return
	}
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
	case name == "finish_reason" && d.isString(value):
		e.finishes = append(e.finishes, finish{value, index, d.string(value)})
	case !d.isIdentity(name, value):
		t.addUnknown(e, index, "choice."+name, value)
	}
}

func (c *chat) readDelta(t *texts, e *event, index int, s span) {
	d := document(e.data)
	members, calls := 0, 0
	for name, value := range d.members(s) {
		members++
		if at, ok := chatTexts[name]; ok && d.isString(value) {
			t.add(e, Channel{at.Kind, index, at.Block}, value)
			continue
		}
		switch name {
		case "tool_calls":
			calls++
			readChatCalls(t, e, index, value)
		case "function_call":
			readChatCall(t, e, Channel{KindArguments, index, 0}, s, value)
		case "audio":
			readAudio(t, e, index, value)
		case "reasoning_details":
			readReasoningDetails(t, e, index, value)
		default:
			if !d.isIdentity(name, value) {
				t.addUnknown(e, index, "delta."+name, value)
			}
		}
	}
	e.onlyCall = calls > 0 && members == calls && len(e.choices) == 1
}

func readChatCalls(t *texts, e *event, choice int, list span) {
	d := document(e.data)
	for i, call := range d.elements(list) {
		index, state := d.find(call, "index")
		n := i
		if state {
			n = d.integer(index, i)
			e.numbers = append(e.numbers, number{at: index, position: position{choice, n}})
		}
		e.elements = append(e.elements, element{call, list, position{choice, n}})
		readChatCall(t, e, Channel{KindArguments, choice, n}, call, call)
	}
	if !d.isList(list) {
		t.addUnknown(e, choice, "delta.tool_calls", list)
	}
}

// readChatCall reads a tool call, or the function of one.
func readChatCall(t *texts, e *event, id Channel, call, s span) {
	d := document(e.data)
	note := Call{Channel: id}
	for name, value := range d.members(s) {
		switch {
		case name == "function" || name == "custom":
			readChatCall(t, e, id, call, value)
		case name == "arguments" && d.isString(value):
			t.add(e, id, value)
		case name == "input" && d.isString(value):
			note.Channel.Kind = KindInput
			t.add(e, note.Channel, value)
		case name == "name":
			note.Name = d.string(value)
		}
		switch name {
		case "function", "custom", "arguments", "input", "index":
		default:
			if !d.isIdentity(name, value) {
				t.addUnknown(e, id.Choice, "call."+name, value)
			}
		}
	}
	if note.ID = d.text(call, "id"); note.ID != "" || note.Name != "" {
		t.addCall(note)
	}
}

func readAudio(t *texts, e *event, choice int, s span) {
	d := document(e.data)
	for name, value := range d.members(s) {
		switch {
		case name == "transcript" && d.isString(value):
			t.add(e, Channel{KindTranscript, choice, 0}, value)
		case !d.isIdentity(name, value):
			t.addUnknown(e, choice, "audio."+name, value)
		}
	}
}

// readReasoningDetails reads the list of reasoning texts that OpenRouter defines.
func readReasoningDetails(t *texts, e *event, choice int, list span) {
	d := document(e.data)
	for i, entry := range d.elements(list) {
		id := Channel{KindReasoning, choice, reasoningDetails + d.number(entry, "index", i)}
		for name, value := range d.members(entry) {
			switch {
			case (name == "text" || name == "summary") && d.isString(value):
				t.add(e, id, value)
			case !d.isIdentity(name, value):
				t.addUnknown(e, choice, "reasoning_details."+name, value)
			}
		}
	}
}

func (c *chat) position(arguments Channel) position {
	return position{arguments.Choice, arguments.Block}
}

func (c *chat) reason(f finish, callsLeft bool) string {
	if !callsLeft && (f.reason == "tool_calls" || f.reason == "function_call") {
		return "stop"
	}
	return f.reason
}
