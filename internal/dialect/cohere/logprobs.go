package cohere

import (
	"strconv"

	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/jsonedit"
)

// logprobs converts [{"text":" Hi","token_ids":[5],"logprobs":[-0.1]}] to the entries of chat
// completions; nil when the list is empty. An entry with several tokens gets the sum of their
// log probabilities.
func logprobs(list []byte) []byte {
	var w jsonwriter.Writer
	w.Open('[')
	n := 0
	for item := range jsonedit.Elements(list) {
		n++
		logprob(&w, item)
	}
	if n == 0 {
		return nil
	}
	w.Close(']')
	return w.B
}

func logprob(w *jsonwriter.Writer, item []byte) {
	text, _ := jsonedit.Find(item, "text")
	values, _ := jsonedit.Find(item, "logprobs")
	total, count := 0.0, 0
	var last []byte
	for raw := range jsonedit.Elements(values) {
		f, err := strconv.ParseFloat(string(raw), 64)
		if err != nil {
			continue
		}
		total, last = total+f, raw
		count++
	}
	w.Open('{')
	w.Raw("token", text)
	if count == 1 {
		w.Raw("logprob", last)
	} else {
		w.Raw("logprob", strconv.AppendFloat(nil, total, 'g', -1, 64))
	}
	w.Raw("bytes", []byte("null"))
	w.Raw("top_logprobs", []byte("[]"))
	w.Close('}')
}
