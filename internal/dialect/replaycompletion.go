package dialect

import (
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/jsonedit"
)

// ReplayCompletion appends a complete response to a text completion, in OpenAI's shape, as the
// server-sent events of a stream: the texts in chunks of 500 characters, for each choice a chunk
// with its finish reason, the usage in the last chunk, and [DONE].
// Source: contract/provider-transforms.md 11.
func ReplayCompletion(dst, body []byte) []byte {
	head := completionHead(body)
	usage, _ := jsonedit.Find(body, "usage")
	choices, _ := jsonedit.Find(body, "choices")
	left := 0
	for range jsonedit.Elements(choices) {
		left++
	}
	for c := range jsonedit.Elements(choices) {
		left--
		index, _ := jsonedit.Find(c, "index")
		raw, _ := jsonedit.Find(c, "text")
		text, _ := jsonedit.Unquote(raw)
		for text != "" {
			n := chunkEnd(text)
			dst = completionChunk(dst, head, index, text[:n], nullJSON, nil)
			text = text[n:]
		}
		finish, _ := jsonedit.Find(c, "finish_reason")
		last := usage
		if left > 0 {
			last = nil
		}
		dst = completionChunk(dst, head, index, "", finish, last)
	}
	return append(dst, "data: [DONE]\n\n"...)
}

var nullJSON = []byte("null")

// completionHead is the start of every chunk.
func completionHead(body []byte) []byte {
	var w jsonwriter.Writer
	w.Open('{')
	for _, name := range [...]string{"id", "object", "created", "model", "provider"} {
		raw, _ := jsonedit.Find(body, name)
		w.Raw(name, raw)
	}
	return w.B
}

func completionChunk(dst, head, index []byte, text string, finish, usage []byte) []byte {
	w := jsonwriter.Writer{B: append(append(dst, "data: "...), head...)}
	w.Key("choices").Open('[')
	w.Open('{')
	w.Raw("index", index)
	w.Str("text", text)
	w.Raw("logprobs", nullJSON)
	w.Raw("finish_reason", finish)
	w.Close('}')
	w.Close(']')
	w.Raw("usage", usage)
	w.Close('}')
	return append(w.B, "\n\n"...)
}
