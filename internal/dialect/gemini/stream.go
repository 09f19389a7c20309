package gemini

import (
	"cmp"
	"strconv"

	"sluice/internal/dialect"
	"sluice/internal/dialect/surrogates"
	"sluice/internal/dialect/upstreamerror"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// NewDecoder returns the decoder of a stream requested with alt=sse.
func (generate) NewDecoder(incoming *dialect.Incoming) dialect.EventDecoder {
	return &decoder{tier: tierOf(incoming)}
}

// maxChoices limits the candidates of a stream. Gemini returns at most 8.
const maxChoices = 128

// decoder reads the chunks of a response. Each chunk has the format of a complete response.
//
// Nothing marks the end of a stream. The finish reason is in the last chunk, and some models send
// it in every chunk. So the last finish reason counts, when the provider closes the stream.
// Source: contract/provider-transforms.md 4.5.
type decoder struct {
	r       dialect.EventReader
	tier    string // tier in the response header
	emit    func(*llm.Event)
	joiner  surrogates.Joiner
	ev      llm.Event
	current candidateContent
	begun   bool
	ended   bool
	choices []choice
	opening llm.Usage // usage in the first chunk
	usage   llm.Usage
	model   string
}

// choice is the state of one candidate.
type choice struct {
	open     bool // a block is open
	kind     llm.PartKind
	signed   bool // the open block has its signature
	mime     string
	block    int // index of the open block, or of the next
	called   bool
	finish   string
	message  string // explanation of finish
	searches int64  // billed searches
}

// Feed reads the next bytes of the stream.
func (d *decoder) Feed(p []byte, emit func(*llm.Event)) error {
	d.emit = emit
	return d.r.Feed(p, d.fragment)
}

// Close ends the stream. If a candidate has no finish reason, the stream was cut off.
func (d *decoder) Close(emit func(*llm.Event)) error {
	d.emit = emit
	if err := d.r.Close(d.fragment); err != nil || d.ended || !d.finished() {
		return err
	}
	if d.failedAll() {
		return nil
	}
	for i := range d.choices {
		c := &d.choices[i]
		d.shut(i)
		d.send(llm.Event{Kind: llm.EventFinish, Choice: i, Text: c.finish, Finish: finishOf(c.finish, c.called)})
	}
	d.end()
	return nil
}

func (d *decoder) finished() bool {
	for i := range d.choices {
		if d.choices[i].finish == "" {
			return false
		}
	}
	return len(d.choices) > 0
}

// failedAll sends an error if the finish reason of every candidate is a failure. It reports
// whether it sent one.
func (d *decoder) failedAll() bool {
	for i := range d.choices {
		if _, failed := failures[d.choices[i].finish]; !failed {
			return false
		}
	}
	c := &d.choices[0]
	text, status, _ := failureOf(c.finish, c.message)
	d.ended = true
	d.send(llm.Event{Kind: llm.EventFault, Text: text, Name: c.finish, Status: status})
	return true
}

func (d *decoder) end() {
	d.ended = true
	d.send(llm.Event{Kind: llm.EventEnd})
}

// send emits an event. All events reuse d.ev.
func (d *decoder) send(e llm.Event) {
	d.ev = e
	d.joiner.Event(&d.ev, d.emit)
}

func (d *decoder) fragment(_, data []byte) error {
	if d.ended {
		return nil
	}
	if !jsonedit.Valid(data) {
		return fault.New(fault.UpstreamInvalid, "the provider sent an event that is not a JSON object")
	}
	if e, _ := jsonedit.Find(data, "error"); len(e) > 0 && e[0] == '{' {
		usage, _ := jsonedit.Find(data, "usageMetadata")
		d.count(usage)
		d.failure(data)
		return nil
	}
	if f, failed := upstreamerror.ReadEvent(data); failed {
		d.ended = true
		d.send(f)
		return nil
	}
	if d.begun || !failsAtOnce(data) {
		d.start(data)
	}
	var feedback, usage []byte
	for name, val := range jsonedit.Members(data) {
		switch string(name) {
		case `"candidates"`:
			i := 0
			for c := range jsonedit.Elements(val) {
				if err := d.candidate(c, i); err != nil {
					return err
				}
				i++
			}
		case `"usageMetadata"`:
			usage = val
		case `"promptFeedback"`:
			feedback = val
		}
	}
	d.count(usage)
	d.blocked(feedback)
	return nil
}

func (d *decoder) start(data []byte) {
	if d.begun {
		return
	}
	d.begun = true
	id, _ := jsonedit.Find(data, "responseId")
	model, _ := jsonedit.Find(data, "modelVersion")
	d.model = plainText(model)
	ev := llm.Event{Kind: llm.EventStart, ID: plainText(id), Model: d.model}
	usage, _ := jsonedit.Find(data, "usageMetadata")
	if d.opening = d.usageOf(usage); d.opening.Reported {
		ev.Usage = &d.opening
	}
	d.send(ev)
}

// failure ends the stream with an error that Gemini reports in it:
// {"error":{"code":503,"message":"…","status":"UNAVAILABLE"}}.
func (d *decoder) failure(data []byte) {
	d.ended = true
	f, _ := upstreamerror.ReadEvent(data)
	d.send(f)
}

func (d *decoder) count(raw []byte) {
	u := d.usage
	if raw != nil {
		u = d.usageOf(raw)
	}
	u.SearchUnits = searches(d.model, len(d.choices), func(i int) int64 { return d.choices[i].searches })
	if u.Reported && u != d.usage {
		d.usage = u
		d.send(llm.Event{Kind: llm.EventUsage, Usage: &d.usage})
	}
}

// usageOf reads usageMetadata. Without a tier there, it uses the tier in the header.
func (d *decoder) usageOf(raw []byte) llm.Usage {
	u := readUsage(raw)
	u.Tier = cmp.Or(u.Tier, d.tier)
	return u
}

// blocked ends the response to a prompt that Gemini blocks. Such a response has no candidates.
func (d *decoder) blocked(feedback []byte) {
	reason, ok := jsonedit.Find(feedback, "blockReason")
	if !ok || len(d.choices) > 0 {
		return
	}
	d.send(llm.Event{Kind: llm.EventExtra, Name: "promptFeedback", Raw: feedback})
	d.send(llm.Event{Kind: llm.EventFinish, Finish: llm.FinishFilter, Text: plainText(reason)})
	d.end()
}

func (d *decoder) candidate(raw []byte, i int) error {
	if val, ok := jsonedit.Find(raw, "index"); ok {
		if n, err := strconv.Atoi(string(val)); err == nil {
			i = n
		}
	}
	if i < 0 || i >= maxChoices {
		return fault.Newf(fault.UpstreamInvalid, "the provider sent more than %d candidates", maxChoices)
	}
	for len(d.choices) <= i {
		d.choices = append(d.choices, choice{})
	}
	for name, val := range jsonedit.Members(raw) {
		switch string(name) {
		case `"index"`:
		case `"content"`:
			parts, _ := jsonedit.Find(val, "parts")
			for p := range jsonedit.Elements(parts) {
				d.part(i, p)
			}
		case `"finishReason"`:
			if finish := plainText(val); finish != "" {
				d.choices[i].finish = finish
			}
		case `"logprobsResult"`:
			if list := logprobs(val); list != nil {
				d.send(llm.Event{Kind: llm.EventLogprobs, Choice: i, Raw: list})
			}
		default:
			n, ok := extra(name)
			if n == grounding { // only the last metadata is complete
				d.choices[i].searches = max(d.choices[i].searches, searchesOf(val, d.model))
			}
			if n == finishMessage {
				d.choices[i].message = plainText(val)
			}
			if ok && d.begun {
				d.send(llm.Event{Kind: llm.EventExtra, Choice: i, Name: n, Raw: val})
			}
		}
	}
	return nil
}
