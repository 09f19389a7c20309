package demo

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// responseRequest contains the fields that the responses script reads.
type responseRequest struct {
	Model        string            `json:"model"`
	Input        json.RawMessage   `json:"input"`
	Instructions *string           `json:"instructions"`
	MaxTokens    *int64            `json:"max_output_tokens"`
	Stream       bool              `json:"stream"`
	Store        *bool             `json:"store"`
	Previous     *string           `json:"previous_response_id"`
	Temperature  *float64          `json:"temperature"`
	Metadata     map[string]string `json:"metadata"`
	ToolChoice   json.RawMessage   `json:"tool_choice"`
	Tools        []responseTool    `json:"tools"`
	Text         struct {
		Format format `json:"format"`
	} `json:"text"`

	items []inputItem
}

// responseTool is a tool in the flat form of this endpoint.
type responseTool struct {
	Type string `json:"type"`
	toolFunction
}

// inputItem is one item of the input: a message, or a tool's result.
type inputItem struct {
	ID      string  `json:"id,omitempty"`
	Type    string  `json:"type,omitempty"`
	Role    string  `json:"role,omitempty"`
	Content content `json:"content,omitempty"`
	Output  content `json:"output,omitempty"`
	raw     json.RawMessage
}

// storedResponse is what GET /v1/responses/{id} returns.
type storedResponse struct {
	response responseBody
	items    []inputItem
}

// responseAPI serves the Responses API and stores the responses that the caller wants to find again.
type responseAPI struct {
	*serverState
	stored *store[storedResponse]
}

func (api *responseAPI) respond(w http.ResponseWriter, r *http.Request) error {
	var q responseRequest
	seed, err := decode(w, r, &q)
	if err != nil {
		return err
	}
	if err := api.checkResponse(&q); err != nil {
		return err
	}
	response := q.newResponse(api.now())
	response.ID, response.Store = "resp_"+seed, q.Store == nil || *q.Store
	if response.Store {
		response.ID = api.numbered("resp_")
		api.stored.put(response.ID, storedResponse{response, q.items}, int64(4096+len(q.Input)))
	}
	if q.Stream {
		api.streamResponse(w, r, response)
		return nil
	}
	writeJSON(w, http.StatusOK, response)
	return nil
}

func (api *responseAPI) checkResponse(q *responseRequest) error {
	if q.Model == "" {
		return badParam("model", "Missing required parameter: 'model'.")
	}
	if q.Previous != nil {
		if _, ok := api.stored.find(*q.Previous); !ok {
			return &refusal{
				Status: http.StatusBadRequest, Message: fmt.Sprintf("Previous response with id '%s' not found.", *q.Previous),
				Param: "previous_response_id", Code: "previous_response_not_found",
			}
		}
	}
	return q.readInput()
}

// readInput accepts a string as one user message, or a list of items.
func (q *responseRequest) readInput() error {
	var text string
	if json.Unmarshal(q.Input, &text) == nil && text != "" {
		part, _ := json.Marshal(text) // a string
		raw := fmt.Appendf(nil, `{"id":"msg_demo_0","type":"message","role":"user","content":[{"type":"input_text","text":%s}]}`, part)
		q.items = []inputItem{{Type: "message", Role: "user", Content: content(text), raw: raw}}
		return nil
	}
	var raws []json.RawMessage
	if json.Unmarshal(q.Input, &raws) != nil || len(raws) == 0 {
		return badParam("input", "Invalid 'input': expected a string or a list of items.")
	}
	for i, raw := range raws {
		var it inputItem
		if err := json.Unmarshal(raw, &it); err != nil {
			return badParam(fmt.Sprintf("input[%d]", i), "Invalid item: %v", err)
		}
		it.raw = raw
		q.items = append(q.items, it)
	}
	return nil
}

// asChat returns the same question for the chat script, so that both endpoints respond alike.
func (q *responseRequest) asChat() chatRequest {
	c := chatRequest{Model: q.Model, Temperature: q.Temperature, ToolChoice: q.ToolChoice, Format: q.Text.Format}
	if q.MaxTokens != nil {
		c.MaxTokens = *q.MaxTokens
	}
	if q.Instructions != nil {
		c.Messages = append(c.Messages, message{Role: "system", Content: content(*q.Instructions)})
	}
	for _, it := range q.items {
		switch it.Type {
		case "", "message":
			c.Messages = append(c.Messages, message{Role: it.Role, Content: it.Content})
		case "function_call_output":
			c.Messages = append(c.Messages, message{Role: "tool", Content: it.Output})
		}
	}
	if len(c.Messages) == 0 { // only items without text
		c.Messages = []message{{Role: "user"}}
	}
	for _, t := range q.Tools {
		c.Tools = append(c.Tools, tool{Type: t.Type, Function: t.toolFunction})
	}
	return c
}

func (api *responseAPI) findResponse(w http.ResponseWriter, r *http.Request) error {
	s, err := api.stored.named(r, "response")
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, s.response)
	return nil
}

func (api *responseAPI) dropResponse(w http.ResponseWriter, r *http.Request) error {
	return writeDropped(w, r, api.stored, "response", "response")
}

// inputItems returns all items of the input as they were sent.
func (api *responseAPI) inputItems(w http.ResponseWriter, r *http.Request) error {
	s, err := api.stored.named(r, "response")
	if err != nil {
		return err
	}
	p := page[json.RawMessage]{Object: "list", Data: []json.RawMessage{}}
	for i, it := range s.items {
		if i == 0 {
			p.FirstID = &s.items[i].ID
		}
		p.Data, p.LastID = append(p.Data, it.raw), &s.items[i].ID
	}
	writeJSON(w, http.StatusOK, p)
	return nil
}
