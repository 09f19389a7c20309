package conversation

import (
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
)

// EmptyTurn is the error for a turn that failed without usable content. An empty successful turn
// would end a conversation, while an error lets another target be tried. Word is the provider's
// reason, text is its meaning: "the model made a tool call that cannot be read: malformed_tool_use".
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

// Useful reports whether parts contain usable content: anything except reasoning and blank texts.
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
