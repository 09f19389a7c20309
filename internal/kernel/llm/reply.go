package llm

import "slices"

// Response is the response to a Call, independent of the provider. Its creator owns it. Its
// slices point into the provider's body.
type Response struct {
	ID      string // id from the provider: "msg_01…"; may be empty
	Model   string // model that produced the response; may be empty
	Created int64  // epoch seconds; 0: not reported
	Choices []Choice
	Usage   Usage
	Extra   []Param // other fields of the provider, for callers without strict compliance
}

// Choice is one alternative of a response. Most providers return exactly one.
type Choice struct {
	Index    int
	Parts    []Part // parts in the order of the provider: reasoning, text, calls, …
	Finish   Finish
	Raw      string // the provider's finish reason: "end_turn"
	StopText string // stop sequence that ended the choice; empty when unknown
	Logprobs []byte // raw, chat's form: {"content":[…]}; nil when none
	Extra    []Param
}

// HasToolCalls reports whether the choice calls tools.
func (c *Choice) HasToolCalls() bool {
	return slices.ContainsFunc(c.Parts, func(p Part) bool { return p.Kind == CallPart })
}

// Refuses reports whether the model refuses the request.
func (c *Choice) Refuses() bool {
	return slices.ContainsFunc(c.Parts, func(p Part) bool { return p.Kind == RefusalPart })
}

// Finish is the reason why a choice ended.
type Finish uint8

// The reasons. FinishNone means that the choice has not ended, or that the reason is not
// reported.
const (
	FinishNone Finish = iota
	FinishStop
	FinishLength
	FinishToolCalls
	FinishFilter
)

// Chat returns the finish reason of chat completions. It is "stop" when the reason is unknown.
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
