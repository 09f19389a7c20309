package dialect

import (
	"bytes"
	"strconv"

	"sluice/internal/dialect/jsonscan"
	"sluice/internal/dialect/upstreamerror"
	"sluice/internal/dialect/usage"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// maxTextBytes is the maximum text of a chat that is stored to continue the chat: 1 MiB.
const maxTextBytes = 1 << 20

// eventInspector collects data from the events of a stream.
type eventInspector struct {
	ep          llm.Endpoint
	usagePath   string
	usageKey    []byte // `"usage"`, or the last name of usagePath
	collectText bool

	counts   usage.Counter
	events   int
	tries    int // number of events searched for a model and an id
	model    string
	id       string
	done     bool
	finished bool
	failed   bool
	failure  string
	status   int   // status for the failure
	fresh    bool  // the current event is the first failure
	counted  bool  // usage was reported with the failure or after it
	sequence int64 // sequence number of the next response event
	text     []byte
	noText   bool // content other than text arrived
}

var (
	sequenceKey = []byte(`"sequence_number"`)

	metadataKey = []byte(`"usageMetadata"`)
	metricsKey  = []byte(`"amazon-bedrock-invocationMetrics"`)
)

func newWatch(o *StreamOptions) eventInspector {
	w := eventInspector{ep: o.Endpoint, usagePath: o.Rules.UsagePath, collectText: o.CollectText, usageKey: []byte(`"usage"`)}
	w.counts = usage.NewCounter(o.Endpoint)
	return w
}

// event inspects one event. Most events contain a text fragment and are only searched for a few
// keys. If plain is true, the event contained nothing of interest, and would not with another
// text.
func (w *eventInspector) event(e event) (plain bool) {
	if w.fresh = false; len(e.data) == 0 {
		return false
	}
	w.events++
	if isDone(e.data) {
		w.done = true
		return false
	}
	w.number(e.data)
	plain = true
	var typ []byte
	if w.tries < 4 && w.model == "" {
		w.tries++
		w.first(e.data)
		plain = false
	}
	if !completes(w.ep) {
		typ = upstreamerror.EventType(e.name, e.data)
		plain = !w.typed(typ) && plain
	}
	uses := false
	if jsonscan.HasValue(e.data, w.usageKey) || w.counts.PassedThrough && (jsonscan.HasValue(e.data, metadataKey) || jsonscan.HasValue(e.data, metricsKey)) {
		w.counts.ReadResponse(w.ep, e.data, w.usagePath)
		if !w.counts.Found.Reported && completes(w.ep) {
			w.counts.ReadChoices(e.data)
		}
		plain, uses = false, true
	}
	if w.suspects(e, typ) {
		w.fault(e)
		plain = false
	}
	w.counted = w.counted || w.failed && uses && w.counts.Found.Reported
	if completes(w.ep) {
		if finishes(e.data) {
			w.finished, plain = true, false
		}
		if w.collectText && !w.noText {
			w.delta(e.data)
			plain = false
		}
	}
	return plain
}

// first reads the model and the id from the first events.
func (w *eventInspector) first(data []byte) {
	c := usage.NewCounter(w.ep)
	raw := c.ReadResponse(w.ep, data, "")
	w.model, _ = jsonedit.Unquote(raw)
	if id, ok := jsonedit.Find(data, "id"); ok && w.id == "" {
		w.id, _ = jsonedit.Unquote(id)
	}
}

// typed records the events that end a stream, and reports whether this is one.
func (w *eventInspector) typed(kind []byte) bool {
	switch string(kind) {
	case "response.completed", "response.failed", "response.incomplete", "response.cancelled",
		"message_stop", "transcript.text.done", "speech.audio.done",
		"image_generation.completed", "image_edit.completed":
		w.done = true
		return true
	}
	return false
}

// finishes reports whether a chunk contains the finish reason of a choice.
func finishes(data []byte) bool {
	for v := jsonscan.ValueAfter(data, upstreamerror.FinishKey); v != nil; v = jsonscan.ValueAfter(v, upstreamerror.FinishKey) {
		if len(v) > 1 && v[0] == '"' && v[1] != '"' {
			return true
		}
	}
	return false
}

// fault records an error that the upstream sent in the stream.
func (w *eventInspector) fault(e event) {
	if f, ok := upstreamerror.Find(e.name, e.data); ok {
		w.fresh = !w.failed
		w.failed, w.failure, w.status = true, f.Message, f.Status()
	}
}

// passed counts an event that has the form of those before it and is not inspected.
func (w *eventInspector) passed() {
	w.events++
	if w.ep == llm.CreateModelResponse {
		w.sequence++
	}
}

// number records the sequence number of the next response event. If the provider omits the
// numbers, it counts the events.
func (w *eventInspector) number(data []byte) {
	if w.ep != llm.CreateModelResponse {
		return
	}
	w.sequence++
	v := jsonscan.ValueAfter(data, sequenceKey)
	end := 0
	for end < len(v) && v[end] >= '0' && v[end] <= '9' {
		end++
	}
	if n, err := strconv.ParseInt(string(v[:end]), 10, 64); err == nil {
		w.sequence = n + 1
	}
}

// suspects reports whether an event may be an error. On endpoints that are only passed through it
// ignores the members of flat errors, because a provider may use them with any meaning.
func (w *eventInspector) suspects(e event, typ []byte) bool {
	switch {
	case jsonscan.HasValue(e.data, upstreamerror.ErrorKey), string(e.name) == upstreamerror.EventName, string(typ) == upstreamerror.ResponseFailed:
		return true
	case completes(w.ep):
		return jsonscan.ValueAfter(e.data, upstreamerror.ChoicesKey) == nil && upstreamerror.IsFlat(e.data)
	case w.ep == llm.Messages, w.ep == llm.CreateModelResponse:
		return (len(typ) == 0 || bytes.HasSuffix(typ, []byte("_error"))) && upstreamerror.IsFlat(e.data)
	}
	return false
}

// head inspects the start of an event that is too large to buffer.
func (w *eventInspector) head(b []byte, joined *[]byte) {
	e := parse(b, joined)
	w.events++
	w.noText = true
	if w.model == "" {
		w.first(e.data)
	}
	if !completes(w.ep) {
		w.typed(upstreamerror.EventType(e.name, e.data))
	}
}

// tail inspects the end of such an event, which usually contains the usage.
func (w *eventInspector) tail(b []byte) {
	if i := bytes.LastIndex(b, w.usageKey); i >= 0 {
		w.counts.Read(jsonscan.ValueAfter(b[i:], w.usageKey))
	}
	w.finished = w.finished || completes(w.ep) && finishes(b)
}

// delta collects text. Any other content of a choice rules out continuing the chat.
func (w *eventInspector) delta(data []byte) {
	if w.ep != llm.ChatComplete || len(w.text) > maxTextBytes {
		w.noText = true
		return
	}
	list, _ := jsonedit.Find(data, "choices")
	for choice := range jsonedit.Elements(list) {
		if index, ok := jsonedit.Find(choice, "index"); ok && string(index) != "0" {
			w.noText = true
			return
		}
		delta, _ := jsonedit.Find(choice, "delta")
		for name, val := range jsonedit.Members(delta) {
			switch {
			case string(name) == `"content"` && val[0] == '"':
				w.text = jsonedit.AppendUnquoted(w.text, val)
			case string(name) != `"role"` && !jsonscan.IsEmpty(val):
				w.noText = true
			}
		}
	}
}
