package dialecttest

import (
	"sluice/internal/kernel/llm"
)

// ResponseOf puts the events of a stream together into the reply that they amount to, to
// be compared with the answer that the provider gives when it does not stream. A
// stream that ended in a fault gives what came before.
func ResponseOf(events []llm.Event) *llm.Response {
	b := builder{response: &llm.Response{}, parts: map[[2]int]*llm.Part{}}
	for i := range events {
		e := copyEvent(&events[i])
		b.take(&e)
	}
	for i := range b.response.Choices {
		for n := 0; ; n++ {
			p, ok := b.parts[[2]int{i, n}]
			if !ok {
				break
			}
			if len(p.Citations) > 0 {
				p.Citations = append(p.Citations, ']')
			}
			b.response.Choices[i].Parts = append(b.response.Choices[i].Parts, *p)
		}
	}
	return b.response
}

type builder struct {
	response *llm.Response
	parts    map[[2]int]*llm.Part // by choice and block
}

func (b *builder) choice(i int) *llm.Choice {
	for len(b.response.Choices) <= i {
		b.response.Choices = append(b.response.Choices, llm.Choice{Index: len(b.response.Choices)})
	}
	return &b.response.Choices[i]
}

func (b *builder) take(e *llm.Event) {
	switch e.Kind {
	case llm.EventStart:
		b.response.ID, b.response.Model = e.ID, e.Model
		return
	case llm.EventUsage:
		b.response.Usage = *e.Usage
		return
	case llm.EventFault, llm.EventEnd, llm.EventBlockEnd:
		return
	default:
	}
	c := b.choice(e.Choice)
	switch e.Kind {
	case llm.EventFinish:
		c.Finish, c.Raw, c.StopText = e.Finish, e.Text, e.Name
	case llm.EventLogprobs:
		c.Logprobs = append(c.Logprobs, e.Raw...)
	case llm.EventExtra:
		c.Extra = append(c.Extra, llm.Param{Name: e.Name, Raw: e.Raw})
	case llm.EventBlock:
		b.begin(e)
	default:
		if p := b.parts[[2]int{e.Choice, e.Block}]; p != nil {
			grow(p, e)
		}
	}
}

func (b *builder) begin(e *llm.Event) {
	p := &llm.Part{Kind: e.Part}
	switch e.Part {
	case llm.CallPart:
		p.Call = &llm.ToolCall{ID: e.ID, Name: e.Name}
	case llm.SealedPart:
		p.Text, p.ID, p.Shape = e.Text, e.ID, e.Name
	case llm.OpaquePart:
		p.Raw, p.Shape = e.Raw, e.Name
	case llm.ImagePart, llm.AudioPart, llm.FilePart:
		p.Media, p.ID = &llm.Media{}, e.ID
	default:
		p.ID = e.ID
	}
	b.parts[[2]int{e.Choice, e.Block}] = p
}

func grow(p *llm.Part, e *llm.Event) {
	switch e.Kind {
	case llm.EventText:
		p.Text += e.Text
	case llm.EventArguments:
		p.Call.Arguments += e.Text
	case llm.EventSignature:
		p.Signature += e.Text
		if p.Kind == llm.ReasoningPart {
			p.Shape = e.Name
		}
	case llm.EventMedia:
		data := p.Media.Data
		*p.Media = *e.Media
		p.Media.Data = data + e.Media.Data
		p.Text += e.Text
	case llm.EventCitation:
		comma := byte(',')
		if p.Citations == nil {
			comma = '['
		}
		p.Citations = append(append(p.Citations, comma), e.Raw...)
		p.Shape = e.Name
	default:
	}
}
