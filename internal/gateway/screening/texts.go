package screening

import (
	"strings"

	"sluice/internal/gateway/guardrails/passage"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// texts are the texts of events that are judged together.
type texts struct {
	events []event
	judged []judgedText // those that the judge reads, in its order
}

// event is an event of the provider. The deltas of a channel are one event with their complete text,
// in the place of the first one.
type event struct {
	raw     []byte   // with the complete text
	parts   [][]byte // the deltas that it stands for; nil for other events
	offsets []int    // their positions among all events
	body    *passage.Body
	call    bool // the deltas are the arguments of a tool call
}

type judgedText struct {
	text      string
	arguments bool
}

// channel identifies the deltas of one text.
type channel struct{ kind, item, content, summary string }

// newTexts reads the texts of events.
func newTexts(list [][]byte) *texts {
	t := &texts{}
	byChannel := make(map[channel]int)
	var joined []strings.Builder
	for at, raw := range list {
		kind := jsonedit.Text(raw, "type")
		if !strings.HasSuffix(kind, ".delta") || strings.HasSuffix(kind, "audio.delta") {
			t.events = append(t.events, event{raw: raw, offsets: []int{at}})
			joined = append(joined, strings.Builder{})
			continue
		}
		c := channelOf(kind, raw)
		i, ok := byChannel[c]
		if !ok {
			i = len(t.events)
			byChannel[c] = i
			t.events = append(t.events, event{raw: raw})
			joined = append(joined, strings.Builder{})
		}
		e := &t.events[i]
		e.parts, e.offsets = append(e.parts, raw), append(e.offsets, at)
		joined[i].WriteString(jsonedit.Text(raw, "delta"))
	}
	for i := range t.events {
		e := &t.events[i]
		read := e.raw
		if e.parts != nil {
			text := jsonedit.Quote(joined[i].String())
			e.raw = applied(e.raw, jsonedit.Set("delta", text))
			read = e.raw
			if e.call = strings.Contains(jsonedit.Text(e.raw, "type"), "arguments"); e.call {
				read = append(append([]byte(`{"arguments":`), text...), '}')
			}
		}
		if b, err := passage.ResponseShape(passage.Realtime, read); err == nil {
			e.body = b
		}
	}
	return t
}

// channelOf returns the channel of a delta.
func channelOf(kind string, event []byte) channel {
	return channel{kind, jsonedit.Text(event, "item_id"), rawMember(event, "content_index"), rawMember(event, "summary_index")}
}

func rawMember(raw []byte, name string) string {
	v, _ := jsonedit.Find(raw, name)
	return string(v)
}

// unjudged returns the texts that are not known in the form that a Judge reads; nil without one.
func (t *texts) unjudged(known map[string]string) []byte {
	seen := make(map[string]bool)
	for i := range t.events {
		b := t.events[i].body
		if b == nil {
			continue
		}
		for _, p := range b.Passages() {
			if _, judged := known[p.Text]; judged || seen[p.Text] || p.Text == "" {
				continue
			}
			seen[p.Text] = true
			t.judged = append(t.judged, judgedText{p.Text, p.Kind == passage.Arguments})
		}
	}
	if len(t.judged) == 0 {
		return nil
	}
	out := []byte(`{"object":"response","output":[`)
	for i, j := range t.judged {
		if i > 0 {
			out = append(out, ',')
		}
		head, tail := `{"type":"message","role":"assistant","content":[{"type":"output_text","text":`, `}]}`
		if j.arguments {
			head, tail = `{"type":"custom_tool_call","input":`, `}`
		}
		out = append(append(append(out, head...), jsonedit.Quote(j.text)...), tail...)
	}
	return append(out, "]}"...)
}

// note adds the judged texts to the known ones of a screen. changed is the body that guardrails made of
// that of unjudged; nil if they changed nothing. It reports false if it has other texts.
func (t *texts) note(s *Screen, changed []byte) bool {
	now := make([]string, len(t.judged))
	for i, j := range t.judged {
		now[i] = j.text
	}
	if changed != nil {
		b, err := passage.ResponseShape(string(llm.CreateModelResponse), changed)
		if err != nil || len(b.Passages()) != len(now) {
			return false
		}
		for i, p := range b.Passages() {
			now[i] = p.Text
		}
	}
	for i, j := range t.judged {
		s.known[j.text] = now[i]
		s.knownBytes += len(j.text) + len(now[i])
	}
	return true
}

// rewritten returns the events with what replaces their texts, in their order. Events without a
// replacement stay as they are. The deltas of a replaced text become one.
func (t *texts) rewritten(known map[string]string) [][]byte {
	total := 0
	for i := range t.events {
		total += len(t.events[i].offsets)
	}
	placed := make([][]byte, total)
	for i := range t.events {
		e := &t.events[i]
		if now := e.replaced(known); now != nil {
			placed[e.offsets[0]] = now
			continue
		}
		if e.parts == nil {
			placed[e.offsets[0]] = e.raw
		}
		for k, part := range e.parts {
			placed[e.offsets[k]] = part
		}
	}
	out := placed[:0]
	for _, e := range placed {
		if e != nil {
			out = append(out, e)
		}
	}
	return out
}

// replaced returns the event with what replaces its texts; nil without a replacement.
func (e *event) replaced(known map[string]string) []byte {
	if e.body == nil {
		return nil
	}
	changed := false
	for i, p := range e.body.Passages() {
		if now, ok := known[p.Text]; ok && now != p.Text {
			e.body.Replace(i, now)
			changed = true
		}
	}
	if !changed {
		return nil
	}
	if !e.call {
		return e.body.Bytes()
	}
	arguments, _ := jsonedit.Find(e.body.Bytes(), "arguments")
	return applied(e.raw, jsonedit.Set("delta", arguments))
}
