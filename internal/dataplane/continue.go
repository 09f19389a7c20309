package dataplane

import (
	"sluice/internal/dialect"
	"sluice/internal/llm"
	"sluice/internal/splice"
)

// partialResponse is what the client already has of a stream that died, for the target that
// goes on with it.
type partialResponse struct {
	text string // all of it so far
	id   string // of the chunks, which must not change in mid-stream
	from string // path of the target that died
}

// continueStream keeps what was said, so that the next target can go on. Only plain text
// of a chat can be continued: half a tool call cannot.
func (x *exchange) continueStream(a *attempt, end dialect.StreamEnd) {
	if x.match.Endpoint != llm.ChatComplete || !end.TextOnly {
		return
	}
	partialText := end.Text
	if x.partial != nil {
		partialText = x.partial.text + partialText
	}
	a.canContinue = true
	x.partial = &partialResponse{text: partialText, id: end.ID, from: a.target.Path}
}

// goOn is what the next target is told after the words that it shall continue.
const goOn = "Continue your last message exactly where it stops. Repeat nothing of it and add no introduction."

// edit appends what was said to the messages of the call.
func (c *partialResponse) edit(d *splice.Doc) splice.Edit {
	out := append(make([]byte, 0, 256+len(c.text)), '[')
	if raw, ok := d.Raw("messages"); ok {
		for m := range splice.Elements(raw) {
			out = append(append(out, m...), ',')
		}
	}
	out = append(out, `{"role":"assistant","content":`...)
	out = append(out, splice.Quote(c.text)...)
	out = append(out, `},{"role":"user","content":"`+goOn+`"}]`...)
	return splice.Set("messages", out)
}

// mark is the event that tells the client where the stream changed its source: a
// chunk without choices, which every client reads over.
func (c *partialResponse) mark(to string) []byte {
	out := append([]byte("\n\n"), `data: {"id":`...) // blank lines close an event that was cut in its middle
	out = append(out, splice.Quote(c.id)...)
	out = append(out, `,"object":"chat.completion.chunk","created":0,"model":"","choices":[],"gateway_event":{"type":"stream_continued","from":"`+c.from+`","to":"`+to+`"}}`...)
	return append(out, "\n\n"...)
}
