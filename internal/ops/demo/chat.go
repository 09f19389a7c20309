package demo

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// chatRequest contains the fields that the chat script reads; all others are ignored.
type chatRequest struct {
	Model         string          `json:"model"`
	Messages      []message       `json:"messages"`
	N             int             `json:"n"`
	MaxTokens     int64           `json:"max_tokens"`
	MaxCompletion int64           `json:"max_completion_tokens"`
	Temperature   *float64        `json:"temperature"`
	Stream        bool            `json:"stream"`
	StreamOptions streamOptions   `json:"stream_options"`
	Tools         []tool          `json:"tools"`
	ToolChoice    json.RawMessage `json:"tool_choice"`
	Format        format          `json:"response_format"`
}

type message struct {
	Role    string  `json:"role"`
	Content content `json:"content"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

// choiceContent is the content of one choice: a text, or tool calls.
type choiceContent struct {
	text   string
	calls  []toolCall
	finish string
}

// tokens returns the number of tokens of the content: its words, or those of its calls' arguments
// and one for each name.
func (a choiceContent) tokens() int64 {
	n := Tokens(a.text)
	for _, c := range a.calls {
		n += 1 + Tokens(c.Function.Arguments)
	}
	return n
}

// chatAPI serves chat completions and the older completions.
type chatAPI struct{ *serverState }

func (api *chatAPI) chat(w http.ResponseWriter, r *http.Request) error {
	var q chatRequest
	seed, err := decode(w, r, &q)
	if err != nil {
		return err
	}
	if err := q.check(); err != nil {
		return err
	}
	answers := make([]choiceContent, max(q.N, 1))
	used := usage{Prompt: q.tokens()}
	for i := range answers {
		answers[i] = q.generateChoice(i)
		used.Completion += answers[i].tokens()
	}
	head := chatHead{ID: "chatcmpl-" + seed, Created: api.now(), Model: q.Model, Fingerprint: "fp_demo"}
	if q.Stream {
		api.streamChat(w, r, &q, head, answers, used.total())
		return nil
	}
	head.Object = "chat.completion"
	writeJSON(w, http.StatusOK, newChatResponse(head, answers, used.total()))
	return nil
}

func (q *chatRequest) check() error {
	switch {
	case q.Model == "":
		return badParam("model", "you must provide a model parameter")
	case len(q.Messages) == 0:
		return badParam("messages", "Invalid 'messages': empty array. Expected an array with minimum length 1.")
	case q.N < 0 || q.N > maxChoices:
		return badParam("n", "Invalid 'n': expected a number from 1 to %d.", maxChoices)
	}
	return nil
}

// tokens returns the number of words of all messages.
func (q *chatRequest) tokens() int64 {
	var n int64
	for _, m := range q.Messages {
		n += Tokens(string(m.Content))
	}
	return n
}

// last returns the text of the last message of a role, "" if there is none.
func (q *chatRequest) last(role string) string {
	for i := len(q.Messages) - 1; i >= 0; i-- {
		if q.Messages[i].Role == role {
			return string(q.Messages[i].Content)
		}
	}
	return ""
}

// generateChoice returns choice i: tool calls if requested, JSON if a format requests it, the
// tool's result if that is the last message, and otherwise the question again.
func (q *chatRequest) generateChoice(i int) choiceContent {
	last := q.Messages[len(q.Messages)-1]
	if last.Role != "tool" {
		if calls := requestedCalls(q.Tools, q.ToolChoice, q.last("user"), i); len(calls) > 0 {
			return choiceContent{calls: calls, finish: "tool_calls"}
		}
	}
	var text string
	switch {
	case q.Format.wantsJSON():
		text = q.Format.sample(q.last("user"))
	case last.Role == "tool":
		text = fmt.Sprintf("The tool said: %s", quote(string(last.Content)))
	default:
		text = q.echo()
	}
	if i > 0 && !q.Format.wantsJSON() {
		text += fmt.Sprintf(" (choice %d)", i+1)
	}
	a := choiceContent{}
	a.text, a.finish = cut(text, max(q.MaxTokens, q.MaxCompletion))
	return a
}

// echo describes the received request, so that a newcomer can follow it.
func (q *chatRequest) echo() string {
	text := fmt.Sprintf("You said: %q. I got %s for model %s", quote(q.last("user")), counted(len(q.Messages), "message"), q.Model)
	if q.Temperature != nil {
		text += fmt.Sprintf(" at temperature %g", *q.Temperature)
	}
	return text + "."
}
