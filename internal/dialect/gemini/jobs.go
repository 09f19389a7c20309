package gemini

import (
	"strings"
	"time"

	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/dialect/pagination"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// pages is a list of jobs in the member with that name. Ids are numbers.
// Source: contract/dataplane.md 6.4;
// https://cloud.google.com/vertex-ai/docs/reference/rest/v1/projects.locations.batchPredictionJobs/list,
// read 2026-11.
func pages(member string, write func(w *jsonwriter.Writer, job []byte)) *pagination.Pages {
	return &pagination.Pages{
		Items: member, Token: "nextPageToken", Size: "pageSize", After: "pageToken", Usual: 20, MaxLimit: 100,
		IsID: func(after string) bool { return strings.Trim(after, "0123456789") == "" }, Write: write,
	}
}

// jobID is the last part of a job's name, "projects/1/locations/us/tuningJobs/123".
func jobID(raw []byte) string {
	name, _ := jsonedit.Find(raw, "name")
	text := plainText(name)
	return text[strings.LastIndexByte(text, '/')+1:]
}

// when writes a Google timestamp, "2026-11-20T10:00:00.5Z", as epoch seconds.
func when(w *jsonwriter.Writer, name string, raw []byte, from string) {
	val, _ := jsonedit.Find(raw, from)
	if parsed, err := time.Parse(time.RFC3339, plainText(val)); err == nil {
		w.Int(name, parsed.Unix())
		return
	}
	w.Raw(name, null)
}

var null = []byte("null")

// textIn returns a string in a job, or "" when it is missing.
func textIn(raw []byte, keys ...string) string {
	val, _ := jsonedit.Find(raw, keys...)
	return plainText(val)
}

// optional writes a string, or null when value is empty.
func optional(w *jsonwriter.Writer, name, value string) {
	if value == "" {
		w.Raw(name, null)
		return
	}
	w.Str(name, value)
}

// textOf consumes a parameter that is a string.
func textOf(t *llm.FieldTracker, name string) string {
	raw, _ := t.Consume(name)
	return plainText(raw)
}

// publishers maps prefixes of model names to publishers. All other models are Google's.
var publishers = []struct{ begins, publisher string }{
	{"claude", "anthropic"}, {"llama", "meta"}, {"mistral", "mistralai"}, {"codestral", "mistralai"}, {"ministral", "mistralai"},
}

// resource is the full name of a model: "publishers/google/models/gemini-2.5-flash".
func resource(model string) string {
	if strings.HasPrefix(model, "publishers/") || strings.HasPrefix(model, "projects/") {
		return model
	}
	if publisher, name, ok := strings.Cut(model, "/"); ok {
		return "publishers/" + publisher + "/models/" + name
	}
	for _, p := range publishers {
		if strings.HasPrefix(model, p.begins) {
			return "publishers/" + p.publisher + "/models/" + model
		}
	}
	return "publishers/google/models/" + model
}
