package apidoc

import (
	"fmt"
	"strings"
)

// errorResponse is a line of errors.yaml: one named error response of the administration.
type errorResponse struct {
	Status      string `json:"status"`      // "404"
	Name        string `json:"name"`        // "NotFound", in components.responses
	Description string `json:"description"` // when it happens
	Code        string `json:"code"`        // errorCode of the example: "AB08"
	Message     string `json:"message"`     // of the example
	Path        string `json:"path"`        // field that the example names; empty for none
	When        string `json:"when"`        // which operations have it, see applies
}

const failureSchema = "#/components/schemas/Failure"

func (d *document) readErrors() error {
	if err := decodeYAML(errorsYAML, &d.errors); err != nil {
		return fmt.Errorf("read errors.yaml: %w", err)
	}
	components := d.root["components"].(object)
	named := components["responses"].(object)
	for _, e := range d.errors {
		named[e.Name] = object{
			"description": e.Description,
			"content": object{"application/json": object{
				"schema":  object{"$ref": failureSchema},
				"example": e.example(),
			}},
		}
	}
	return nil
}

func (e errorResponse) example() object {
	data := object{"message": e.Message, "errorCode": e.Code}
	if e.Path != "" {
		data["errors"] = []any{object{"path": e.Path, "message": e.Message}}
	}
	return object{"success": false, "data": data}
}

// addErrors names the errors that an operation may answer with. Operations that have
// errors of another shape keep that shape for each status.
func (d *document) addErrors(op *operation) {
	responses := op.object["responses"].(object)
	fallback, _ := responses["default"].(object)
	if fallback == nil || hasClientError(responses) {
		return // a model route, which lists its own
	}
	plain := refOf(fallback) == failureSchema
	for _, e := range d.errors {
		if !e.applies(op) {
			continue
		}
		if plain {
			responses[e.Status] = object{"$ref": "#/components/responses/" + e.Name}
			continue
		}
		responses[e.Status] = object{"description": e.Description, "content": fallback["content"]}
	}
	fallback["description"] = "Any other error."
}

// applies reports whether an operation can have the error: "always", "body" (it takes
// one), "credential" (it needs one), "path" (its path names a record) or "write".
func (e errorResponse) applies(op *operation) bool {
	switch e.When {
	case "body":
		return op.object["requestBody"] != nil
	case "credential":
		security, set := op.object["security"].([]any)
		return !set || len(security) > 0
	case "path":
		return strings.Contains(op.path, "{")
	case "write":
		return op.method != "get"
	}
	return true
}

func hasClientError(responses object) bool {
	for status := range responses {
		if status[0] == '4' {
			return true
		}
	}
	return false
}

func refOf(response object) string {
	content, _ := response["content"].(object)
	media, _ := content["application/json"].(object)
	schema, _ := media["schema"].(object)
	ref, _ := schema["$ref"].(string)
	return ref
}
