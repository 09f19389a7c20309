package guardedstream

import (
	"fmt"
	"slices"
)

func (m *messages) release(e *event, raw []byte) {
	d := document(parseEvent(raw).data)
	switch e.kind {
	case "message_start":
		m.started = true
	case "content_block_start":
		m.open = append(m.open, d.index())
	case "content_block_stop":
		index := d.index()
		m.open = slices.DeleteFunc(m.open, func(open int) bool { return open == index })
	case "message_delta":
		m.stopped = m.stopped || len(e.finishes) > 0
	}
}

// index returns the member index of an event.
func (d document) index() int {
	if len(d) == 0 {
		return 0
	}
	return d.number(span{d.space(0), len(d)}, "index", 0)
}

// end closes the open blocks and ends the message with the stop reason "refusal".
func (m *messages) end(dst []byte, _ *texts) []byte {
	if !m.started {
		dst = m.appendStart(dst)
	}
	for _, index := range m.open {
		dst = fmt.Appendf(dst, "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":%d}\n\n", index)
	}
	m.open = nil
	if !m.stopped {
		dst = append(dst, "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"refusal\",\"stop_sequence\":null},\"usage\":"...)
		dst = append(append(dst, orDefault(m.usage, `{"output_tokens":0}`)...), "}\n\n"...)
	}
	return append(dst, "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"...)
}

// appendStart appends the event message_start as it was received, or a new one.
func (m *messages) appendStart(dst []byte) []byte {
	if m.start != nil {
		return append(dst, m.start...)
	}
	dst = append(dst, "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":"...)
	dst = append(dst, orDefault(m.id, `"msg_denied"`)...)
	dst = append(append(dst, `,"type":"message","role":"assistant","model":`...), orDefault(m.model, `""`)...)
	dst = append(dst, `,"content":[],"stop_reason":null,"stop_sequence":null,"usage":`...)
	return append(append(dst, orDefault(m.usage, `{"input_tokens":0,"output_tokens":0}`)...), "}}\n\n"...)
}
