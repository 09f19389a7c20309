package llm

import "encoding/json"

// EventKind says which fields of an Event have a meaning.
type EventKind uint8

// The kinds of events, and the grammar of a stream: EventStart once; then for each
// block EventBlock, deltas, EventBlockEnd; then EventFinish for each choice; EventUsage
// where the provider reports it, again when it grows; EventEnd once, or EventFault
// instead. Several blocks may be open at a time, because chat streams may mix the
// arguments of two calls; who needs them apart must wait.
const (
	EventStart     EventKind = iota // ID, Model, Usage where it is told already; else nil
	EventBlock                      // Block, Part; ID and Name of a tool call, Text and Name (its shape) of a SealedPart, Raw and Name (its shape) of an OpaquePart
	EventText                       // Block, Text: of TextPart, RefusalPart and ReasoningPart
	EventArguments                  // Block, Text: a piece of a tool call's JSON
	EventSignature                  // Block, Text: a piece of Part.Signature; Name: the dialect in which it was signed
	EventMedia                      // Block, Media: its Data is a piece
	EventCitation                   // Block, Raw, Name: the dialect whose form Raw has
	EventLogprobs                   // Raw: list of entries in chat's form
	EventExtra                      // Name, Raw: what else the provider says, for lenient callers
	EventBlockEnd                   // Block
	EventFinish                     // Finish, Text: the provider's word, Name: the stop sequence
	EventUsage                      // Usage: totals so far
	EventFault                      // Text: message, Name: type, or else a code that is a name, ID: the code as the provider sent it, "" for none, Status: 0 when not known, Usage: that of the error, nil where it has none, Raw: the event it came in, nil where it is not known
	EventEnd
)

// Event is one step of a streamed answer. It is valid during the call that hands it
// out: who wants to keep Raw must copy it.
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
