package bytez

import (
	"unicode/utf8"

	"sluice/internal/dialect"
	"sluice/internal/kernel/llm"
)

// NewDecoder makes the decoder of a stream of bare text.
func (chat) NewDecoder(*dialect.Incoming) dialect.EventDecoder { return &stream{} }

// stream reads one stream. Each chunk is text, and the text ends when the connection does.
type stream struct {
	started bool
	partial []byte // the first bytes of an incomplete character
	ev      llm.Event
}

// Feed emits the text that arrived, except an incomplete character at its end.
func (d *stream) Feed(p []byte, emit func(*llm.Event)) error {
	d.start(emit)
	buf := append(d.partial, p...)
	complete := len(buf) - unfinished(buf)
	d.text(buf[:complete], emit)
	d.partial = append(d.partial[:0], buf[complete:]...)
	return nil
}

// Close emits the remaining bytes and ends the text.
func (d *stream) Close(emit func(*llm.Event)) error {
	d.start(emit)
	d.text(d.partial, emit)
	d.send(emit, llm.Event{Kind: llm.EventBlockEnd, Part: llm.TextPart})
	d.send(emit, llm.Event{Kind: llm.EventFinish, Finish: llm.FinishStop})
	d.send(emit, llm.Event{Kind: llm.EventEnd})
	return nil
}

// unfinished returns the number of bytes at the end that begin an incomplete character.
func unfinished(b []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if tail := b[len(b)-n:]; utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				return 0
			}
			return n
		}
	}
	return 0
}

func (d *stream) start(emit func(*llm.Event)) {
	if !d.started {
		d.started = true
		d.send(emit, llm.Event{Kind: llm.EventStart})
		d.send(emit, llm.Event{Kind: llm.EventBlock, Part: llm.TextPart})
	}
}

func (d *stream) text(b []byte, emit func(*llm.Event)) {
	if len(b) > 0 {
		d.send(emit, llm.Event{Kind: llm.EventText, Part: llm.TextPart, Text: string(b)})
	}
}

func (d *stream) send(emit func(*llm.Event), ev llm.Event) {
	d.ev = ev
	emit(&d.ev)
}
