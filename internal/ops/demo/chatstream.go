package demo

import (
	"encoding/json"
	"net/http"
)

// argumentChunk is the number of characters of tool arguments in one event.
const argumentChunk = 8

var null = json.RawMessage("null")

// chatStream sends the chunks of one chat response.
type chatStream struct {
	*events
	head     chatHead
	askUsage bool
}

// streamChat streams the response as OpenAI does: per choice a chunk with the role, one per word
// or part of arguments, and one with the finish reason; then, only if requested, a chunk without
// choices that contains the usage; then [DONE].
func (api *chatAPI) streamChat(w http.ResponseWriter, r *http.Request, q *chatRequest, head chatHead, answers []choiceContent, used usage) {
	head.Object = "chat.completion.chunk"
	s := chatStream{events: api.stream(w, r), head: head, askUsage: q.StreamOptions.IncludeUsage}
	for i, a := range answers {
		s.role(i, a)
		for _, p := range textChunks(a.text) {
			s.choice(i, delta{Content: &p}, nil)
		}
		for k, c := range a.calls {
			s.call(i, k, c)
		}
		s.choice(i, delta{}, &a.finish)
	}
	if s.askUsage {
		s.data(chunk{chatHead: head, Choices: []chunkChoice{}, Usage: used})
	}
	s.done()
}

func (s chatStream) role(i int, a choiceContent) {
	d := delta{Role: "assistant"}
	if len(a.calls) == 0 {
		d.Content = new(string)
	}
	s.choice(i, d, nil)
}

func (s chatStream) call(i, k int, c toolCall) {
	s.choice(i, delta{ToolCalls: []deltaCall{{Index: k, ID: c.ID, Type: c.Type, Function: deltaFunction{Name: c.Function.Name}}}}, nil)
	for _, p := range runs(c.Function.Arguments, argumentChunk) {
		s.choice(i, delta{ToolCalls: []deltaCall{{Index: k, Function: deltaFunction{Arguments: p}}}}, nil)
	}
}

func (s chatStream) choice(i int, d delta, finish *string) {
	c := chunk{chatHead: s.head, Choices: []chunkChoice{{Index: i, Delta: d, Finish: finish}}}
	if s.askUsage {
		c.Usage = null
	}
	s.data(c)
}
