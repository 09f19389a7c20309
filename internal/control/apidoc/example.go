package apidoc

import (
	"encoding/json"
	"fmt"
)

// maxListed is how many elements of an array an example shows.
const maxListed = 2

// Sample is a recorded call of an operation that succeeded.
type Sample struct {
	Request  json.RawMessage `json:"request"`  // body; empty for none
	Response json.RawMessage `json:"response"` // body of the answer; empty when it is not JSON
}

// addExamples gives the request and the response their example, from the recorded call or,
// for model routes, from models.yaml.
func (d *document) addExamples(op *operation) error {
	sample := d.sample(op.id)
	if body, ok := op.object["requestBody"].(object); ok {
		if err := setExample(body, sample.Request); err != nil {
			return fmt.Errorf("check request: %w", err)
		}
	}
	responses := op.object["responses"].(object)
	for _, status := range []string{"200", "101"} {
		if response, ok := responses[status].(object); ok {
			if err := setExample(response, sample.Response); err != nil {
				return fmt.Errorf("check response: %w", err)
			}
			return nil
		}
	}
	return fmt.Errorf("the operation has no response with status 200")
}

// sample is the recorded call of an operation, or of the one that it repeats, completed by
// examples.yaml.
func (d *document) sample(id string) Sample {
	var s Sample
	for _, id := range [...]string{id, firstID(id)} {
		for _, from := range [...]map[string]Sample{d.samples, d.written} {
			if found := from[id]; len(s.Request) == 0 {
				s.Request = found.Request
			}
			if found := from[id]; len(s.Response) == 0 {
				s.Response = found.Response
			}
		}
	}
	return s
}

// setExample sets the example of JSON content that has none.
func setExample(holder object, raw json.RawMessage) error {
	content, _ := holder["content"].(object)
	media, ok := content["application/json"].(object)
	if !ok || media["example"] != nil || media["examples"] != nil {
		return nil
	}
	if len(raw) == 0 {
		return fmt.Errorf("no transcript has an example; add a successful call to internal/control/testdata")
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return fmt.Errorf("the recorded example is not JSON: %w", err)
	}
	media["example"] = shorten(v)
	return nil
}

// shorten leaves the first elements of each array.
func shorten(v any) any {
	switch v := v.(type) {
	case []any:
		if len(v) > maxListed {
			v = v[:maxListed]
		}
		for i := range v {
			v[i] = shorten(v[i])
		}
		return v
	case object:
		for key := range v {
			v[key] = shorten(v[key])
		}
	}
	return v
}
