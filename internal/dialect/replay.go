package dialect

import (
	"unicode/utf8"

	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// replayChunkChars is the maximum size of the text in one event of a replayed response, in characters.
// Source: contract/provider-transforms.md 11.
const replayChunkChars = 500

// Replay emits a complete response as the events of a stream. It serves callers that requested a
// stream if there is none: the provider does not stream, or the response was stored. Texts are
// split into chunks of 500 characters. Usage is emitted once, before the end. Replay does not
// retain r. The events are valid only during the call of emit.
func Replay(r *llm.Response, emit func(*llm.Event)) {
	p := replayer{emit: emit}
	start := llm.Event{Kind: llm.EventStart, ID: r.ID, Model: r.Model}
	if r.Usage.Reported {
		start.Usage = &r.Usage
	}
	p.send(start)
	for i := range r.Choices {
		p.choice(&r.Choices[i])
	}
	p.extras(0, r.Extra)
	if r.Usage.Reported {
		p.send(llm.Event{Kind: llm.EventUsage, Usage: &r.Usage})
	}
	p.send(llm.Event{Kind: llm.EventEnd})
}

type replayer struct {
	emit func(*llm.Event)
	ev   llm.Event
}

func (p *replayer) send(ev llm.Event) {
	p.ev = ev
	p.emit(&p.ev)
}

func (p *replayer) choice(c *llm.Choice) {
	for i := range c.Parts {
		p.part(c.Index, i, &c.Parts[i])
	}
	if list, ok := jsonedit.Find(c.Logprobs, "content"); ok {
		p.send(llm.Event{Kind: llm.EventLogprobs, Choice: c.Index, Raw: list})
	}
	p.extras(c.Index, c.Extra)
	p.send(llm.Event{Kind: llm.EventFinish, Choice: c.Index, Finish: c.Finish, Text: c.Raw, Name: c.StopText})
}

func (p *replayer) extras(choice int, list []llm.Param) {
	for i := range list {
		p.send(llm.Event{Kind: llm.EventExtra, Choice: choice, Name: list[i].Name, Raw: list[i].Raw})
	}
}

// part emits one block.
func (p *replayer) part(choice, block int, part *llm.Part) {
	ev := llm.Event{Choice: choice, Block: block, Part: part.Kind}
	p.begin(ev, part)
	switch part.Kind {
	case llm.TextPart, llm.RefusalPart, llm.ReasoningPart:
		p.text(ev, part.Text)
	case llm.CallPart:
		if part.Call.Arguments != "" {
			ev.Kind, ev.Text = llm.EventArguments, part.Call.Arguments
			p.send(ev)
			ev.Text = ""
		}
	case llm.ImagePart, llm.AudioPart, llm.FilePart:
		media := ev
		media.Kind, media.ID, media.Text, media.Media = llm.EventMedia, part.ID, part.Text, part.Media
		p.send(media)
	case llm.SealedPart, llm.ResultPart, llm.OpaquePart: // the start of the block contains everything
	}
	p.proof(ev, part)
	ev.Kind = llm.EventBlockEnd
	p.send(ev)
}

func (p *replayer) begin(ev llm.Event, part *llm.Part) {
	ev.Kind, ev.ID = llm.EventBlock, part.ID
	switch part.Kind {
	case llm.CallPart:
		ev.ID, ev.Name = part.Call.ID, part.Call.Name
	case llm.SealedPart:
		ev.Name, ev.Text = part.Shape, part.Text
	case llm.OpaquePart:
		ev.Name, ev.Raw = part.Shape, part.Raw
	default:
	}
	p.send(ev)
}

func (p *replayer) text(ev llm.Event, text string) {
	ev.Kind = llm.EventText
	for text != "" {
		n := chunkEnd(text)
		ev.Text = text[:n]
		p.send(ev)
		text = text[n:]
	}
}

// chunkEnd is the length in bytes of the first replayChunkChars characters.
func chunkEnd(text string) int {
	if len(text) <= replayChunkChars {
		return len(text)
	}
	end := 0
	for range replayChunkChars {
		if end == len(text) {
			break
		}
		_, n := utf8.DecodeRuneInString(text[end:])
		end += n
	}
	return end
}

// proof emits the additional data of a part: the signature of reasoning and calls, and the
// sources of a text.
func (p *replayer) proof(ev llm.Event, part *llm.Part) {
	for c := range jsonedit.Elements(part.Citations) {
		cite := ev
		cite.Kind, cite.Name, cite.Raw = llm.EventCitation, part.Shape, c
		p.send(cite)
	}
	if part.Signature != "" {
		ev.Kind, ev.Name, ev.Text = llm.EventSignature, part.Shape, part.Signature
		p.send(ev)
	}
}
