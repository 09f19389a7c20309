package gemini

import (
	"strconv"

	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/jsonedit"
)

// logprobs turns a logprobsResult into chat's entries: a list with its brackets, or nil
// when there are no entries.
// Source: https://ai.google.dev/api/generate-content#LogprobsResult, read 2026-11.
func logprobs(raw []byte) []byte {
	chosen, _ := jsonedit.Find(raw, "chosenCandidates")
	top, _ := jsonedit.Find(raw, "topCandidates")
	var others [][]byte
	for t := range jsonedit.Elements(top) {
		list, _ := jsonedit.Find(t, "candidates")
		others = append(others, list)
	}
	var w jsonwriter.Writer
	w.Open('[')
	i := 0
	for c := range jsonedit.Elements(chosen) {
		w.Open('{')
		entry(&w, c)
		w.Key("top_logprobs").Open('[')
		if i < len(others) {
			for o := range jsonedit.Elements(others[i]) {
				w.Open('{')
				entry(&w, o)
				w.Close('}')
			}
		}
		w.Close(']')
		w.Close('}')
		i++
	}
	w.Close(']')
	if i == 0 {
		return nil
	}
	return w.B
}

// entry writes token, logprob and bytes.
func entry(w *jsonwriter.Writer, raw []byte) {
	token, _ := jsonedit.Find(raw, "token")
	text := plainText(token)
	w.Str("token", text)
	if p, ok := jsonedit.Find(raw, "logProbability"); ok {
		w.Raw("logprob", p)
	} else {
		w.Int("logprob", 0) // Gemini omits it when it is 0
	}
	w.Key("bytes").Open('[')
	for i := range len(text) {
		w.Value(strconv.AppendInt(nil, int64(text[i]), 10))
	}
	w.Close(']')
}
