package llm

import (
	"encoding/json"
	"slices"
	"strconv"
)

// FieldTracker records which fields of a Call a dialect encodes. A dialect consumes the fields
// that it supports and drops the others. Fields that were not consumed count as dropped too. A
// FieldTracker serves one encoding and one goroutine.
type FieldTracker struct {
	call    *Call
	few     [fewParams]bool
	taken   []bool              // consumed parameters of the call
	extra   map[*Param]struct{} // consumed extra fields of messages, parts and tools
	dropped []string
	known   map[string]struct{} // set of the entries of dropped: there may be as many as the call has parts
}

// fewParams is the number of parameters that most calls do not exceed.
const fewParams = 16

// NewTally returns a FieldTracker for one encoding of c.
func NewTally(c *Call) *FieldTracker {
	t := &FieldTracker{call: c}
	if t.taken = t.few[:]; len(c.Params) > fewParams {
		t.taken = make([]bool, len(c.Params))
	}
	return t
}

// Consume returns the value of a parameter and marks it as consumed.
func (t *FieldTracker) Consume(name string) (json.RawMessage, bool) {
	for i := range t.call.Params {
		if p := &t.call.Params[i]; p.Name == name {
			t.taken[i] = true
			return p.Raw, true
		}
	}
	return nil, false
}

// First consumes all given names and returns the value of the first that is present.
func (t *FieldTracker) First(names ...string) (json.RawMessage, bool) {
	var found json.RawMessage
	for _, n := range names {
		if raw, ok := t.Consume(n); ok && found == nil {
			found = raw
		}
	}
	return found, found != nil
}

// Peek returns a value without consuming it.
func (t *FieldTracker) Peek(name string) (json.RawMessage, bool) {
	for i := range t.call.Params {
		if p := &t.call.Params[i]; p.Name == name {
			return p.Raw, true
		}
	}
	return nil, false
}

// Rest returns the parameters that are not yet consumed and consumes them, for dialects that
// have the same parameters as the caller.
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

// TakeFrom is Consume for the Extra of a message, part or tool.
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

// Drop records that the target does not receive the field at path of the caller's body.
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

// Dropped lists the fields that the target does not receive, as paths into the caller's body.
// The paths given to Drop come first. Then follows every parameter and extra field that was not
// consumed and is not neutral. Each path occurs once.
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

// neutrals are values that equal the default.
var neutrals = map[string][]string{
	"n": {"1"}, "logprobs": {"false"}, "top_logprobs": {"0"}, "store": {"false"}, ParallelToolCalls: {"true"}, "background": {"false"},
	"presence_penalty": {"0", "0.0"}, "frequency_penalty": {"0", "0.0"}, "logit_bias": {"{}"}, "metadata": {"{}"}, "modalities": {`["text"]`},
	"annotations": {"[]"}, "tool_calls": {"[]"},
	"service_tier": {`"auto"`, `"default"`}, "truncation": {`"disabled"`}, "include": {"[]"}, Stop: {"[]"}, StreamOptions: nil,
	"reasoning.summary": nil, "reasoning.generate_summary": nil,
}

func neutral(p *Param) bool { return Neutral(p.Name, p.Raw) }

// Neutral reports whether a field can be omitted without changing the call, for example
// {"store":false}. null is always neutral. The gateway itself implements StreamOptions and the
// request for a reasoning summary: callers of responses receive reasoning as summaries.
func Neutral(name string, raw []byte) bool {
	values, known := neutrals[name]
	return known && values == nil || string(raw) == "null" || slices.Contains(values, string(raw))
}

// Path names a part of a message in the form of the caller's API: "messages[2].content[0]",
// "input[2]", "system". A part of -1 names the message. In responses several items of the input
// may form one turn: there -2 names the item after the message's item, -3 the next one.
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
