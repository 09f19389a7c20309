package dialect

import (
	"sluice/internal/fault"
	"sluice/internal/llm"
)

// EmptyTurn is the error of a turn that failed and has nothing to use: an empty turn of success
// would end a conversation, where an error lets another target try. Word is the provider's reason,
// text what it means: "the model made a tool call that cannot be read: malformed_tool_use".
func EmptyTurn(word, text string) *fault.Error {
	f := fault.New(fault.UpstreamFailed, text+": "+word)
	f.Wire = word
	return f
}

// EmptyTurnEvent is EmptyTurn in a stream.
func EmptyTurnEvent(word, text string) llm.Event {
	f := EmptyTurn(word, text)
	return llm.Event{Kind: llm.EventFault, Text: f.Text(), Name: word, Status: f.HTTPStatus()}
}

// Useful reports whether parts have something to use: whatever is neither a thought nor blank.
func Useful(parts []llm.Part) bool {
	for i := range parts {
		switch p := &parts[i]; p.Kind {
		case llm.ReasoningPart, llm.SealedPart:
		case llm.TextPart, llm.RefusalPart:
			if !IsBlank(p.Text) {
				return true
			}
		default:
			return true
		}
	}
	return false
}
