package bedrock

import (
	"sluice/internal/dialect"
	"sluice/internal/dialect/conversation"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// encodeFlat builds a chat request for an old model that only continues a text. The prompt has a
// line for each message, followed by the beginning of the model's own line.
//
//	system: Be brief.
//	user: Hello
//	Assistant:
//
// Source: contract/provider-transforms.md 3.6.
func encodeFlat(c *llm.Call, to *dialect.Target) (*dialect.Outgoing, error) {
	n, err := nativeOf(to.Underlying())
	if err != nil {
		return nil, err
	}
	t := llm.NewTally(c)
	turns, err := turnsOf(t, c)
	if err != nil {
		return nil, err
	}
	conversation.DropTools(t, c)
	conversation.DropFormat(t, c)
	body := n.encode(t, transcriptPrompt(turns), c.Stream)
	return &dialect.Outgoing{Body: body, Dropped: t.Dropped()}, nil
}

// decodeFlat reads the response of an old model.
func decodeFlat(incoming *dialect.Incoming) (*llm.Response, error) {
	n, err := nativeOf(incoming.To.Underlying())
	if err != nil {
		return nil, err
	}
	r := &llm.Response{ID: responseID(incoming.Body), Usage: n.usage(incoming.Header, incoming.Body)}
	for _, s := range n.outputTexts(incoming.Body) {
		r.Choices = append(r.Choices, llm.Choice{
			Index: s.choice, Parts: []llm.Part{{Kind: llm.TextPart, Text: s.text}}, Finish: nativeFinish(s.reason), Raw: s.reason,
		})
	}
	if len(r.Choices) == 0 {
		return nil, noText()
	}
	return r, nil
}

func noText() error { return fault.New(fault.UpstreamInvalid, "the provider response has no text") }

// responseID returns the id of a response. Only some families have one.
func responseID(body []byte) string { return jsonedit.Text(body, "id") }

// flatReader reads the stream of an old model.
type flatReader struct {
	stream  textStream
	started bool
	open    []bool // by choice: its block has begun and not ended
	usage   llm.Usage
	ev      llm.Event
}

func newFlatDecoder(incoming *dialect.Incoming) dialect.EventDecoder {
	n, err := nativeOf(incoming.To.Underlying())
	if err != nil { // cannot happen: EncodeCall rejected the model
		n = natives[cohere]
	}
	return &flatReader{stream: textStream{native: n}}
}

// Feed reads a part of the stream.
func (d *flatReader) Feed(p []byte, emit func(*llm.Event)) error {
	return d.stream.feed(p, flatSink{d, emit})
}

// Close ends the stream. A stream without a finish reason was cut off.
func (d *flatReader) Close(emit func(*llm.Event)) error { return d.stream.close(flatSink{d, emit}) }

// flatSink turns the content of a stream into events.
type flatSink struct {
	d    *flatReader
	emit func(*llm.Event)
}

func (k flatSink) send(ev llm.Event) {
	k.d.ev = ev
	k.emit(&k.d.ev)
}

func (k flatSink) begin() {
	if !k.d.started {
		k.d.started = true
		k.send(llm.Event{Kind: llm.EventStart})
	}
}

func (k flatSink) write(s outputText) {
	k.begin()
	d := k.d
	for len(d.open) <= s.choice {
		d.open = append(d.open, false)
	}
	if s.text != "" {
		if !d.open[s.choice] {
			d.open[s.choice] = true
			k.send(llm.Event{Kind: llm.EventBlock, Choice: s.choice})
		}
		k.send(llm.Event{Kind: llm.EventText, Choice: s.choice, Text: s.text})
	}
	if s.reason != "" {
		if d.open[s.choice] {
			d.open[s.choice] = false
			k.send(llm.Event{Kind: llm.EventBlockEnd, Choice: s.choice})
		}
		k.send(llm.Event{Kind: llm.EventFinish, Choice: s.choice, Finish: nativeFinish(s.reason), Text: s.reason})
	}
}

func (k flatSink) end(u llm.Usage) {
	k.begin()
	if u.Reported {
		k.d.usage = u
		k.send(llm.Event{Kind: llm.EventUsage, Usage: &k.d.usage})
	}
	k.send(llm.Event{Kind: llm.EventEnd})
}

func (k flatSink) fail(e dialect.Exception) {
	k.send(llm.Event{Kind: llm.EventFault, Text: e.Message, Name: e.Name, Status: e.Status})
}
