package responses

import (
	"slices"

	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/llm"
)

// block begins what is an item of its own from the first word on. Texts, thoughts and
// pictures begin when they say something, for many providers open blocks that stay
// empty.
func (e *encoder) block(dst []byte, ev *llm.Event) []byte {
	it := &item{choice: ev.Choice, block: ev.Block}
	switch ev.Part {
	case llm.CallPart:
		it.kind, it.callID = callItem, ev.ID
		if e.a.Call.TakesText(ev.Name) {
			it.kind = customItem
		}
		it.setName(ev.Name, e.a.Call)
	case llm.SealedPart:
		it.kind = reasoningItem
		it.sealed.add(ev.Text)
	case llm.OpaquePart:
		if e.a.Strict || len(ev.Raw) == 0 {
			return dst
		}
		it.kind, it.raw = opaqueItem, slices.Clone(ev.Raw)
	default:
		return dst
	}
	return e.add(dst, it)
}

// add announces a new item, after the end of those that ended before it.
func (e *encoder) add(dst []byte, it *item) []byte {
	for _, old := range e.items {
		if old.ended || old.silent() {
			dst = e.close(dst, old, completed)
		}
	}
	it.index = len(e.items)
	it.setID(e.a.ID)
	e.items = append(e.items, it)
	w := e.open(dst, "response.output_item.added")
	w.Int("output_index", int64(it.index))
	w.Key("item")
	it.append(&w, true, e.a.Strict)
	return shut(&w)
}

// silent reports whether a message has no part that may get more content.
func (it *item) silent() bool {
	if it.kind != messageItem {
		return false
	}
	for i := range it.parts {
		if !it.parts[i].ended {
			return false
		}
	}
	return true
}

// itemList are the items of a response in their order.
type itemList []*item

// find returns the item of a block that is not a message, or nil if it does not exist yet.
func (list itemList) find(ev *llm.Event) *item {
	for i := len(list) - 1; i >= 0; i-- {
		if it := list[i]; it.kind != messageItem && it.block == ev.Block && it.choice == ev.Choice && !it.ended {
			return it
		}
	}
	return nil
}

// findPart returns the message part of a block, or nil if it does not exist yet.
func (list itemList) findPart(ev *llm.Event) (*item, int) {
	for i := len(list) - 1; i >= 0; i-- {
		it := list[i]
		if it.kind != messageItem || it.choice != ev.Choice {
			continue
		}
		for k := len(it.parts) - 1; k >= 0; k-- {
			if it.parts[k].block == ev.Block && !it.parts[k].ended {
				return it, k
			}
		}
	}
	return nil, 0
}

// hasPart reports whether the block of ev is part of a message that has begun.
func (list itemList) hasPart(ev *llm.Event) bool {
	it, _ := list.findPart(ev)
	return it != nil
}

// part is findPart that begins the part, in the message that is open or in a new one.
func (e *encoder) part(dst []byte, ev *llm.Event) ([]byte, *item, int) {
	if it, k := e.items.findPart(ev); it != nil {
		return dst, it, k
	}
	var it *item
	if n := len(e.items); n > 0 && e.items[n-1].kind == messageItem && e.items[n-1].choice == ev.Choice && !e.items[n-1].done {
		it = e.items[n-1]
	} else {
		it = &item{kind: messageItem, choice: ev.Choice}
		dst = e.add(dst, it)
	}
	k := len(it.parts)
	it.parts = append(it.parts, content{kind: ev.Part, block: ev.Block})
	if ev.Part == llm.TextPart {
		it.parts[k].logprobs, e.early = e.early, nil
	}
	w := e.inPart("response.content_part.added", dst, it, k)
	w.Key("part")
	it.parts[k].append(&w, true, e.a.Strict)
	return shut(&w), it, k
}

// inItem begins an event about an item, inPart one about a part of a message.
func (e *encoder) inItem(kind string, dst []byte, it *item) jsonwriter.Writer {
	w := e.open(dst, kind)
	w.Str("item_id", it.id)
	w.Int("output_index", int64(it.index))
	return w
}

func (e *encoder) inPart(kind string, dst []byte, it *item, part int) jsonwriter.Writer {
	w := e.inItem(kind, dst, it)
	w.Int("content_index", int64(part))
	return w
}

// blockEnd ends a part of a message, or an item. The end of a call is sent with the
// next item or the end of the answer, when it is known whether it was cut.
func (e *encoder) blockEnd(dst []byte, ev *llm.Event) []byte {
	if it, k := e.items.findPart(ev); it != nil {
		return e.partEnd(dst, it, k)
	}
	it := e.items.find(ev)
	if it == nil {
		return dst
	}
	dst = e.itemEnd(dst, it)
	if it.kind != callItem && it.kind != customItem {
		dst = e.close(dst, it, completed)
	}
	return dst
}

// finish ends the items of a choice that are still open. The last item has the status of the
// response.
func (e *encoder) finish(dst []byte, choice int, status string) []byte {
	last := -1
	for i, it := range e.items {
		if it.choice == choice {
			last = i
		}
	}
	for i, it := range e.items {
		switch {
		case it.choice != choice:
		case i == last:
			dst = e.close(dst, it, status)
		default:
			dst = e.close(dst, it, completed)
		}
	}
	return dst
}

// close reports that an item is done.
func (e *encoder) close(dst []byte, it *item, status string) []byte {
	if it.done {
		return dst
	}
	for k := range it.parts {
		dst = e.partEnd(dst, it, k)
	}
	dst = e.itemEnd(dst, it)
	it.done, it.status = true, status
	w := e.open(dst, "response.output_item.done")
	w.Int("output_index", int64(it.index))
	w.Key("item")
	it.append(&w, false, e.a.Strict)
	return shut(&w)
}
