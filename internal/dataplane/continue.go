package dataplane

import (
	"sluice/internal/dialect"
	"sluice/internal/llm"
	"sluice/internal/splice"
)

// partialResponse is what the client already received of a failed stream. The next target
// continues it.
type partialResponse struct {
	text string // complete text so far
	id   string // id of the chunks, which must not change within a stream
	from string // path of the target that failed
}

// continueStream stores the partial text so that the next target can continue it. Only the plain
// text of a chat can be continued; a partial tool call cannot.
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

// goOn is the instruction for the next target. It follows the partial text.
const goOn = "Continue your last message exactly where it stops. Repeat nothing of it and add no introduction."

// edit appends the partial text and the instruction to the messages of the call.
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

// mark returns the event that shows the client where the source of the stream changed. It is a
// chunk without choices, which every client ignores.
func (c *partialResponse) mark(to string) []byte {
	out := append([]byte("\n\n"), `data: {"id":`...) // blank lines end an event that was cut in the middle
	out = append(out, splice.Quote(c.id)...)
	out = append(out, `,"object":"chat.completion.chunk","created":0,"model":"","choices":[],"gateway_event":{"type":"stream_continued","from":"`+c.from+`","to":"`+to+`"}}`...)
	return append(out, "\n\n"...)
}
