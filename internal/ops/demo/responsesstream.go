package demo

import "net/http"

// streamResponse streams a response as typed events, numbered from 0: created, in progress, the
// deltas of each output item, and completed or incomplete with the complete response. There is no
// [DONE].
func (api *responseAPI) streamResponse(w http.ResponseWriter, r *http.Request, response responseBody) {
	s := api.stream(w, r)
	begun := response
	begun.Status, begun.Output, begun.Usage, begun.Incomplete = "in_progress", []outputItem{}, nil, nil
	s.typed("response.created", map[string]any{"response": begun})
	s.typed("response.in_progress", map[string]any{"response": begun})
	for i, it := range response.Output {
		if it.Type == "function_call" {
			s.callItem(i, it)
			continue
		}
		s.messageItem(i, it)
	}
	s.typed("response."+response.Status, map[string]any{"response": response})
}

func (e *events) messageItem(i int, it outputItem) {
	begun := it
	begun.Status, begun.Content = "in_progress", []outputText{}
	e.typed("response.output_item.added", map[string]any{"output_index": i, "item": begun})
	withIDs := func(more map[string]any) map[string]any {
		more["item_id"], more["output_index"], more["content_index"] = it.ID, i, 0
		return more
	}
	fullText := it.Content[0].Text
	e.typed("response.content_part.added", withIDs(map[string]any{"part": text("")}))
	for _, p := range textChunks(fullText) {
		e.typed("response.output_text.delta", withIDs(map[string]any{"delta": p, "logprobs": []struct{}{}}))
	}
	e.typed("response.output_text.done", withIDs(map[string]any{"text": fullText, "logprobs": []struct{}{}}))
	e.typed("response.content_part.done", withIDs(map[string]any{"part": it.Content[0]}))
	e.typed("response.output_item.done", map[string]any{"output_index": i, "item": it})
}

func (e *events) callItem(i int, it outputItem) {
	begun := it
	begun.Status, begun.Arguments = "in_progress", new(string)
	e.typed("response.output_item.added", map[string]any{"output_index": i, "item": begun})
	for _, p := range runs(*it.Arguments, argumentChunk) {
		e.typed("response.function_call_arguments.delta", map[string]any{"item_id": it.ID, "output_index": i, "delta": p})
	}
	e.typed("response.function_call_arguments.done", map[string]any{"item_id": it.ID, "output_index": i, "name": it.Name, "arguments": *it.Arguments})
	e.typed("response.output_item.done", map[string]any{"output_index": i, "item": it})
}
