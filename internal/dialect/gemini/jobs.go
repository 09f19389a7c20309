package gemini

import (
	"strings"
	"time"

	"sluice/internal/dialect"
	"sluice/internal/llm"
	"sluice/internal/splice"
)

// page turns a caller's query, "limit=10&after=x", into Google's. Lost are the names
// that mean nothing there.
// Source: contract/dataplane.md 6.4.
func page(query string) (out string, lost []string) {
	size, token := "20", ""
	for pair := range strings.SplitSeq(query, "&") {
		switch name, value, _ := strings.Cut(pair, "="); name {
		case "":
		case "limit":
			size = value
		case "after":
			token = value
		default:
			lost = append(lost, name)
		}
	}
	out = "pageSize=" + size
	if token != "" {
		out += "&pageToken=" + token
	}
	return out, lost
}

// writeJobs writes a list of jobs. The token of the next page stands where OpenAI's
// clients look for it: last_id is what they give as after.
func writeJobs(w *dialect.JSON, body []byte, member string, each func(raw []byte)) {
	list, _ := splice.Find(body, member)
	next, _ := splice.Find(body, "nextPageToken")
	token := plainText(next)
	w.Open('{')
	w.Str("object", "list")
	w.Key("data").Open('[')
	for raw := range splice.Elements(list) {
		each(raw)
	}
	w.Close(']')
	w.Bool("has_more", token != "")
	w.Opt("last_id", token)
	w.Close('}')
}

// jobID is the last part of a job's name, "projects/1/locations/us/tuningJobs/123".
func jobID(raw []byte) string {
	name, _ := splice.Find(raw, "name")
	text := plainText(name)
	return text[strings.LastIndexByte(text, '/')+1:]
}

// when writes a time of Google, "2026-11-20T10:00:00.5Z", as epoch seconds.
func when(w *dialect.JSON, name string, raw []byte, from string) {
	val, _ := splice.Find(raw, from)
	if at, err := time.Parse(time.RFC3339, plainText(val)); err == nil {
		w.Int(name, at.Unix())
		return
	}
	w.Raw(name, null)
}

var null = []byte("null")

// textIn is a text in a job, "" when it is not there.
func textIn(raw []byte, keys ...string) string {
	val, _ := splice.Find(raw, keys...)
	return plainText(val)
}

// optional is a text, or null.
func optional(w *dialect.JSON, name, value string) {
	if value == "" {
		w.Raw(name, null)
		return
	}
	w.Str(name, value)
}

// textOf takes a parameter that is a text.
func textOf(t *llm.Tally, name string) string {
	raw, _ := t.Take(name)
	return plainText(raw)
}

// publishers are whose models have names that begin so; all others are Google's.
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
