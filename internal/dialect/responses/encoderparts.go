package responses

import (
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/dialect/signatures"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

func (e *encoder) text(dst []byte, ev *llm.Event) []byte {
	if ev.Text == "" {
		return dst
	}
	if ev.Part == llm.ReasoningPart {
		return e.appendReasoning(dst, ev)
	}
	dst, it, k := e.part(dst, ev)
	c := &it.parts[k]
	c.text.add(ev.Text)
	w := e.inPart(deltaOf(c.kind), dst, it, k)
	w.Str("delta", ev.Text)
	if c.kind == llm.TextPart {
		appendList(&w, "logprobs", c.unsent())
	}
	return shut(&w)
}

func deltaOf(k llm.PartKind) string {
	switch k {
	case llm.RefusalPart:
		return "response.refusal.delta"
	case llm.AudioPart:
		return "response.audio.transcript.delta"
	default:
		return "response.output_text.delta"
	}
}

// unsent returns the logprobs that no event has sent yet, without a leading comma, and marks them
// as sent.
func (c *content) unsent() []byte {
	from := c.sent
	c.sent = len(c.logprobs)
	if from > 0 && from < len(c.logprobs) {
		from++
	}
	return c.logprobs[from:]
}

// appendReasoning writes reasoning as a summary of one part.
func (e *encoder) appendReasoning(dst []byte, ev *llm.Event) []byte {
	it := e.items.find(ev)
	if it == nil {
		it = &item{kind: reasoningItem, choice: ev.Choice, block: ev.Block}
		dst = e.add(dst, it)
	}
	if len(it.text) == 0 {
		w := e.inSummary("response.reasoning_summary_part.added", dst, it)
		w.Key("part")
		appendSummary(&w, emptyText)
		dst = shut(&w)
	}
	it.text.add(ev.Text)
	w := e.inSummary("response.reasoning_summary_text.delta", dst, it)
	w.Str("delta", ev.Text)
	return shut(&w)
}

func (e *encoder) inSummary(kind string, dst []byte, it *item) jsonwriter.Writer {
	w := e.inItem(kind, dst, it)
	w.Int("summary_index", 0)
	return w
}

// signature stores a signature for the end of its item, the only event with a field for it.
func (e *encoder) signature(dst []byte, ev *llm.Event) []byte {
	it := e.items.find(ev)
	if it == nil && (ev.Part == llm.ReasoningPart || ev.Part == llm.TextPart && e.items.hasPart(ev)) {
		it = &item{kind: reasoningItem, choice: ev.Choice, block: ev.Block}
		dst = e.add(dst, it)
		if ev.Part == llm.TextPart { // a message does not have a field for it
			it.sealed.add(signatures.MarkText(""))
		}
	}
	if it != nil {
		it.sealed.add(ev.Text)
	}
	return dst
}

func (e *encoder) arguments(dst []byte, ev *llm.Event) []byte {
	it := e.items.find(ev)
	if it == nil || ev.Text == "" {
		return dst
	}
	it.text.add(ev.Text)
	w := e.inItem(argumentsOf(it, ".delta"), dst, it)
	w.Str("delta", ev.Text)
	return shut(&w)
}

func argumentsOf(it *item, step string) string {
	if it.kind == customItem {
		return "response.custom_tool_call_input" + step
	}
	return "response.function_call_arguments" + step
}

// media takes fragments of images and audio. It collects images, which are sent only complete.
func (e *encoder) media(dst []byte, ev *llm.Event) []byte {
	if ev.Media == nil {
		return dst
	}
	switch ev.Part {
	case llm.AudioPart:
		return e.appendAudio(dst, ev)
	case llm.ImagePart:
		return e.appendImage(dst, ev)
	default: // responses do not have an item for a document
		return dst
	}
}

func (e *encoder) appendImage(dst []byte, ev *llm.Event) []byte {
	it := e.items.find(ev)
	if it == nil {
		if ev.Media.Data == "" {
			return dst
		}
		it = &item{kind: imageItem, choice: ev.Choice, block: ev.Block}
		dst = e.add(dst, it)
	}
	it.text.add(ev.Media.Data)
	return dst
}

func (e *encoder) appendAudio(dst []byte, ev *llm.Event) []byte {
	dst, it, k := e.part(dst, ev)
	if ev.Media.Data != "" {
		it.parts[k].data.add(ev.Media.Data)
		w := e.inPart("response.audio.delta", dst, it, k)
		w.Str("delta", ev.Media.Data)
		dst = shut(&w)
	}
	return e.text(dst, ev)
}

func (e *encoder) citation(dst []byte, ev *llm.Event) []byte {
	if ev.Part != llm.TextPart {
		return dst
	}
	dst, it, k := e.part(dst, ev)
	c := &it.parts[k]
	note := c.cite(ev.Raw, ev.Name)
	if note == nil {
		return dst
	}
	w := e.inPart("response.output_text.annotation.added", dst, it, k)
	w.Int("annotation_index", int64(c.noted-1))
	w.Raw("annotation", note)
	return shut(&w)
}

// logprobs adds entries to the open text, or to the next one. The next delta of that text sends
// them, and its end repeats all of them.
func (e *encoder) logprobs(ev *llm.Event) {
	to := &e.early
	for i := len(e.items) - 1; i >= 0; i-- {
		it := e.items[i]
		if it.kind != messageItem || it.choice != ev.Choice || it.done {
			continue
		}
		if c := &it.parts[len(it.parts)-1]; c.kind == llm.TextPart {
			to = &c.logprobs
		}
		break
	}
	for val := range jsonedit.Elements(ev.Raw) {
		*to = gather(*to, val)
	}
}

// partEnd writes the last events of a message part, with its complete content.
func (e *encoder) partEnd(dst []byte, it *item, k int) []byte {
	c := &it.parts[k]
	if c.ended {
		return dst
	}
	c.ended = true
	switch c.kind {
	case llm.RefusalPart:
		w := e.inPart("response.refusal.done", dst, it, k)
		w.Raw("refusal", c.text.value())
		dst = shut(&w)
	case llm.AudioPart:
		w := e.inPart("response.audio.done", dst, it, k)
		dst = shut(&w)
		w = e.inPart("response.audio.transcript.done", dst, it, k)
		dst = shut(&w)
	default:
		w := e.inPart("response.output_text.done", dst, it, k)
		w.Raw("text", c.text.value())
		appendList(&w, "logprobs", c.logprobs)
		dst = shut(&w)
	}
	w := e.inPart("response.content_part.done", dst, it, k)
	w.Key("part")
	c.append(&w, false, e.a.Strict)
	return shut(&w)
}

// itemEnd writes the last events of a reasoning summary or of a call's arguments, with the complete
// text.
func (e *encoder) itemEnd(dst []byte, it *item) []byte {
	if it.ended {
		return dst
	}
	it.ended = true
	switch it.kind {
	case reasoningItem:
		if len(it.text) == 0 {
			return dst
		}
		w := e.inSummary("response.reasoning_summary_text.done", dst, it)
		w.Raw("text", it.text.value())
		dst = shut(&w)
		w = e.inSummary("response.reasoning_summary_part.done", dst, it)
		w.Key("part")
		appendSummary(&w, it.text.value())
		return shut(&w)
	case callItem, customItem:
		name := "arguments"
		if it.kind == customItem {
			name = "input"
		} else if len(it.text) == 0 {
			it.text.add("{}")
		}
		w := e.inItem(argumentsOf(it, ".done"), dst, it)
		if it.kind == callItem {
			w.Str("name", it.name)
		}
		w.Raw(name, it.text.value())
		return shut(&w)
	default:
		return dst
	}
}
