package demo

import (
	"fmt"
	"net/http"
)

type completionRequest struct {
	Model         string        `json:"model"`
	Prompt        texts         `json:"prompt"`
	N             int           `json:"n"`
	MaxTokens     int64         `json:"max_tokens"`
	Stream        bool          `json:"stream"`
	StreamOptions streamOptions `json:"stream_options"`
}

// completion is a response or, with Usage null or absent, a chunk of one.
type completion struct {
	ID          string             `json:"id"`
	Object      string             `json:"object"` // "text_completion"
	Created     int64              `json:"created"`
	Model       string             `json:"model"`
	Fingerprint string             `json:"system_fingerprint"`
	Choices     []completionChoice `json:"choices"`
	Usage       any                `json:"usage,omitempty"`
}

type completionChoice struct {
	Text     string    `json:"text"`
	Index    int       `json:"index"`
	Logprobs *struct{} `json:"logprobs"`
	Finish   *string   `json:"finish_reason"`
}

// complete continues each prompt n times.
func (api *chatAPI) complete(w http.ResponseWriter, r *http.Request) error {
	var q completionRequest
	seed, err := decode(w, r, &q)
	if err != nil {
		return err
	}
	n := max(q.N, 1)
	switch {
	case q.Model == "":
		return badParam("model", "you must provide a model parameter")
	case q.N < 0 || n*len(q.Prompt) > maxChoices:
		return badParam("n", "Invalid 'n': at most %d choices in all.", maxChoices)
	}
	response := completion{ID: "cmpl-" + seed, Object: "text_completion", Created: api.now(), Model: q.Model, Fingerprint: "fp_demo"}
	used := usage{}
	for _, p := range q.Prompt {
		used.Prompt += Tokens(p)
		for range n {
			text, finish := cut(fmt.Sprintf("You wrote: %q and this is choice %d.", quote(p), len(response.Choices)), q.MaxTokens)
			used.Completion += Tokens(text)
			response.Choices = append(response.Choices, completionChoice{Text: text, Index: len(response.Choices), Finish: &finish})
		}
	}
	if q.Stream {
		api.streamCompletion(w, r, response, used.total(), q.StreamOptions.IncludeUsage)
		return nil
	}
	response.Usage = used.total()
	writeJSON(w, http.StatusOK, response)
	return nil
}

// streamCompletion streams the response with a word per chunk, and with usage as in streamChat.
func (api *chatAPI) streamCompletion(w http.ResponseWriter, r *http.Request, complete completion, used usage, askUsage bool) {
	s, c := api.stream(w, r), complete
	if askUsage {
		c.Usage = null
	}
	for _, choice := range complete.Choices {
		for _, p := range textChunks(choice.Text) {
			c.Choices = []completionChoice{{Text: p, Index: choice.Index}}
			s.data(c)
		}
		c.Choices = []completionChoice{{Index: choice.Index, Finish: choice.Finish}}
		s.data(c)
	}
	if askUsage {
		c.Choices, c.Usage = []completionChoice{}, used
		s.data(c)
	}
	s.done()
}
