package responses

import (
	"strconv"

	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/llm"
)

// item is one element of the output: a message, or a thought, call or picture. A reply
// makes it of parts, a stream of events; both write it with the same functions.
type item struct {
	kind   itemKind
	index  int    // in the output
	choice int    // in a stream
	block  int    // in a stream; of messages the parts have one each
	id     string // "msg_…"
	callID string
	name   string
	space  string // namespace of the tool; mostly empty
	text   quoted // of thoughts; arguments of calls; base64 of pictures
	sealed quoted // encrypted_content, or the signature of a call
	parts  []content
	raw    []byte // of opaque items
	status string // completed or incomplete
	ended  bool   // in a stream: nothing more is said in it
	done   bool   // in a stream: the end was sent to the caller
}

type itemKind uint8

const (
	messageItem itemKind = iota
	reasoningItem
	callItem
	customItem
	imageItem
	opaqueItem
)

// itemNames are the types of items and the prefixes of their ids.
var itemNames = [...]struct{ kind, prefix string }{
	messageItem:   {"message", "msg_"},
	reasoningItem: {"reasoning", "rs_"},
	callItem:      {"function_call", "fc_"},
	customItem:    {"custom_tool_call", "ctc_"},
	imageItem:     {"image_generation_call", "ig_"},
	opaqueItem:    {}, // has its own
}

// content is one part of a message.
type content struct {
	kind     llm.PartKind // TextPart, RefusalPart, AudioPart
	block    int
	text     quoted // of audio, what is said in it
	data     quoted // of audio
	notes    []byte // annotations, with commas and without brackets
	cites    []byte // citations of another shape, likewise
	logprobs []byte // entries, likewise
	noted    int    // how many annotations there are
	sent     int    // in a stream: how much of logprobs went out
	ended    bool   // in a stream
}

func (it *item) setID(unique string) {
	it.id = itemNames[it.kind].prefix + short(unique) + strconv.Itoa(it.index)
}

// setName separates the name of the called tool from its namespace.
func (it *item) setName(name string, c *llm.Call) {
	it.name = name
	if t := c.Tool(name); t != nil && t.Namespace != nil {
		it.space, it.name = t.Namespace.Name, t.Namespace.Split(name)
	}
}

// append writes the item in its present state. bare omits its content, as in the event that
// announces an item.
func (it *item) append(w *jsonwriter.Writer, bare, strict bool) {
	if it.kind == opaqueItem {
		w.Value(it.raw)
		return
	}
	w.Open('{')
	w.Str("id", it.id)
	w.Str("type", itemNames[it.kind].kind)
	switch it.kind {
	case messageItem:
		it.appendMessage(w, bare, strict)
	case reasoningItem:
		it.appendReasoning(w, bare)
	case imageItem:
		w.Str("status", it.state(bare))
		if bare {
			w.Raw("result", null)
		} else {
			w.Raw("result", it.text.value())
		}
	default:
		it.appendCall(w, bare, strict)
	}
	w.Close('}')
}

func (it *item) state(bare bool) string {
	if bare {
		return inProgress
	}
	return it.status
}

var null = []byte("null")

func (it *item) appendMessage(w *jsonwriter.Writer, bare, strict bool) {
	w.Str("status", it.state(bare))
	w.Str("role", "assistant")
	w.Key("content").Open('[')
	for i := range it.parts {
		if !bare {
			it.parts[i].append(w, false, strict)
		}
	}
	w.Close(']')
}

func (it *item) appendReasoning(w *jsonwriter.Writer, bare bool) {
	w.Key("summary").Open('[')
	if !bare && len(it.text) > 0 {
		appendSummary(w, it.text.value())
	}
	w.Close(']')
	if !bare && len(it.sealed) > 0 {
		w.Raw("encrypted_content", it.sealed.value())
	}
}

func appendSummary(w *jsonwriter.Writer, text []byte) {
	w.Open('{')
	w.Str("type", "summary_text")
	w.Raw("text", text)
	w.Close('}')
}

func (it *item) appendCall(w *jsonwriter.Writer, bare, strict bool) {
	args := "arguments"
	if it.kind == customItem {
		args = "input"
	}
	w.Str("status", it.state(bare))
	w.Str("call_id", it.callID)
	w.Str("name", it.name)
	w.Opt("namespace", it.space)
	if bare {
		w.Raw(args, emptyText)
		return
	}
	w.Raw(args, it.text.value())
	if !strict && len(it.sealed) > 0 {
		w.Raw("thought_signature", it.sealed.value())
	}
}

func (c *content) append(w *jsonwriter.Writer, bare, strict bool) {
	w.Open('{')
	text := c.text.value()
	if bare {
		text = emptyText
	}
	switch c.kind {
	case llm.RefusalPart:
		w.Str("type", "refusal")
		w.Raw("refusal", text)
	case llm.AudioPart:
		w.Str("type", "output_audio")
		w.Raw("data", c.data.value())
		w.Raw("transcript", text)
	default:
		w.Str("type", "output_text")
		w.Raw("text", text)
		c.lists(w, bare, strict)
	}
	w.Close('}')
}

func (c *content) lists(w *jsonwriter.Writer, bare, strict bool) {
	notes, logprobs := c.notes, c.logprobs
	if bare {
		notes, logprobs = nil, nil
	}
	appendList(w, "annotations", notes)
	appendList(w, "logprobs", logprobs)
	if !bare && !strict && len(c.cites) > 0 {
		appendList(w, "citations", c.cites)
	}
}

// appendList writes a list of elements that have their commas already.
func appendList(w *jsonwriter.Writer, name string, elements []byte) {
	w.Key(name).Open('[')
	w.B = append(w.B, elements...)
	w.Close(']')
}

// gather appends elements to a list without brackets.
func gather(list []byte, elements ...[]byte) []byte {
	for _, e := range elements {
		if len(list) > 0 {
			list = append(list, ',')
		}
		list = append(list, e...)
	}
	return list
}
