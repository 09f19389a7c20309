package llm

import "slices"

// Response is the answer to a Call, in the words of no provider. It belongs to who made
// it; its slices point into the provider's body.
type Response struct {
	ID      string // the provider's: "msg_01…"; may be empty
	Model   string // that answered; may be empty
	Created int64  // epoch seconds; 0: not said
	Choices []Choice
	Usage   Usage
	Extra   []Param // what else the provider says, for callers who do not ask for strict compliance
}

// Choice is one of the answers. Most providers give exactly one.
type Choice struct {
	Index    int
	Parts    []Part // as said: thoughts, text, calls, …
	Finish   Finish
	Raw      string // the provider's word for Finish: "end_turn"
	StopText string // the stop sequence that ended it; empty when not known
	Logprobs []byte // raw, chat's form: {"content":[…]}; nil when none
	Extra    []Param
}

// HasToolCalls reports whether the answer calls tools.
func (c *Choice) HasToolCalls() bool {
	return slices.ContainsFunc(c.Parts, func(p Part) bool { return p.Kind == CallPart })
}

// Refuses reports whether the answer says no to what it was asked for.
func (c *Choice) Refuses() bool {
	return slices.ContainsFunc(c.Parts, func(p Part) bool { return p.Kind == RefusalPart })
}

// Finish is why an answer ended.
type Finish uint8

// The reasons. FinishNone: it has not ended, or nobody said why.
const (
	FinishNone Finish = iota
	FinishStop
	FinishLength
	FinishToolCalls
	FinishFilter
)

// Chat is the word of chat completions: "stop" when nothing is known.
// Source: contract/provider-transforms.md 1.1.
func (f Finish) Chat() string {
	switch f {
	case FinishLength:
		return "length"
	case FinishToolCalls:
		return "tool_calls"
	case FinishFilter:
		return "content_filter"
	case FinishNone, FinishStop:
	}
	return "stop"
}
