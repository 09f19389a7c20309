// Package stream contains parts of relaying a response to a client: the events in Amazon's frames,
// and the part of a failed stream that the next target continues. Start reading at Partial and
// Frames.
package stream

import (
	"sluice/internal/dialect"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// Partial is what the client already received of a failed stream. The next target continues it. It
// is immutable.
type Partial struct {
	Text string // complete text so far
	ID   string // id of the chunks, which must not change within a stream
	From string // path of the target that failed
}

// Continue returns the partial response after a stream of the target at path from has failed.
// before is the part of an earlier target, or nil. Only the plain text of a chat can be continued;
// for anything else, such as a partial tool call, the result is nil.
func Continue(before *Partial, ep llm.Endpoint, end dialect.StreamEnd, from string) *Partial {
	if ep != llm.ChatComplete || !end.TextOnly {
		return nil
	}
	text := end.Text
	if before != nil {
		text = before.Text + text
	}
	return &Partial{Text: text, ID: end.ID, From: from}
}

// MaxAdded returns the number of bytes, and so the maximum number of tokens, that Edit adds to a
// call. It is 0 for nil.
func (c *Partial) MaxAdded() int64 {
	if c == nil {
		return 0
	}
	return int64(len(c.Text) + len(instruction))
}

// instruction is the instruction for the next target. It follows the partial text.
const instruction = "Continue your last message exactly where it stops. Repeat nothing of it and add no introduction."

// Edit appends the partial text and the instruction to the messages of the call.
func (c *Partial) Edit(d *jsonedit.Doc) jsonedit.Edit {
	out := append(make([]byte, 0, 256+len(c.Text)), '[')
	if raw, ok := d.Raw("messages"); ok {
		for m := range jsonedit.Elements(raw) {
			out = append(append(out, m...), ',')
		}
	}
	out = append(out, `{"role":"assistant","content":`...)
	out = append(out, jsonedit.Quote(c.Text)...)
	out = append(out, `},{"role":"user","content":"`+instruction+`"}]`...)
	return jsonedit.Set("messages", out)
}

// ContinuedEvent returns the event that shows the client where the source of the stream changed. It is a
// chunk without choices, which every client ignores.
func (c *Partial) ContinuedEvent(to string) []byte {
	out := append([]byte("\n\n"), `data: {"id":`...) // blank lines end an event that was cut in the middle
	out = append(out, jsonedit.Quote(c.ID)...)
	out = append(out, `,"object":"chat.completion.chunk","created":0,"model":"","choices":[],"gateway_event":{"type":"stream_continued","from":"`+c.From+`","to":"`+to+`"}}`...)
	return append(out, "\n\n"...)
}
