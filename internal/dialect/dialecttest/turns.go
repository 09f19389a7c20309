package dialecttest

import "sluice/internal/kernel/llm"

// turn adds what one side says: the user first, then the model, in turns. Results of
// the model's calls come before what the user says next.
func (m *maker) turn(i int) {
	if i%2 == 1 {
		m.model()
		return
	}
	m.results()
	msg := llm.Message{Role: llm.RoleUser}
	if m.hasSurface(llm.ChatComplete) && m.may(Names) {
		msg.Name = randomName(m.Rand)
	}
	for range 1 + m.IntN(3) {
		msg.Parts = append(msg.Parts, m.userPart())
	}
	m.add(msg)
}

func (m *maker) add(msg llm.Message) {
	msg.Index = m.next()
	m.number(&msg)
	if m.may(Extras) && m.hasSurface(llm.ChatComplete) {
		msg.Extra = []llm.Param{{Name: "x_note", From: m.c.Path(&msg, -1) + ".x_note", Raw: []byte(`true`)}}
	}
	m.c.Messages = append(m.c.Messages, msg)
}

func (m *maker) userPart() llm.Part {
	p := llm.Part{Kind: llm.TextPart, Cache: m.mark()}
	switch {
	case m.may(Images):
		p.Kind, p.Media = llm.ImagePart, m.image()
	case m.may(Files):
		p.Kind, p.Media = llm.FilePart, m.document()
	case m.hasSurface(llm.ChatComplete) && m.may(Audio):
		p.Kind, p.Media = llm.AudioPart, &llm.Media{Data: "UklGRg==", Format: pick(m.Rand, "wav", "mp3")}
	default:
		p.Text = text(m.Rand)
	}
	return p
}

func (m *maker) image() *llm.Media {
	if m.may(FileIDs) && !m.hasSurface(llm.ChatComplete) {
		return &llm.Media{FileID: m.id("file_")}
	}
	if m.IntN(2) == 0 {
		return &llm.Media{URL: "https://example.com/" + randomName(m.Rand) + ".png", MIME: "image/png"}
	}
	return &llm.Media{MIME: pick(m.Rand, "image/png", "image/jpeg"), Data: pick(m.Rand, "iVBORw0KGgo=", "aGk=")}
}

func (m *maker) document() *llm.Media {
	switch {
	case m.may(FileIDs):
		return &llm.Media{FileID: m.id("file_")}
	case m.IntN(2) == 0:
		return &llm.Media{URL: "https://example.com/" + randomName(m.Rand) + ".pdf", MIME: "application/pdf"}
	case m.hasSurface(llm.Messages) && m.IntN(2) == 0:
		return &llm.Media{MIME: "text/plain", Data: text(m.Rand), Plain: true}
	case m.hasSurface(llm.Messages):
		return &llm.Media{MIME: "application/pdf", Data: "JVBERi0xLjQ="}
	}
	return &llm.Media{MIME: "application/pdf", Data: "JVBERi0xLjQ=", Name: randomName(m.Rand) + ".pdf"}
}

// model adds a turn of the model: thoughts, text, calls, in this order.
func (m *maker) model() {
	msg := llm.Message{Role: llm.RoleAssistant}
	if m.may(Reasoning) {
		p := llm.Part{Kind: llm.ReasoningPart, Text: text(m.Rand), Signature: "sig" + randomName(m.Rand), Shape: "anthropic"}
		msg.Parts = append(msg.Parts, p)
	}
	if m.may(Seals) {
		msg.Parts = append(msg.Parts, llm.Part{Kind: llm.SealedPart, Text: "sealed" + randomName(m.Rand), Shape: "anthropic"})
	}
	if m.IntN(4) > 0 || m.o.Without&Tools != 0 || len(m.c.Tools) == 0 {
		p := llm.Part{Kind: llm.TextPart, Text: text(m.Rand), Cache: m.mark()}
		if m.hasSurface(llm.Messages) && m.may(Citations) {
			p.Citations, p.Shape = []byte(`[{"type":"char_location","cited_text":"`+randomName(m.Rand)+`","document_index":0}]`), m.o.Shape
		}
		msg.Parts = append(msg.Parts, p)
	}
	if len(m.c.Tools) > 0 && (m.IntN(2) == 0 || len(msg.Parts) == 0) {
		m.calls(&msg)
	}
	if len(msg.Parts) == 0 {
		msg.Parts = append(msg.Parts, llm.Part{Kind: llm.TextPart, Text: text(m.Rand)})
	}
	m.add(msg)
	if m.hasSurface(llm.ChatComplete) { // calls stand beside the content
		for i := range msg.Parts {
			if msg.Parts[i].Kind == llm.CallPart {
				msg.Parts[i].Index = -1
			}
		}
	}
}

func (m *maker) calls(msg *llm.Message) {
	for range 1 + m.IntN(3) {
		call := &llm.ToolCall{ID: m.id("call_"), Name: "tool_0", Arguments: object(m.Rand, 2)}
		p := llm.Part{Kind: llm.CallPart, Call: call, Cache: m.mark()}
		if m.hasSurface(llm.ChatComplete) && m.may(Signed) {
			p.Signature = "sig" + randomName(m.Rand)
		}
		m.waiting = append(m.waiting, call.ID)
		msg.Parts = append(msg.Parts, p)
	}
}

// results answers the calls that wait: on chat and responses in a message each, on
// messages in one, of which the next words of the user are the rest.
func (m *maker) results() {
	index := -1
	for _, id := range m.waiting {
		res := &llm.ToolResult{ID: id, Name: "tool_0", Parts: []llm.Part{{Kind: llm.TextPart, Text: text(m.Rand), Index: -1}}}
		if m.hasSurface(llm.Messages) && m.IntN(3) == 0 {
			res.Error = true
		}
		if m.hasSurface(llm.Messages) && m.may(Media) {
			res.Parts = append(res.Parts, llm.Part{Kind: llm.ImagePart, Index: 1, Media: m.image()})
			res.Parts[0].Index = 0
		}
		part := llm.Part{Kind: llm.ResultPart, Index: -1, Result: res}
		if last := len(m.c.Messages) - 1; m.hasSurface(llm.Messages) && index >= 0 {
			part.Index = len(m.c.Messages[last].Parts)
			m.c.Messages[last].Parts = append(m.c.Messages[last].Parts, part)
			continue
		}
		index = m.next()
		if m.hasSurface(llm.Messages) {
			part.Index, part.Cache = 0, m.mark()
		}
		m.c.Messages = append(m.c.Messages, llm.Message{Role: llm.RoleTool, Index: index, Parts: []llm.Part{part}})
	}
	m.waiting = nil
}
