package jsonedit

import (
	"cmp"
	"strings"
	"unicode/utf8"
)

// routingKeys are the names that may not be repeated. The gateway uses them to decide about
// access and maximum cost, or reads them with several readers. Most are fields of the APIs of
// OpenAI and Anthropic. models is OpenRouter's list of fallback models. Mistral prices pages
// and the annotation formats. The last rows are fields of Gemini, Bedrock and Ollama, whose own
// bodies are relayed. There are at most 64 names with at most maxRoutingKeyLen letters. A form
// field that may repeat, such as image or include[], may not be in the list. This is the only
// list of such names: every route refuses duplicates, relayed routes too.
var routingKeys = [...]string{
	// model, caller and conversation
	"model", "models", "fallbacks", "user", "metadata", "store", "previous_response_id", "conversation",
	// input
	"messages", "input", "prompt", "system", "instructions", "tools", "functions",
	// size of the response
	"stream", "stream_options", "max_tokens", "max_completion_tokens", "max_output_tokens", "n", "best_of", "samples", "batch_size",
	"reasoning", "reasoning_effort", "thinking", "pages", "output_config", "max_tokens_to_sample", "max_tool_calls", "seconds", "duration",
	// price
	"service_tier", "speed", "size", "quality", "modalities", "document_annotation_format", "bbox_annotation_format",
	// bodies of Gemini, Bedrock and Ollama
	"generationconfig", "generation_config", "contents", "systeminstruction", "cachedcontent", "servicetier",
	"inferenceconfig", "additionalmodelrequestfields", "modelid", "options", "requests",
}

// spellings are the routing keys with capitals in their documented form.
var spellings = map[string]string{
	"generationconfig": "generationConfig", "systeminstruction": "systemInstruction", "cachedcontent": "cachedContent", "servicetier": "serviceTier",
	"inferenceconfig": "inferenceConfig", "additionalmodelrequestfields": "additionalModelRequestFields", "modelid": "modelId",
}

// spelled returns the documented form of a routing key.
func spelled(name string) string { return cmp.Or(spellings[name], name) }

// nestedRoutingKeys are the routing keys whose objects contain such fields, with these fields:
// {"generationConfig":{"maxOutputTokens":9}}.
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

// maxRoutingKeyLen is the maximum length of a routing key.
const maxRoutingKeyLen = len("additionalmodelrequestfields")

// routingKeysByLen contains the indexes of the routing keys by their length. Few keys have the
// length of a given member name.
var routingKeysByLen = func() (by [maxRoutingKeyLen + 1][]int8) {
	for k, name := range routingKeys {
		by[len(name)] = append(by[len(name)], int8(k))
	}
	return by
}()

// RoutingKeyIndex returns the index of a routing key, 0 to 63, or -1 for any other name. The name
// is the raw text between the quotes of a JSON member, or the name of a form field: "model".
// Capitals and escapes do not matter.
func RoutingKeyIndex(raw []byte) int {
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

// RoutingKeyName returns the name of the routing key with that index: "model".
func RoutingKeyName(index int) string { return routingKeys[index] }

// foldedRoutingKeyIndex is RoutingKeyIndex for a name with escapes or capitals. Letters fold
// one by one, so their number is a filter here too.
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

// repeatedField returns the field that occurs twice in the object of a routing key, or "".
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
