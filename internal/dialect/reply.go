package dialect

import (
	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/jsonscan"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// ResponseRules describes how a provider's responses differ from the shape. The zero value
// changes nothing. It is shared and immutable.
// Source: contract/providers.yaml, changes.
type ResponseRules struct {
	// FinishReasons maps the provider's values to the shape's: {"model_length": "length"}.
	FinishReasons map[string]string
	// UsagePath is an additional path of the provider's usage besides "usage": "x_groq.usage".
	UsagePath string
	// Extras are fields that the shape does not have, for example "citations". They are removed
	// from a response and from every event.
	Extras []string
	// ContentLists means that the content of a chat response may be a list of reasoning and
	// texts, as Mistral sends it. It is converted to the text. With Blocks the reasoning is
	// written to content_blocks; otherwise it is omitted.
	ContentLists, Blocks bool
	// Rename applies only to JSON responses, for example {"data[*].image", "b64_json"}.
	Rename []fields.Rename
	// NoDone means that the provider ends its streams without [DONE]. A finish_reason ends
	// the stream, and the [DONE] is added.
	NoDone bool
}

// changes reports whether the rules may change a response of the endpoint.
func (r *ResponseRules) changes(ep llm.Endpoint) bool {
	return len(r.Rename) > 0 || completes(ep) && (len(r.FinishReasons)+len(r.Extras) > 0 || r.UsagePath != "" || r.ContentLists)
}

// Apply returns the JSON response with the rules applied. It returns the body itself if they
// change nothing or if it is not a JSON object.
func (r *ResponseRules) Apply(ep llm.Endpoint, body []byte) []byte {
	if !r.changes(ep) {
		return body
	}
	var edits []jsonedit.Edit
	if completes(ep) {
		edits = r.flatten(edits, body, nil)
		edits = r.edits(edits, r.swap(), body)
	}
	for _, n := range r.Rename {
		edits = append(edits, jsonedit.Rename(n.Path, n.To))
	}
	var d jsonedit.Doc
	if len(edits) == 0 || jsonedit.Scan(body, &d) != nil {
		return body
	}
	return d.Apply(edits)
}

// edits appends the edits that apply both to a response and to an event.
func (r *ResponseRules) edits(dst []jsonedit.Edit, swap map[string]string, body []byte) []jsonedit.Edit {
	if len(swap) > 0 {
		dst = append(dst, jsonedit.Replace("choices[*].finish_reason", swap))
	}
	for _, path := range r.Extras {
		dst = append(dst, jsonedit.Drop(path))
	}
	if r.UsagePath == "" {
		return dst
	}
	if have, _ := jsonedit.Find(body, "usage"); jsonscan.IsObject(have) {
		return dst
	}
	if raw := jsonscan.FindPath(body, r.UsagePath); jsonscan.IsObject(raw) {
		dst = append(dst, jsonedit.Set("usage", raw))
	}
	return dst
}

// swap is FinishReasons as raw JSON.
func (r *ResponseRules) swap() map[string]string {
	if len(r.FinishReasons) == 0 {
		return nil
	}
	m := make(map[string]string, len(r.FinishReasons))
	for from, to := range r.FinishReasons {
		m[string(jsonedit.Quote(from))] = string(jsonedit.Quote(to))
	}
	return m
}

// completes reports whether responses of the endpoint have choices.
func completes(ep llm.Endpoint) bool { return ep == llm.ChatComplete || ep == llm.Complete }
