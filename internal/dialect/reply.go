package dialect

import (
	"strings"

	"sluice/internal/fault"
	"sluice/internal/llm"
	"sluice/internal/splice"
)

// ResponseRules is how a provider's answers differ from the shape. The zero value leaves
// every byte alone. It is shared and never changed.
// Source: contract/providers.yaml, changes.
type ResponseRules struct {
	// FinishReasons maps the provider's words to the shape's: {"model_length": "length"}.
	FinishReasons map[string]string
	// UsagePath is where the provider puts its usage besides "usage": "x_groq.usage".
	UsagePath string
	// Extras are fields that the shape does not know, for example "citations"; they are left
	// out of an answer and of every event.
	Extras []string
	// ContentLists says that the content of a chat's answer may be a list of thoughts and
	// texts, as Mistral has it; it becomes the text. With Blocks the thoughts stand in
	// content_blocks, otherwise they are left out.
	ContentLists, Blocks bool
	// Rename applies to JSON replies only, for example {"data[*].image", "b64_json"}.
	Rename []Rename
	// NoDone says that the provider ends its streams without [DONE]: a finish_reason is
	// their end, and the [DONE] is added.
	NoDone bool
}

// changes reports whether the rules may change an answer of the endpoint.
func (r *ResponseRules) changes(ep llm.Endpoint) bool {
	return len(r.Rename) > 0 || completes(ep) && (len(r.FinishReasons)+len(r.Extras) > 0 || r.UsagePath != "" || r.ContentLists)
}

// Apply returns the JSON reply with the rules applied; the body itself when they
// change nothing, or when it is no JSON object.
func (r *ResponseRules) Apply(ep llm.Endpoint, body []byte) []byte {
	if !r.changes(ep) {
		return body
	}
	var edits []splice.Edit
	if completes(ep) {
		edits = r.flatten(edits, body, nil)
		edits = r.edits(edits, r.swap(), body)
	}
	for _, n := range r.Rename {
		edits = append(edits, splice.Rename(n.Path, n.To))
	}
	var d splice.Doc
	if len(edits) == 0 || splice.Scan(body, &d) != nil {
		return body
	}
	return d.Apply(edits)
}

// edits are those that a reply and an event have in common.
func (r *ResponseRules) edits(dst []splice.Edit, swap map[string]string, body []byte) []splice.Edit {
	if len(swap) > 0 {
		dst = append(dst, splice.Replace("choices[*].finish_reason", swap))
	}
	for _, path := range r.Extras {
		dst = append(dst, splice.Drop(path))
	}
	if r.UsagePath == "" {
		return dst
	}
	if have, _ := splice.Find(body, "usage"); isObject(have) {
		return dst
	}
	if raw := lookupPath(body, r.UsagePath); isObject(raw) {
		dst = append(dst, splice.Set("usage", raw))
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
		m[string(splice.Quote(from))] = string(splice.Quote(to))
	}
	return m
}

func isObject(raw []byte) bool { return len(raw) > 0 && raw[0] == '{' }

// completes reports whether the endpoint answers with choices.
func completes(ep llm.Endpoint) bool { return ep == llm.ChatComplete || ep == llm.Complete }

// ValidateResponse refuses a successful reply of a unified endpoint that is not one JSON
// object with fault.UpstreamInvalid, so that another target may be tried. Endpoints
// whose replies may be something else (audio, transcripts, file contents, pass-through)
// accept anything.
func ValidateResponse(ep llm.Endpoint, body []byte) error {
	switch ep {
	case llm.CreateSpeech, llm.CreateTranscription, llm.CreateTranslation, llm.RetrieveFileContent,
		llm.GetBatchOutput, llm.Realtime, llm.Proxy:
		return nil
	default:
		if splice.Valid(body) {
			return nil
		}
		return fault.Newf(fault.UpstreamInvalid, "the provider response is not a JSON object: %s", what(body))
	}
}

// what describes a body that is no JSON, without quoting it.
func what(body []byte) string {
	switch text := strings.TrimSpace(string(body[:min(len(body), 64)])); {
	case text == "":
		return "it is empty"
	case strings.HasPrefix(text, "<"):
		return "it looks like a web page"
	case strings.HasPrefix(text, "{"):
		return "it is malformed or truncated"
	}
	return "it has another format"
}
