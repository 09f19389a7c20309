package dialect

import (
	"bytes"
	"strconv"

	"sluice/internal/llm"
	"sluice/internal/splice"
)

// maxTextBytes is how much text of a chat is kept for continuing it: 1 MiB.
const maxTextBytes = 1 << 20

// eventInspector gathers what the events of a stream say.
type eventInspector struct {
	ep          llm.Endpoint
	usagePath   string
	usageKey    []byte // `"usage"`, or the last name of usagePath
	collectText bool

	counts   counts
	events   int
	tries    int // events that were searched for a model and an id
	model    string
	id       string
	done     bool
	finished bool
	failed   bool
	failure  string
	status   int   // that stands for the failure
	fresh    bool  // the event at hand is the failure
	counted  bool  // the failure, or what follows it, came with the usage
	sequence int64 // number of the next event of a response
	text     []byte
	noText   bool // something other than text came
}

var (
	errorKey  = []byte(`"error"`)
	finishKey = []byte(`"finish_reason"`)

	sequenceKey = []byte(`"sequence_number"`)

	metadataKey = []byte(`"usageMetadata"`)
	metricsKey  = []byte(`"amazon-bedrock-invocationMetrics"`)
)

func newWatch(o *StreamOptions) eventInspector {
	w := eventInspector{ep: o.Endpoint, usagePath: o.Rules.UsagePath, collectText: o.CollectText, usageKey: []byte(`"usage"`)}
	w.counts = newCounts(o.Endpoint)
	return w
}

// event takes one event. Most hold a piece of text and are only searched for the words
// that would make them interesting; plain says that nothing of interest was in it, and
// would not be with another text.
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
		typ = kind(e)
		plain = !w.typed(typ) && plain
	}
	uses := false
	if hasValue(e.data, w.usageKey) || w.counts.through && (hasValue(e.data, metadataKey) || hasValue(e.data, metricsKey)) {
		w.counts.readResponse(w.ep, e.data, w.usagePath)
		if !w.counts.u.Reported && completes(w.ep) {
			w.counts.inChoices(e.data)
		}
		plain, uses = false, true
	}
	if w.suspects(e, typ) {
		w.fault(e)
		plain = false
	}
	w.counted = w.counted || w.failed && uses && w.counts.u.Reported
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

// first reads what the first events say about the answer.
func (w *eventInspector) first(data []byte) {
	c := newCounts(w.ep)
	raw := c.readResponse(w.ep, data, "")
	w.model, _ = splice.Unquote(raw)
	if id, ok := splice.Find(data, "id"); ok && w.id == "" {
		w.id, _ = splice.Unquote(id)
	}
}

// kind is the type of a typed event, from its data or else its name.
func kind(e event) []byte {
	if raw, ok := splice.Find(e.data, "type"); ok && len(raw) > 2 && raw[0] == '"' {
		return raw[1 : len(raw)-1]
	}
	return e.name
}

// typed notes the events after which nothing comes, and reports whether this is one.
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

// valueAfter returns what follows the first key in data and its colon, nil when there is
// none. Inside a text the quotes of the key would be escaped. The search begins with
// the letter behind the first quote, because quotes are every few bytes in JSON and
// each would be looked at.
func valueAfter(data, key []byte) []byte {
	for pos := 0; ; {
		i := bytes.Index(data[pos:], key[1:])
		if i < 0 {
			return nil
		}
		i += pos
		pos = i + len(key) - 1
		if i == 0 || data[i-1] != key[0] {
			continue
		}
		for ; pos < len(data) && (data[pos] == ' ' || data[pos] == ':'); pos++ {
		}
		return data[pos:]
	}
}

// hasValue reports whether data holds a key with a value other than null. It spares the
// chunks that carry "usage":null a closer look.
func hasValue(data, key []byte) bool {
	for v := valueAfter(data, key); v != nil; v = valueAfter(v, key) {
		if len(v) == 0 || v[0] != 'n' {
			return true
		}
	}
	return false
}

// finishes reports whether a chunk says why a choice ended.
func finishes(data []byte) bool {
	for v := valueAfter(data, finishKey); v != nil; v = valueAfter(v, finishKey) {
		if len(v) > 1 && v[0] == '"' && v[1] != '"' {
			return true
		}
	}
	return false
}

// fault notes an error that the upstream put into the stream.
func (w *eventInspector) fault(e event) {
	if f, ok := findFault(e); ok {
		w.fresh = !w.failed
		w.failed, w.failure, w.status = true, f.message, f.status()
	}
}

// passed counts an event that is like those before it and is not looked at.
func (w *eventInspector) passed() {
	w.events++
	if w.ep == llm.CreateModelResponse {
		w.sequence++
	}
}

// number notes which number the next event of a response has. A provider that leaves the
// numbers out is counted for.
func (w *eventInspector) number(data []byte) {
	if w.ep != llm.CreateModelResponse {
		return
	}
	w.sequence++
	v := valueAfter(data, sequenceKey)
	end := 0
	for end < len(v) && v[end] >= '0' && v[end] <= '9' {
		end++
	}
	if n, err := strconv.ParseInt(string(v[:end]), 10, 64); err == nil {
		w.sequence = n + 1
	}
}

// suspects reports whether an event may be an error. What is only passed through is not
// judged by its members: a provider may mean anything by them.
func (w *eventInspector) suspects(e event, typ []byte) bool {
	switch {
	case hasValue(e.data, errorKey), string(e.name) == errorName, string(typ) == responseFailed:
		return true
	case completes(w.ep):
		return valueAfter(e.data, choicesKey) == nil && flatFault(e.data)
	case w.ep == llm.Messages, w.ep == llm.CreateModelResponse:
		return (len(typ) == 0 || bytes.HasSuffix(typ, []byte("_error"))) && flatFault(e.data)
	}
	return false
}

// head looks at the beginning of an event that is too large to be kept.
func (w *eventInspector) head(b []byte, joined *[]byte) {
	e := parse(b, joined)
	w.events++
	w.noText = true
	if w.model == "" {
		w.first(e.data)
	}
	if !completes(w.ep) {
		w.typed(kind(e))
	}
}

// tail looks at the end of such an event; usage is wont to stand there.
func (w *eventInspector) tail(b []byte) {
	if i := bytes.LastIndex(b, w.usageKey); i >= 0 {
		w.counts.read(valueAfter(b[i:], w.usageKey))
	}
	w.finished = w.finished || completes(w.ep) && finishes(b)
}

// delta gathers text. Anything else that a choice brings rules out continuing it.
func (w *eventInspector) delta(data []byte) {
	if w.ep != llm.ChatComplete || len(w.text) > maxTextBytes {
		w.noText = true
		return
	}
	list, _ := splice.Find(data, "choices")
	for choice := range splice.Elements(list) {
		if index, ok := splice.Find(choice, "index"); ok && string(index) != "0" {
			w.noText = true
			return
		}
		delta, _ := splice.Find(choice, "delta")
		for name, val := range splice.Members(delta) {
			switch {
			case string(name) == `"content"` && val[0] == '"':
				w.text = splice.AppendUnquoted(w.text, val)
			case string(name) != `"role"` && !isEmptyDelta(val):
				w.noText = true
			}
		}
	}
}

// isEmptyDelta reports whether a raw value says nothing.
func isEmptyDelta(raw []byte) bool {
	switch string(raw) {
	case "null", `""`, "[]", "{}":
		return true
	}
	return false
}
