package responses

import (
	"sluice/internal/dialect"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/dialect/signatures"
	"sluice/internal/kernel/llm"
)

// EncodeResponse writes a response.
// Source: contract/provider-transforms.md 10.2.
func (client) EncodeResponse(dst []byte, r *llm.Response, a *dialect.ResponseContext) []byte {
	o := outcome{a: a, model: r.Model, created: r.Created, usage: &r.Usage, extra: r.Extra}
	var output jsonwriter.Writer
	output.Open('[')
	n := 0
	for i := range r.Choices {
		c := &r.Choices[i]
		o.finish = max(o.finish, endOf(c.Finish))
		if !a.Strict {
			o.extra = append(o.extra[:len(o.extra):len(o.extra)], c.Extra...)
		}
		n = appendChoice(&output, c, a, n)
	}
	output.Close(']')
	o.output = output.B
	w := jsonwriter.AppendTo(dst)
	o.append(&w)
	return w.B
}

// appendChoice writes the items of a response and returns the new number of items. If the
// response was truncated, its last item is incomplete.
func appendChoice(w *jsonwriter.Writer, c *llm.Choice, a *dialect.ResponseContext, n int) int {
	items := itemsOf(c, a.Strict)
	for i := range items {
		it := &items[i]
		it.index = n
		it.setID(a.ID)
		it.setName(it.name, a.Call)
		it.status = completed
		if i == len(items)-1 {
			it.status = endOf(c.Finish).status()
		}
		it.append(w, false, a.Strict)
		n++
	}
	return n
}

// The states of responses and items.
const (
	inProgress   = "in_progress"
	completed    = "completed"
	incomplete   = "incomplete"
	failedStatus = "failed"
)

// endState is how an answer ended, the worse the higher.
type endState uint8

const (
	ended endState = iota
	cutByLength
	cutByFilter
	broken
)

func endOf(f llm.Finish) endState {
	switch f {
	case llm.FinishLength:
		return cutByLength
	case llm.FinishFilter:
		return cutByFilter
	default:
		return ended
	}
}

func (e endState) status() string {
	switch e {
	case cutByLength, cutByFilter:
		return incomplete
	case broken:
		return failedStatus
	default:
		return completed
	}
}

// itemsOf builds items from the content. Consecutive texts are the parts of one message.
func itemsOf(c *llm.Choice, strict bool) []item {
	var items []item
	for i := range c.Parts {
		p := &c.Parts[i]
		kind, ok := itemOf(p, strict)
		if !ok {
			continue
		}
		if n := len(items); kind != messageItem || n == 0 || items[n-1].kind != messageItem {
			items = append(items, item{kind: kind})
		}
		items[len(items)-1].take(p)
		if p.Kind == llm.TextPart && p.Signature != "" { // a message does not support it
			items = append(items, item{kind: reasoningItem})
			items[len(items)-1].sealed.add(signatures.MarkText(p.Signature))
		}
	}
	for i := range items {
		if items[i].kind == messageItem {
			items[i].parts[0].logprobs = logprobsOf(c.Logprobs)
			break
		}
	}
	return items
}

// itemOf is the kind of item that a part belongs in; false when it says nothing, or
// nothing that the caller wants to hear.
func itemOf(p *llm.Part, strict bool) (itemKind, bool) {
	switch p.Kind {
	case llm.TextPart, llm.RefusalPart:
		return messageItem, p.Text != ""
	case llm.AudioPart:
		return messageItem, p.Media != nil
	case llm.ReasoningPart:
		return reasoningItem, p.Text != "" || p.Signature != ""
	case llm.SealedPart:
		return reasoningItem, p.Text != ""
	case llm.CallPart:
		if p.Call.Custom {
			return customItem, true
		}
		return callItem, true
	case llm.ImagePart:
		return imageItem, p.Media != nil && p.Media.Data != ""
	case llm.OpaquePart:
		return opaqueItem, !strict && len(p.Raw) > 0
	default:
		return messageItem, false
	}
}

// take fills an item, or adds a part to a message.
func (it *item) take(p *llm.Part) {
	switch it.kind {
	case reasoningItem:
		if p.Kind == llm.SealedPart {
			it.sealed.add(p.Text)
			return
		}
		it.text.add(p.Text)
		it.sealed.add(p.Signature)
	case callItem, customItem:
		it.callID, it.name = p.Call.ID, p.Call.Name
		it.text.add(p.Call.Arguments)
		it.sealed.add(p.Signature)
		if it.kind == callItem && p.Call.Arguments == "" {
			it.text.add("{}")
		}
	case imageItem:
		it.text.add(p.Media.Data)
	case opaqueItem:
		it.raw = p.Raw
	default:
		c := content{kind: p.Kind}
		c.text.add(p.Text)
		if p.Media != nil {
			c.data.add(p.Media.Data)
		}
		for val := range elements(p.Citations) {
			c.cite(val, p.Shape)
		}
		it.parts = append(it.parts, c)
	}
}
