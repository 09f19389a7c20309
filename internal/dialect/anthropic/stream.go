package anthropic

import (
	"cmp"

	"sluice/internal/dialect"
	"sluice/internal/dialect/surrogates"
	"sluice/internal/dialect/upstreamerror"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// NewDecoder returns the decoder of a streamed message.
func (messages) NewDecoder(*dialect.Incoming) dialect.EventDecoder { return &reader{} }

// reader reads the events of one stream. It emits a block that only Anthropic supports when the
// block is complete.
// Source: https://platform.claude.com/docs/en/build-with-claude/streaming, read
// 2026-11; contract/provider-transforms.md 2.5.
type reader struct {
	events  dialect.EventReader
	emit    func(*llm.Event)
	each    func(name, data []byte) error // d.event, allocated once
	ended   bool
	blocks  []openBlock
	pending int // bytes buffered in blocks
	usage   llm.Usage
	joiner  surrogates.Joiner
	ev      llm.Event
}

// openBlock is a block of the response. Its position in reader.blocks is its index in the hub.
type openBlock struct {
	index        int // the provider's index: servers that imitate the format may skip numbers
	part         llm.PartKind
	open         bool
	hasArguments bool    // for a tool call: some of its arguments arrived
	input        []byte  // for a tool call: arguments in the start event
	held         *holder // a block that is buffered until it is complete
}

// Feed reads a chunk of the stream.
func (d *reader) Feed(p []byte, emit func(*llm.Event)) error {
	return d.events.Feed(p, d.to(emit))
}

// Close ends the stream. A stream without message_stop was cut off.
func (d *reader) Close(emit func(*llm.Event)) error {
	return d.events.Close(d.to(emit))
}

func (d *reader) to(emit func(*llm.Event)) func(name, data []byte) error {
	if d.emit = emit; d.each == nil {
		d.each = d.event
	}
	return d.each
}

func (d *reader) send(ev llm.Event) {
	d.ev = ev
	d.joiner.Event(&d.ev, d.emit)
}

// event reads one event. It ignores events of unknown types, as Anthropic requires of its
// clients.
func (d *reader) event(_, data []byte) error {
	if d.ended {
		return nil
	}
	if !jsonedit.Valid(data) {
		return fault.New(fault.UpstreamInvalid, "the provider sent an event that is not a JSON object")
	}
	switch string(found(data, "type")) {
	case `"message_start"`:
		d.start(data)
	case `"content_block_start"`:
		return d.begin(data)
	case `"content_block_delta"`:
		return d.delta(data)
	case `"content_block_stop"`:
		d.stop(data)
	case `"message_delta"`:
		d.finish(data)
	case `"message_stop"`:
		d.ended = true
		d.send(llm.Event{Kind: llm.EventEnd})
	case `"error"`:
		d.ended = true
		d.send(readFault(data))
	default:
		if _, ok := upstreamerror.ReadEvent(data); ok {
			d.ended = true
			d.send(readFault(data))
		}
	}
	return nil
}

func (d *reader) start(data []byte) {
	message := found(data, "message")
	d.send(llm.Event{Kind: llm.EventStart, ID: jsonedit.Text(message, "id"), Model: jsonedit.Text(message, "model")})
	d.spent(message)
}

// spent reads a usage object, whose counts replace the previous ones.
func (d *reader) spent(body []byte) {
	u := usageOf(body)
	if !u.Reported {
		return
	}
	raw := found(body, "usage")
	if _, ok := jsonedit.Find(raw, "input_tokens"); !ok { // the last event may omit it
		u.InputTokens += d.usage.InputTokens - d.usage.CachedTokens - d.usage.CacheWriteTokens
	}
	if _, ok := jsonedit.Find(raw, "cache_read_input_tokens"); !ok {
		u.CachedTokens += d.usage.CachedTokens
		u.InputTokens += d.usage.CachedTokens
	}
	if _, ok := jsonedit.Find(raw, "cache_creation_input_tokens"); !ok {
		u.CacheWriteTokens += d.usage.CacheWriteTokens
		u.CacheHourTokens += d.usage.CacheHourTokens
		u.InputTokens += d.usage.CacheWriteTokens
	}
	u.ReasoningTokens = max(u.ReasoningTokens, d.usage.ReasoningTokens)
	u.TotalTokens = u.InputTokens + u.OutputTokens
	u.Region = cmp.Or(u.Region, d.usage.Region)
	if u.Tier == "" || u.Tier == llm.UsualTier { // the last event may omit the tier
		u.Tier = cmp.Or(d.usage.Tier, u.Tier)
	}
	if u != d.usage {
		d.usage = u
		d.send(llm.Event{Kind: llm.EventUsage, Usage: &d.usage})
	}
}

// finish reads the stop reason, the usage and the extra members.
func (d *reader) finish(data []byte) {
	delta := found(data, "delta")
	for key, val := range jsonedit.Members(delta) {
		switch name := plainName(key); name {
		case "stop_reason", "stop_sequence":
		default:
			d.extra(name, val)
		}
	}
	for key, val := range jsonedit.Members(data) {
		switch name := plainName(key); name {
		case "type", "delta", "usage":
		default:
			d.extra(name, val)
		}
	}
	eachUsageExtra(found(data, "usage"), func(p llm.Param) { d.extra(p.Name, p.Raw) })
	if reason := jsonedit.Text(delta, "stop_reason"); reason != "" {
		d.send(llm.Event{Kind: llm.EventFinish, Finish: finishOf(reason), Text: reason, Name: jsonedit.Text(delta, "stop_sequence")})
	}
	d.spent(data)
}

func (d *reader) extra(name string, raw []byte) {
	if !jsonedit.IsNull(raw) {
		d.send(llm.Event{Kind: llm.EventExtra, Name: name, Raw: raw})
	}
}

// statuses maps the types of Anthropic's errors to HTTP status codes.
// Source: contract/provider-transforms.md 2.4.
var statuses = map[string]int{
	"invalid_request_error": 400, "authentication_error": 401, "billing_error": 402, "permission_error": 403, "not_found_error": 404,
	"request_too_large": 413, "rate_limit_error": 429, "api_error": 500, "timeout_error": 504, "overloaded_error": 529,
}

func readFault(data []byte) llm.Event {
	f, _ := upstreamerror.ReadEvent(data)
	f.Kind = llm.EventFault
	if s, known := statuses[f.Name]; known {
		f.Status = s
	}
	return f
}
