package openai

import (
	"cmp"
	"maps"
	"slices"

	"sluice/internal/dialect"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/dialect/media"
	"sluice/internal/dialect/upstreamerror"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// NewEncoder returns the encoder of a stream of chat completion chunks.
func (chat) NewEncoder(a *dialect.ResponseContext) dialect.EventEncoder {
	e := &chunks{a: a, id: "chatcmpl-" + a.ID, model: a.Call.Model, created: a.Created}
	for i := range a.Call.Params {
		if p := &a.Call.Params[i]; p.Name == llm.StreamOptions {
			requested, _ := jsonedit.Find(p.Raw, "include_usage")
			e.includeUsage = string(requested) == "true"
		}
	}
	return e
}

// chunks encodes one stream as chat completion chunks. All chunks have the same id.
// Source: contract/provider-transforms.md 2.5.
type chunks struct {
	a            *dialect.ResponseContext
	id           string
	model        string
	created      int64
	head         []byte // first bytes of every chunk, up to its choices; nil before the first
	includeUsage bool   // the caller requested usage
	usage        llm.Usage
	begun        map[int]bool        // choices whose role was sent; true until their finish reason is sent
	calls        map[[2]int]callSlot // tool calls by choice and block
	counts       map[int]int         // number of tool calls so far, by choice
}

// callSlot is the index of a tool call in its choice and the member names that it uses.
type callSlot struct {
	index        int
	kind, args   string // member names: function and arguments, or custom and input
	hasArguments bool   // some of its arguments were received
}

// Append appends the chunks that encode ev to dst. Some events produce no chunk.
func (e *chunks) Append(dst []byte, ev *llm.Event) []byte {
	switch ev.Kind {
	case llm.EventStart:
		e.id, e.model = cmp.Or(ev.ID, e.id), cmp.Or(ev.Model, e.model)
		return e.begin(dst, 0)
	case llm.EventUsage:
		e.usage = *ev.Usage
		return dst
	case llm.EventEnd:
		return e.end(dst)
	case llm.EventFault:
		return e.fault(dst, ev)
	case llm.EventBlockEnd:
		return e.blockEnd(dst, ev)
	default:
		return e.appendChoice(e.begin(dst, ev.Choice), ev)
	}
}

// appendChoice appends the chunks of an event that belongs to one choice.
func (e *chunks) appendChoice(dst []byte, ev *llm.Event) []byte {
	switch ev.Kind {
	case llm.EventBlock:
		return e.block(dst, ev)
	case llm.EventText:
		return e.text(dst, ev)
	case llm.EventArguments:
		return e.arguments(dst, ev)
	case llm.EventSignature:
		return e.signature(dst, ev)
	case llm.EventMedia:
		return e.media(dst, ev)
	case llm.EventCitation:
		return e.note(dst, ev, "citation", ev.Raw)
	case llm.EventLogprobs:
		return e.chunk(dst, ev.Choice, nil, ev.Raw, "")
	case llm.EventExtra:
		return e.extra(dst, ev)
	case llm.EventFinish:
		e.begun[ev.Choice] = false
		return e.chunk(dst, ev.Choice, nil, nil, finishReason(ev.Finish, ev.Text, e.a))
	default:
		return dst
	}
}

// open begins a chunk and writes everything before its choices.
func (e *chunks) open(dst []byte) jsonwriter.Writer {
	if e.head == nil {
		w := jsonwriter.AppendTo([]byte("data: "))
		w.Open('{')
		w.Str("id", e.id)
		w.Str("object", "chat.completion.chunk")
		w.Int("created", e.created)
		w.Str("model", e.model)
		w.Opt("provider", e.a.Provider)
		w.Key("choices")
		e.head = w.B
	}
	return jsonwriter.AppendTo(append(dst, e.head...))
}

// chunk writes a chunk of one choice. delta writes the members of the delta; nil leaves it empty.
// Nil logprobs and an empty finish are written as null.
func (e *chunks) chunk(dst []byte, choice int, delta func(*jsonwriter.Writer), logprobs []byte, finish string) []byte {
	w := e.open(dst)
	w.Open('[')
	w.Open('{')
	w.Int("index", int64(choice))
	w.Key("delta").Open('{')
	if delta != nil {
		delta(&w)
	}
	w.Close('}')
	if logprobs != nil {
		w.Key("logprobs").Open('{')
		w.Raw("content", logprobs)
		w.Close('}')
	} else {
		w.Raw("logprobs", null)
	}
	if finish != "" {
		w.Str("finish_reason", finish)
	} else {
		w.Raw("finish_reason", null)
	}
	w.Close('}')
	w.Close(']')
	w.Close('}')
	return append(w.B, "\n\n"...)
}

var null = []byte("null")

func (e *chunks) begin(dst []byte, choice int) []byte {
	if _, begun := e.begun[choice]; begun {
		return dst
	}
	if e.begun == nil {
		e.begun, e.calls, e.counts = map[int]bool{}, map[[2]int]callSlot{}, map[int]int{}
	}
	e.begun[choice] = true
	return e.chunk(dst, choice, func(w *jsonwriter.Writer) {
		w.Str("role", "assistant")
		w.Str("content", "")
	}, nil, "")
}

func (e *chunks) block(dst []byte, ev *llm.Event) []byte {
	switch ev.Part {
	case llm.CallPart:
		pos := e.counts[ev.Choice]
		e.counts[ev.Choice]++
		p := callSlot{index: pos, kind: llm.Function, args: "arguments"}
		if e.a.Call.TakesText(ev.Name) {
			p.kind, p.args = llm.Custom, "input"
		}
		e.calls[[2]int{ev.Choice, ev.Block}] = p
		if pos == 0 && e.a.Call.Functions {
			return e.chunk(dst, ev.Choice, func(w *jsonwriter.Writer) { writeFunctionCall(w, ev.Name, "") }, nil, "")
		}
		return e.chunk(dst, ev.Choice, func(w *jsonwriter.Writer) {
			w.Key("tool_calls").Open('[')
			w.Open('{')
			w.Int("index", int64(pos))
			w.Str("id", ev.ID)
			w.Str("type", p.kind)
			w.Key(p.kind).Open('{')
			w.Str("name", ev.Name)
			w.Str(p.args, "")
			w.Close('}')
			w.Close('}')
			w.Close(']')
		}, nil, "")
	case llm.SealedPart:
		return e.note(dst, ev, "data", jsonedit.Quote(ev.Text))
	default:
		return dst
	}
}

func (e *chunks) text(dst []byte, ev *llm.Event) []byte {
	switch ev.Part {
	case llm.TextPart:
		return e.chunk(dst, ev.Choice, func(w *jsonwriter.Writer) {
			w.Str("content", ev.Text)
			if !e.a.Strict {
				e.blocks(w, ev, "text", jsonedit.Quote(ev.Text))
			}
		}, nil, "")
	case llm.RefusalPart:
		return e.chunk(dst, ev.Choice, func(w *jsonwriter.Writer) { w.Str("refusal", ev.Text) }, nil, "")
	case llm.ReasoningPart:
		return e.note(dst, ev, "thinking", jsonedit.Quote(ev.Text))
	default:
		return dst
	}
}

func (e *chunks) arguments(dst []byte, ev *llm.Event) []byte {
	pos := [2]int{ev.Choice, ev.Block}
	p, ok := e.calls[pos]
	if ok && !p.hasArguments && ev.Text != "" {
		p.hasArguments = true
		e.calls[pos] = p
	}
	return e.call(dst, ev, p.args, ev.Text)
}

// blockEnd writes an empty object for a function call without arguments, because clients parse
// the arguments as JSON.
func (e *chunks) blockEnd(dst []byte, ev *llm.Event) []byte {
	p, ok := e.calls[[2]int{ev.Choice, ev.Block}]
	if !ok || ev.Part != llm.CallPart || p.hasArguments || p.kind != llm.Function {
		return dst
	}
	return e.call(dst, ev, p.args, noArguments)
}

// signature writes a signature with the tool call or the reasoning that it belongs to. Strict
// callers do not receive it.
func (e *chunks) signature(dst []byte, ev *llm.Event) []byte {
	switch {
	case e.a.Strict:
		return dst
	case ev.Part == llm.CallPart:
		return e.call(dst, ev, "thought_signature", ev.Text)
	}
	return e.note(dst, ev, "signature", jsonedit.Quote(ev.Text))
}

// call writes a delta of a tool call. A delta of an unknown call, which a provider may send, is
// dropped.
func (e *chunks) call(dst []byte, ev *llm.Event, name, value string) []byte {
	p, ok := e.calls[[2]int{ev.Choice, ev.Block}]
	if !ok {
		return dst
	}
	if p.index == 0 && e.a.Call.Functions {
		if name != p.args {
			return dst // function_call does not have a field for a signature
		}
		return e.chunk(dst, ev.Choice, func(w *jsonwriter.Writer) { writeFunctionCall(w, "", value) }, nil, "")
	}
	return e.chunk(dst, ev.Choice, func(w *jsonwriter.Writer) {
		w.Key("tool_calls").Open('[')
		w.Open('{')
		w.Int("index", int64(p.index))
		w.Key(p.kind).Open('{')
		w.Str(name, value)
		w.Close('}')
		w.Close('}')
		w.Close(']')
	}, nil, "")
}

func (e *chunks) media(dst []byte, ev *llm.Event) []byte {
	if ev.Part == llm.AudioPart {
		return e.chunk(dst, ev.Choice, func(w *jsonwriter.Writer) {
			w.Key("audio").Open('{')
			w.Opt("id", ev.ID)
			w.Opt("data", ev.Media.Data)
			w.Opt("transcript", ev.Text)
			w.Close('}')
		}, nil, "")
	}
	var url jsonwriter.Writer
	url.Open('{')
	url.Str("url", media.URL(ev.Media))
	url.Close('}')
	return e.note(dst, ev, "image_url", url.B)
}

// note writes a delta that only content_blocks can represent. Strict callers do not receive it.
func (e *chunks) note(dst []byte, ev *llm.Event, name string, raw []byte) []byte {
	if e.a.Strict {
		return dst
	}
	return e.chunk(dst, ev.Choice, func(w *jsonwriter.Writer) { e.blocks(w, ev, name, raw) }, nil, "")
}

func (e *chunks) blocks(w *jsonwriter.Writer, ev *llm.Event, name string, raw []byte) {
	w.Key("content_blocks").Open('[')
	w.Open('{')
	w.Int("index", int64(ev.Block))
	w.Key("delta").Open('{')
	w.Raw(name, raw)
	w.Close('}')
	w.Close('}')
	w.Close(']')
}

// extra writes another member that the provider sent with a choice. Strict callers do not
// receive it.
func (e *chunks) extra(dst []byte, ev *llm.Event) []byte {
	if e.a.Strict {
		return dst
	}
	w := e.open(dst)
	w.Open('[')
	w.Open('{')
	w.Int("index", int64(ev.Choice))
	w.Key("delta").Open('{')
	w.Close('}')
	w.Raw("finish_reason", null)
	w.Named(ev.Name, ev.Raw)
	w.Close('}')
	w.Close(']')
	w.Close('}')
	return append(w.B, "\n\n"...)
}

// end writes the missing finish reasons, the usage if the caller requested it, and [DONE]. A
// choice without a finish reason gets "stop", or that of tool calls if it has any, because client
// libraries treat a choice without one as cut off.
func (e *chunks) end(dst []byte) []byte {
	for _, choice := range slices.Sorted(maps.Keys(e.begun)) {
		if e.begun[choice] {
			f := llm.FinishStop
			if e.counts[choice] > 0 {
				f = llm.FinishToolCalls
			}
			dst = e.chunk(dst, choice, nil, nil, finishReason(f, "", e.a))
		}
	}
	if e.includeUsage {
		w := e.open(dst)
		w.Open('[')
		w.Close(']')
		writeUsage(&w, &e.usage)
		w.Close('}')
		dst = append(w.B, "\n\n"...)
	}
	return append(dst, "data: [DONE]\n\n"...)
}

// fault writes an error as the last event. No [DONE] follows it, so that clients do not take the
// partial response for a complete one.
func (e *chunks) fault(dst []byte, ev *llm.Event) []byte {
	w := jsonwriter.AppendTo(append(dst, "data: "...))
	w.Open('{')
	w.Key("error").Open('{')
	w.Str("message", ev.Text)
	w.Str("type", cmp.Or(ev.Name, "upstream_error"))
	w.Raw("param", null)
	w.StrOrNull("code", ev.ID)
	upstreamerror.WriteExtra(&w, ev.Raw)
	w.Close('}')
	w.Close('}')
	return append(w.B, "\n\n"...)
}
