package llm

import (
	"encoding/json"
	"fmt"
)

// Tally keeps account of what a dialect carries of a Call. A dialect takes what it
// has a word for and says what it had to leave out; whatever nobody took is lost as
// well. One Tally serves one encoding and one goroutine.
type Tally struct {
	call  *Call
	taken map[*Param]struct{}
	lost  []string
	known map[string]struct{} // what is in lost: there may be as many as the call has parts
}

// NewTally begins the account of one encoding of c.
func NewTally(c *Call) *Tally {
	return &Tally{call: c, taken: make(map[*Param]struct{}, len(c.Params))}
}

// Take returns the value of the parameter of that name and counts it as carried.
func (t *Tally) Take(name string) (json.RawMessage, bool) { return t.TakeFrom(t.call.Params, name) }

// First takes all of the given names and returns the value of the first that is there.
func (t *Tally) First(names ...string) (json.RawMessage, bool) {
	var found json.RawMessage
	for _, n := range names {
		if raw, ok := t.Take(n); ok && found == nil {
			found = raw
		}
	}
	return found, found != nil
}

// Peek returns a value without taking it.
func (t *Tally) Peek(name string) (json.RawMessage, bool) {
	for i := range t.call.Params {
		if p := &t.call.Params[i]; p.Name == name {
			return p.Raw, true
		}
	}
	return nil, false
}

// TakeFrom is Take for the Extra of a message, part or tool.
func (t *Tally) TakeFrom(list []Param, name string) (json.RawMessage, bool) {
	for i := range list {
		if p := &list[i]; p.Name == name {
			t.taken[p] = struct{}{}
			return p.Raw, true
		}
	}
	return nil, false
}

// TakeAll returns what nobody has taken of a list yet and counts it as carried, for
// dialects that know how the caller means it.
func (t *Tally) TakeAll(list []Param) []Param {
	var left []Param
	for i := range list {
		p := &list[i]
		if _, ok := t.taken[p]; !ok {
			t.taken[p] = struct{}{}
			left = append(left, *p)
		}
	}
	return left
}

// Lose says that what stands at that place of the caller's body is left out.
func (t *Tally) Lose(path string) {
	if _, ok := t.known[path]; ok {
		return
	}
	if t.known == nil {
		t.known = make(map[string]struct{})
	}
	t.known[path] = struct{}{}
	t.lost = append(t.lost, path)
}

// Lost lists what the target does not get, as paths into the caller's body: what
// Lose was told, then every parameter and extra that was not taken and says
// something. Each stands there once.
func (t *Tally) Lost() []string {
	t.rest(t.call.Params)
	for i := range t.call.Messages {
		m := &t.call.Messages[i]
		t.rest(m.Extra)
		t.parts(m.Parts)
	}
	for i := range t.call.Tools {
		t.rest(t.call.Tools[i].Extra)
	}
	return t.lost
}

func (t *Tally) parts(list []Part) {
	for i := range list {
		t.rest(list[i].Extra)
		if r := list[i].Result; r != nil {
			t.parts(r.Parts)
		}
	}
}

func (t *Tally) rest(list []Param) {
	for i := range list {
		p := &list[i]
		if _, ok := t.taken[p]; !ok && !neutral(p) {
			t.Lose(p.From)
		}
	}
}

// neutrals are values that say what holds anyway.
var neutrals = map[string][]string{
	"n": {"1"}, "logprobs": {"false"}, "top_logprobs": {"0"}, "store": {"false"}, ParallelToolCalls: {"true"}, "background": {"false"},
	"presence_penalty": {"0", "0.0"}, "frequency_penalty": {"0", "0.0"}, "logit_bias": {"{}"}, "metadata": {"{}"}, "modalities": {`["text"]`},
	"service_tier": {`"auto"`, `"default"`}, "truncation": {`"disabled"`}, "include": {"[]"}, Stop: {"[]"}, StreamOptions: nil,
	"reasoning.summary": nil,
}

// neutral reports whether leaving a parameter out changes nothing. StreamOptions is
// answered by the gateway itself, and so is the wish for a summary of what was thought:
// thoughts are shown to callers of responses as summaries.
func neutral(p *Param) bool {
	values, known := neutrals[p.Name]
	if known && values == nil {
		return true
	}
	for _, v := range values {
		if v == string(p.Raw) {
			return true
		}
	}
	return false
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
	at := fmt.Sprintf("%s[%d]", list, m.Index+max(0, -1-part))
	switch {
	case m.Index < 0 && c.Surface == CreateModelResponse:
		at, part = "instructions", -1
	case m.Index < 0:
		if part < 0 {
			return "system"
		}
		return fmt.Sprintf("system[%d]", part)
	}
	if part < 0 {
		return at
	}
	return fmt.Sprintf("%s.content[%d]", at, part)
}
