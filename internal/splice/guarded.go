package splice

import (
	"strings"
	"unicode/utf8"
)

// guarded are the names whose repetition is refused, because the gateway decides by them
// who may do what, and what it can cost, or reads them with different readers of its own.
// Most are fields of the surfaces of OpenAI and Anthropic; models is the list of models to
// fall back to of OpenRouter, pages and the annotation formats are priced by Mistral.
// There are at most 64 of them, none has more than guardedMax letters, and none may be a
// form's field that is meant to come more than once, as image or include[] is.
var guarded = [...]string{
	// who answers
	"model", "models", "fallbacks", "user", "metadata", "store", "previous_response_id",
	// what is asked
	"messages", "input", "prompt", "system", "instructions", "tools", "functions",
	// how much of an answer there may be
	"stream", "stream_options", "max_tokens", "max_completion_tokens", "max_output_tokens", "n", "best_of", "samples", "batch_size",
	"reasoning", "reasoning_effort", "thinking", "pages",
	// at which price
	"service_tier", "speed", "size", "quality", "modalities", "document_annotation_format", "bbox_annotation_format",
}

// guardedMax is how many letters a guarded name has at most.
const guardedMax = len("document_annotation_format")

// guardedOf are the indexes of the guarded names by how many letters they have: few have as
// many as the name of a member.
var guardedOf = func() (by [guardedMax + 1][]int8) {
	for k, name := range guarded {
		by[len(name)] = append(by[len(name)], int8(k))
	}
	return by
}()

// guard returns the index of a name in guarded, or -1.
func guard(raw []byte) int {
	for _, c := range raw {
		if c == '\\' || c >= 0x80 || c >= 'A' && c <= 'Z' {
			return guardFolded(raw)
		}
	}
	if len(raw) > guardedMax {
		return -1
	}
	for _, k := range guardedOf[len(raw)] {
		if string(raw) == guarded[k] {
			return int(k)
		}
	}
	return -1
}

// guardFolded is guard for a name with escapes or capitals. Letters fold one by one, so
// that the number of them tells here, too.
func guardFolded(raw []byte) int {
	name, ok := Unquote(append(append([]byte{'"'}, raw...), '"'))
	if n := utf8.RuneCountInString(name); ok && n <= guardedMax {
		for _, k := range guardedOf[n] {
			if strings.EqualFold(name, guarded[k]) {
				return int(k)
			}
		}
	}
	return -1
}
