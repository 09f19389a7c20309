// Package guardedstream guards a stream of server-sent events on its way to a client: it holds back
// text until a Judge has seen enough of it, rewrites text that the Judge redacts, and ends the stream
// in the client's own format when the Judge denies the answer. It supports chat completions,
// completions, Messages and Responses. It calls neither providers nor checks.
//
// Start reading at Stream.Append; channel.go contains the rule of the window. Each surface has one
// file that reads its events and one that ends a denied answer.
//
// Source: contract/dataplane.md 5.5.
package guardedstream

import (
	"context"
	"errors"
	"time"
)

// ErrHeld is the reason of a denial after the answer exceeded Options.MaxHeld. Stream.Err returns it.
var ErrHeld = errors.New("the held part of the answer exceeds its limit; raise the limit or use a smaller window")

// The kinds of channels.
const (
	KindText       = "text"       // content that users see
	KindReasoning  = "reasoning"  // thinking, and summaries of it
	KindRefusal    = "refusal"    // the text of a refusal
	KindArguments  = "arguments"  // the arguments of a tool call: raw JSON text
	KindInput      = "input"      // the free text of a custom tool call or of a code interpreter
	KindTranscript = "transcript" // the words of generated audio
	KindLogprobs   = "logprobs"   // the tokens of log probabilities, joined; an edit removes the list of its event
)

// Channel is one text of an answer, for example {"text", 0, 0}. Choice is the index of the choice in
// chat and completions, the output_index in Responses, and 0 in Messages. Block is the index of the
// tool call in chat, of the content block in Messages, and of the content or summary part in
// Responses. Texts outside the known places of a surface have a negative Block, and those that
// belong to no choice have Choice -1.
type Channel struct {
	Kind          string
	Choice, Block int
}

// Piece is text of one channel to judge.
type Piece struct {
	Channel Channel
	Text    string // context and new text; the context has at most 2×Window characters
	Context int    // number of bytes of Text that were released before; edits may not begin there
	Last    bool   // no more text of this channel is expected
}

// Edit replaces the bytes Start to End of a text. In a channel of KindArguments, With is part of a
// JSON text and escaped as such. Offsets are at character boundaries.
type Edit struct {
	Start, End int
	With       string
}

// Verdict is the judgement of a piece. Edits that end less than a window before the end of the text
// are not applied; the Judge returns them again for the next piece.
type Verdict struct {
	Deny  bool
	Edits []Edit
}

// Text is the complete text of a channel, after edits.
type Text struct {
	Channel Channel
	Text    string
}

// Call is a tool call of the answer. Channel is that of its arguments.
type Call struct {
	Channel  Channel
	ID, Name string
}

// Answer is the answer at the end of the stream.
type Answer struct {
	Texts   []Text // in the order of their first text
	Calls   []Call // in the order of their arrival
	Regular bool   // the stream ended with the last event of its format
	Partial bool   // text is missing, because the answer exceeded Options.MaxHeld in report mode
	Denied  bool   // the stream was denied before; of Final, only the Trailer is used
}

// Text returns the text of a channel, or "".
func (a *Answer) Text(c Channel) string {
	for i := range a.Texts {
		if a.Texts[i].Channel == c {
			return a.Texts[i].Text
		}
	}
	return ""
}

// Final is the judgement of a complete answer.
type Final struct {
	Deny        bool               // drops everything that was not released
	Edits       map[Channel][]Edit // offsets in Answer.Texts; applied in hold mode only
	RemoveCalls []int              // positions in Answer.Calls; applied in hold mode only
	Trailer     []byte             // complete events that follow the stream, for example hook_results
}

// Judge decides about the text of one answer. The methods are called by one goroutine at a time.
type Judge interface {
	// Window is the number of characters that are held back; 0 holds nothing back. It is constant.
	Window() int
	// Hold reports whether the complete answer is held until Finish. It is constant.
	Hold() bool
	// Piece judges text in window mode.
	Piece(ctx context.Context, p Piece) Verdict
	// Finish judges the complete answer. It is called once, before the last event is released, or at
	// the end of the input.
	Finish(ctx context.Context, a *Answer) Final
}

// Options are the bounds of a Stream. The zero value has the defaults.
type Options struct {
	MaxHeld   int              // bytes of held events and of text; 0 is DefaultMaxHeld
	KeepAlive time.Duration    // interval of comments in hold mode; 0 for none
	Now       func() time.Time // clock of KeepAlive; nil for none
}

// DefaultMaxHeld is the default of Options.MaxHeld: 16 MiB.
const DefaultMaxHeld = 16 << 20
