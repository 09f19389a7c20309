package llm

import (
	"encoding/json"
	"slices"
	"strconv"
)

// FieldTracker keeps account of what a dialect carries of a Call. A dialect takes what it
// has a word for and says what it had to leave out; whatever nobody took is lost as
// well. One Tally serves one encoding and one goroutine.
type FieldTracker struct {
	call    *Call
	few     [fewParams]bool
	taken   []bool              // of the call's parameters
	extra   map[*Param]struct{} // taken of what messages, parts and tools have besides
	dropped []string
	known   map[string]struct{} // what is in lost: there may be as many as the call has parts
}

// fewParams is as many parameters as most calls have at most.
const fewParams = 16

// NewTally begins the account of one encoding of c.
func NewTally(c *Call) *FieldTracker {
	t := &FieldTracker{call: c}
	if t.taken = t.few[:]; len(c.Params) > fewParams {
		t.taken = make([]bool, len(c.Params))
	}
	return t
}

// Consume returns the value of the parameter of that name and counts it as carried.
func (t *FieldTracker) Consume(name string) (json.RawMessage, bool) {
	for i := range t.call.Params {
		if p := &t.call.Params[i]; p.Name == name {
			t.taken[i] = true
			return p.Raw, true
		}
	}
	return nil, false
}

// First takes all of the given names and returns the value of the first that is there.
func (t *FieldTracker) First(names ...string) (json.RawMessage, bool) {
	var found json.RawMessage
	for _, n := range names {
		if raw, ok := t.Consume(n); ok && found == nil {
			found = raw
		}
	}
	return found, found != nil
}

// Peek returns a value without taking it.
func (t *FieldTracker) Peek(name string) (json.RawMessage, bool) {
	for i := range t.call.Params {
		if p := &t.call.Params[i]; p.Name == name {
			return p.Raw, true
		}
	}
	return nil, false
}

// Rest returns the parameters that nobody has taken yet and counts them as carried, for
// dialects that know how the caller means them.
func (t *FieldTracker) Rest() []Param {
	var left []Param
	for i := range t.call.Params {
		if !t.taken[i] {
			t.taken[i] = true
			left = append(left, t.call.Params[i])
		}
	}
	return left
}

// TakeFrom is Take for the Extra of a message, part or tool.
func (t *FieldTracker) TakeFrom(extra []Param, name string) (json.RawMessage, bool) {
	for i := range extra {
		if p := &extra[i]; p.Name == name {
			t.markTaken(p)
			return p.Raw, true
		}
	}
	return nil, false
}

// TakeAll is Rest for the Extra of a message, part or tool.
func (t *FieldTracker) TakeAll(extra []Param) []Param {
	var left []Param
	for i := range extra {
		p := &extra[i]
		if _, ok := t.extra[p]; !ok {
			t.markTaken(p)
			left = append(left, *p)
		}
	}
	return left
}

func (t *FieldTracker) markTaken(p *Param) {
	if t.extra == nil {
		t.extra = make(map[*Param]struct{})
	}
	t.extra[p] = struct{}{}
}

// Drop says that what stands at that place of the caller's body is left out.
func (t *FieldTracker) Drop(path string) {
	if _, ok := t.known[path]; ok {
		return
	}
	if t.known == nil {
		t.known = make(map[string]struct{})
	}
	t.known[path] = struct{}{}
	t.dropped = append(t.dropped, path)
}

// Dropped lists what the target does not get, as paths into the caller's body: what
// Lose was told, then every parameter and extra that was not taken and says
// something. Each stands there once.
func (t *FieldTracker) Dropped() []string {
	for i := range t.call.Params {
		if p := &t.call.Params[i]; !t.taken[i] && !neutral(p) {
			t.Drop(p.From)
		}
	}
	for i := range t.call.Messages {
		m := &t.call.Messages[i]
		t.rest(m.Extra)
		t.parts(m.Parts)
	}
	for i := range t.call.Tools {
		t.rest(t.call.Tools[i].Extra)
	}
	return t.dropped
}

func (t *FieldTracker) parts(list []Part) {
	for i := range list {
		t.rest(list[i].Extra)
		if r := list[i].Result; r != nil {
			t.parts(r.Parts)
		}
	}
}

func (t *FieldTracker) rest(extra []Param) {
	for i := range extra {
		p := &extra[i]
		if _, ok := t.extra[p]; !ok && !neutral(p) {
			t.Drop(p.From)
		}
	}
}

// neutrals are values that say what holds anyway.
var neutrals = map[string][]string{
	"n": {"1"}, "logprobs": {"false"}, "top_logprobs": {"0"}, "store": {"false"}, ParallelToolCalls: {"true"}, "background": {"false"},
	"presence_penalty": {"0", "0.0"}, "frequency_penalty": {"0", "0.0"}, "logit_bias": {"{}"}, "metadata": {"{}"}, "modalities": {`["text"]`},
	"annotations": {"[]"}, "tool_calls": {"[]"},
	"service_tier": {`"auto"`, `"default"`}, "truncation": {`"disabled"`}, "include": {"[]"}, Stop: {"[]"}, StreamOptions: nil,
	"reasoning.summary": nil, "reasoning.generate_summary": nil,
}

func neutral(p *Param) bool { return Neutral(p.Name, p.Raw) }

// Neutral reports whether leaving out a field of that name changes nothing of a call, for
// example {"store":false}; null says nothing anywhere. StreamOptions is answered by the gateway
// itself, and so is the wish for a summary of what was thought: thoughts are shown to callers
// of responses as summaries.
func Neutral(name string, raw []byte) bool {
	values, known := neutrals[name]
	return known && values == nil || string(raw) == "null" || slices.Contains(values, string(raw))
}

// Path names a part of a message in the words of the call's surface:
// "messages[2].content[0]", "input[2]", "system". A part of -1 names the message. On
// responses, where several items of the input may make one turn, -2 names the item
// behind the one of the message, -3 the next.
func (c *Call) Path(m *Message, part int) string {
	list := "messages"
	if c.Surface == CreateModelResponse {
		list = "input"
	}
	switch {
	case m.Index < 0 && c.Surface == CreateModelResponse:
		return "instructions"
	case m.Index < 0 && part < 0:
		return "system"
	case m.Index < 0:
		return element("system", part)
	case part < 0:
		return element(list, m.Index-1-part)
	}
	return element(element(list, m.Index)+".content", part)
}

func element(list string, i int) string { return list + "[" + strconv.Itoa(i) + "]" }
