package llm

import "encoding/json"

// EventKind is the kind of an Event. It determines which fields are set.
type EventKind uint8

// The kinds of events, in the order of a stream. EventStart comes once. For each block,
// EventBlock, deltas and EventBlockEnd follow. Then EventFinish comes for each choice.
// EventUsage comes where the provider reports usage, and again when it grows. EventEnd comes
// once, or EventFault instead. Several blocks may be open at the same time, because chat
// streams may mix the arguments of two calls. A consumer that needs separate blocks must
// buffer.
const (
	EventStart     EventKind = iota // ID, Model, Usage if already reported; otherwise nil
	EventBlock                      // Block, Part; ID and Name of a tool call, Text and Name (its shape) of a SealedPart, Raw and Name (its shape) of an OpaquePart
	EventText                       // Block, Text: of TextPart, RefusalPart and ReasoningPart
	EventArguments                  // Block, Text: a fragment of a tool call's JSON
	EventSignature                  // Block, Text: a fragment of Part.Signature; Name: the dialect in which it was signed
	EventMedia                      // Block, Media: its Data is a fragment
	EventCitation                   // Block, Raw, Name: the dialect whose form Raw has
	EventLogprobs                   // Raw: list of entries in chat's form
	EventExtra                      // Name, Raw: other fields of the provider, for lenient callers
	EventBlockEnd                   // Block
	EventFinish                     // Finish, Text: the provider's finish reason, Name: the stop sequence
	EventUsage                      // Usage: totals so far
	EventFault                      // Text: message, Name: type, or else a code that is a name, ID: the code as the provider sent it, "" for none, Status: 0 when not known, Usage: that of the error, nil where it has none, Raw: the event it came in, nil where it is not known
	EventEnd
)

// Event is one step of a streamed response. It is valid only during the call that receives it.
// A consumer that retains Raw must copy it.
type Event struct {
	Kind   EventKind
	Choice int
	Block  int      // counts the blocks of a choice from 0
	Part   PartKind // of the block, in all its events
	ID     string
	Model  string
	Name   string
	Text   string
	Raw    json.RawMessage
	Media  *Media
	Finish Finish
	Usage  *Usage
	Status int
}
