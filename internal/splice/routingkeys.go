package splice

import (
	"cmp"
	"strings"
	"unicode/utf8"
)

// routingKeys are the names whose repetition is refused, because the gateway decides by them
// who may do what, and what it can cost, or reads them with different readers of its own.
// Most are fields of the surfaces of OpenAI and Anthropic; models is the list of models to
// fall back to of OpenRouter, pages and the annotation formats are priced by Mistral; the last
// rows are fields of Gemini, Bedrock and Ollama, whose own bodies are relayed.
// There are at most 64 of them, none has more than maxRoutingKeyLen letters, and none may be a
// form's field that is meant to come more than once, as image or include[] is.
// It is the one list of such names: every route refuses them, relayed ones included.
var routingKeys = [...]string{
	// who answers
	"model", "models", "fallbacks", "user", "metadata", "store", "previous_response_id", "conversation",
	// what is asked
	"messages", "input", "prompt", "system", "instructions", "tools", "functions",
	// how much of an answer there may be
	"stream", "stream_options", "max_tokens", "max_completion_tokens", "max_output_tokens", "n", "best_of", "samples", "batch_size",
	"reasoning", "reasoning_effort", "thinking", "pages", "output_config", "max_tokens_to_sample", "max_tool_calls", "seconds", "duration",
	// at which price
	"service_tier", "speed", "size", "quality", "modalities", "document_annotation_format", "bbox_annotation_format",
	// bodies of Gemini, Bedrock and Ollama
	"generationconfig", "generation_config", "contents", "systeminstruction", "cachedcontent", "servicetier",
	"inferenceconfig", "additionalmodelrequestfields", "modelid", "options", "requests",
}

// spellings are the guarded names that have capitals where they are documented.
var spellings = map[string]string{
	"generationconfig": "generationConfig", "systeminstruction": "systemInstruction", "cachedcontent": "cachedContent", "servicetier": "serviceTier",
	"inferenceconfig": "inferenceConfig", "additionalmodelrequestfields": "additionalModelRequestFields", "modelid": "modelId",
}

// spelled is a guarded name as it is documented.
func spelled(name string) string { return cmp.Or(spellings[name], name) }

// nestedRoutingKeys are the guarded names whose objects hold such fields themselves, and these
// fields: {"generationConfig":{"maxOutputTokens":9}}.
var nestedRoutingKeys = map[string]map[string]bool{
	"generationconfig":             {"maxOutputTokens": true, "candidateCount": true, "thinkingConfig": true, "responseModalities": true},
	"generation_config":            {"max_output_tokens": true, "candidate_count": true, "thinking_config": true, "response_modalities": true},
	"inferenceconfig":              {"maxTokens": true, "max_new_tokens": true},
	"additionalmodelrequestfields": {"thinking": true, "max_tokens": true},
	"options":                      {"num_predict": true, "num_ctx": true},
	"reasoning":                    {"effort": true, "max_tokens": true},
	"thinking":                     {"type": true, "budget_tokens": true},
	"output_config":                {"effort": true},
}

// maxRoutingKeyLen is how many letters a guarded name has at most.
const maxRoutingKeyLen = len("additionalmodelrequestfields")

// routingKeysByLen are the indexes of the guarded names by how many letters they have: few have as
// many as the name of a member.
var routingKeysByLen = func() (by [maxRoutingKeyLen + 1][]int8) {
	for k, name := range routingKeys {
		by[len(name)] = append(by[len(name)], int8(k))
	}
	return by
}()

// routingKeyIndex returns the index of a name in guarded, or -1.
func routingKeyIndex(raw []byte) int {
	for _, c := range raw {
		if c == '\\' || c >= 0x80 || c >= 'A' && c <= 'Z' {
			return foldedRoutingKeyIndex(raw)
		}
	}
	if len(raw) > maxRoutingKeyLen {
		return -1
	}
	for _, k := range routingKeysByLen[len(raw)] {
		if string(raw) == routingKeys[k] {
			return int(k)
		}
	}
	return -1
}

// foldedRoutingKeyIndex is guard for a name with escapes or capitals. Letters fold one by one, so
// that the number of them tells here, too.
func foldedRoutingKeyIndex(raw []byte) int {
	name, ok := Unquote(append(append([]byte{'"'}, raw...), '"'))
	if n := utf8.RuneCountInString(name); ok && n <= maxRoutingKeyLen {
		for _, k := range routingKeysByLen[n] {
			if strings.EqualFold(name, routingKeys[k]) {
				return int(k)
			}
		}
	}
	return -1
}

// repeatedField is the field that stands twice in the object of a guarded name; empty when there
// is none.
func repeatedField(name string, object []byte) string {
	fields := nestedRoutingKeys[name]
	if fields == nil || !container(object, '{') {
		return ""
	}
	seen, repeated := make([]string, 0, 4), ""
	eachMember(object, '{', func(key, _ []byte) bool {
		field, _ := Unquote(key)
		if !fields[field] {
			return true
		}
		for _, before := range seen {
			if before == field {
				repeated = field
				return false
			}
		}
		seen = append(seen, field)
		return true
	})
	return repeated
}
