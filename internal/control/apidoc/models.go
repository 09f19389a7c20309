package apidoc

import (
	"fmt"
	"strings"
)

// modelSource is models.yaml.
type modelSource struct {
	Headers map[string]object     `json:"headers"`
	Errors  map[string]modelError `json:"errors"`
	Routes  []modelRoute          `json:"routes"`
	Schemas map[string]object     `json:"schemas"`
}

// modelError is a named error response of the model routes.
type modelError struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Message     string `json:"message"`
	Type        string `json:"type"`
	Param       string `json:"param"`
	Code        string `json:"code"`
}

// modelRoute is one model route. Request, Response, Events and Form are names of schemas.
type modelRoute struct {
	Path     string   `json:"path"`
	Method   string   `json:"method"`
	ID       string   `json:"id"`
	Tag      string   `json:"tag"`
	Summary  string   `json:"summary"`
	Request  string   `json:"request"`
	Form     string   `json:"form"`
	Response string   `json:"response"`
	Events   string   `json:"events"`  // of a stream; empty when the route never streams
	Binary   string   `json:"binary"`  // content type of a response that is not JSON
	Query    []string `json:"query"`   // parameters
	Upgrade  bool     `json:"upgrade"` // to a WebSocket
	Public   bool     `json:"public"`  // needs no credential and takes no headers
	Bare     bool     `json:"bare"`    // also served without /v1
	// Unavailable states when a public route responds with 503 and the schema Response.
	Unavailable string `json:"unavailable"`
}

// The scopes of model routes. Source: contract/dataplane.md 6.1.
const (
	modelScope = "completions.write"
	listScope  = "models.list"
)

// addModels adds the model routes, their schemas and their errors.
func (d *document) addModels() error {
	var src modelSource
	if err := decodeYAML(modelsYAML, &src); err != nil {
		return fmt.Errorf("read models.yaml: %w", err)
	}
	components := d.root["components"].(object)
	if err := d.addSchemas(components["schemas"].(object), src.Schemas); err != nil {
		return err
	}
	components["parameters"] = headerParameters(src.Headers)
	responses := object{}
	for _, e := range src.Errors {
		responses[e.Name] = e.response()
	}
	components["responses"] = responses
	paths := d.root["paths"].(object)
	for _, r := range src.Routes {
		item, _ := paths[r.Path].(object)
		if item == nil {
			item = object{}
			paths[r.Path] = item
		}
		if item[r.Method] != nil {
			return fmt.Errorf("models.yaml describes %s %s, which the administration serves", r.Method, r.Path)
		}
		item[r.Method] = r.operation(src)
	}
	return nil
}

func (d *document) addSchemas(into object, schemas map[string]object) error {
	for name, schema := range schemas {
		if into[name] != nil {
			return fmt.Errorf("models.yaml repeats the schema %s", name)
		}
		into[name] = schema
	}
	return nil
}

func headerParameters(headers map[string]object) object {
	out := object{}
	for name, h := range headers {
		out[name] = object{"name": h["name"], "in": "header", "description": h["description"], "schema": object{"type": "string"}, "example": h["example"]}
	}
	return out
}

func (e modelError) response() object {
	failure := object{"message": e.Message, "type": e.Type, "param": nil, "code": nil}
	if e.Param != "" {
		failure["param"] = e.Param
	}
	if e.Code != "" {
		failure["code"] = e.Code
	}
	return object{
		"description": e.Description,
		"content":     object{"application/json": object{"schema": schemaRef("ModelFailure"), "example": object{"error": failure}}},
	}
}

func (r modelRoute) operation(src modelSource) object {
	if r.Public {
		return r.publicOperation(src)
	}
	scopes := []any{modelScope}
	if r.Tag == "Models" {
		scopes = append(scopes, listScope)
	}
	op := object{
		"operationId": r.ID, "summary": r.Summary, "tags": []any{r.Tag},
		"description":       "Needs " + joinScopes(scopes) + ".",
		"x-required-scopes": scopes,
		"parameters":        r.parameters(src.Headers),
		"responses":         r.responses(src),
	}
	if content := r.requestContent(src); content != nil {
		op["requestBody"] = object{"required": true, "content": content}
	}
	return op
}

// publicOperation describes a route that everybody may call.
func (r modelRoute) publicOperation(src modelSource) object {
	content := object{"application/json": object{"schema": schemaRef(r.Response), "example": src.Schemas[r.Response]["example"]}}
	responses := object{
		"200": object{"description": "The response of the gateway.", "content": content},
		"431": object{"description": "The headers of the request are too large."},
	}
	if r.Unavailable != "" {
		responses["503"] = object{"description": r.Unavailable, "content": object{"application/json": object{"schema": schemaRef(r.Response)}}}
	}
	op := object{
		"operationId": r.ID, "summary": r.Summary, "tags": []any{r.Tag}, "description": "Needs no credential.",
		"x-required-scopes": []any{}, "security": []any{}, "responses": responses,
	}
	if r.Bare {
		op["servers"] = []any{object{"url": "/v1"}, object{"url": "/"}}
	}
	return op
}

func (r modelRoute) requestContent(src modelSource) object {
	switch {
	case r.Form != "":
		return object{"multipart/form-data": object{"schema": schemaRef(r.Form)}}
	case r.Request != "":
		return object{"application/json": object{"schema": schemaRef(r.Request), "example": src.Schemas[r.Request]["example"]}}
	}
	return nil
}

func (r modelRoute) parameters(headers map[string]object) []any {
	var out []any
	if strings.Contains(r.Path, "{id}") {
		out = append(out, object{"name": "id", "in": "path", "required": true, "description": "Id of the object, URL-encoded where it has slashes.", "schema": object{"type": "string"}})
	}
	for _, name := range r.Query {
		out = append(out, object{"name": name, "in": "query", "description": queryTexts[name], "required": name == "model", "schema": object{"type": queryTypes[name]}})
	}
	for name := range sortedKeys(headers) {
		out = append(out, object{"$ref": "#/components/parameters/" + name})
	}
	return out
}

// queryTexts and queryTypes describe the query parameters that model routes share.
var (
	queryTexts = map[string]string{
		"limit": "Maximum number of objects in the response.",
		"after": "Id of the last object on the previous page.",
		"model": "Model of the conversation.",
	}
	queryTypes = map[string]string{"limit": "integer", "after": "string", "model": "string"}
)

func (r modelRoute) responses(src modelSource) object {
	out := object{"default": object{"description": "Any other error.", "content": object{"application/json": object{"schema": schemaRef("ModelFailure")}}}}
	for status, e := range src.Errors {
		out[status] = object{"$ref": "#/components/responses/" + e.Name}
	}
	if r.Upgrade {
		out["101"] = object{"description": "The connection switches to WebSocket."}
		return out
	}
	content := object{}
	if r.Response != "" {
		content["application/json"] = object{"schema": schemaRef(r.Response), "example": src.Schemas[r.Response]["example"]}
	}
	if r.Events != "" {
		content["text/event-stream"] = object{"schema": schemaRef(r.Events)}
	}
	if r.Binary != "" {
		content[r.Binary] = object{"schema": object{"type": "string", "format": "binary"}}
	}
	out["200"] = object{"description": "The response of the model or provider.", "content": content}
	return out
}

func schemaRef(name string) object { return object{"$ref": "#/components/schemas/" + name} }

func joinScopes(scopes []any) string {
	text := make([]string, len(scopes))
	for i, w := range scopes {
		text[i] = w.(string)
	}
	return strings.Join(text, " or ")
}
