package modellists

import (
	"bytes"

	"sluice/internal/dialect/sniff"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
)

// modelLists are the members in which servers list their models. The first one that is present
// counts: OpenAI's {"data":[{"id":"…"}]}, Ollama's {"models":[{"model":"…","name":"…"}]}.
// llama.cpp sends both.
// Source: https://platform.openai.com/docs/api-reference/models/list,
// https://docs.ollama.com/api/tags, read 2026-11.
var modelLists = [...]string{"data", "models"}

// modelNames are the members that name a model. The first one that is present counts.
var modelNames = [...]string{"id", "model", "name"}

// Names returns the model names in a list as OpenAI's GET /v1/models or Ollama's
// GET /api/tags returns it, or in an array of such models: ["llama3.2:latest"]. It omits models
// without a name and returns at most max names. Anything else is fault.UpstreamInvalid.
func Names(body []byte, max int) ([]string, error) {
	list, ok := modelArray(body)
	if !ok {
		return nil, fault.New(fault.UpstreamInvalid, "the response is not a list of models")
	}
	var names []string
	for raw := range jsonedit.Elements(list) {
		if len(names) == max {
			break
		}
		if name := modelName(raw); name != "" {
			names = append(names, name)
		}
	}
	return names, nil
}

// modelArray finds the array of a list of models. The complete body must be JSON, because a
// truncated body would look like a shorter list.
func modelArray(body []byte) ([]byte, bool) {
	body = bytes.TrimSpace(sniff.TrimByteOrderMark(body))
	if len(body) > 0 && body[0] == '[' {
		return body, jsonedit.Valid(append(append([]byte(`{"data":`), body...), '}'))
	}
	if !jsonedit.Valid(body) {
		return nil, false
	}
	for _, member := range modelLists {
		if list, ok := jsonedit.Find(body, member); ok && list[0] == '[' {
			return list, true
		}
	}
	return nil, false
}

func modelName(raw []byte) string {
	if name, ok := jsonedit.Unquote(raw); ok {
		return name
	}
	for _, member := range modelNames {
		if name := jsonedit.Text(raw, member); name != "" {
			return name
		}
	}
	return ""
}
