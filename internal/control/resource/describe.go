package resource

import (
	"net/http"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"sluice/internal/kernel/access"
)

const schemaPrefix = "#/components/schemas/"

func newDescription(about huma.Info) *huma.OpenAPI {
	return &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info:    &about,
		Servers: []*huma.Server{{URL: "/v1"}, {URL: "/v2", Description: "Administration only; the same operations"}},
		Components: &huma.Components{
			Schemas: huma.NewMapRegistry(schemaPrefix, schemaName),
			SecuritySchemes: map[string]*huma.SecurityScheme{
				"key":    {Type: "apiKey", In: "header", Name: "x-gateway-api-key"},
				"bearer": {Type: "http", Scheme: "bearer"},
			},
		},
		Security: []map[string][]string{{"key": {}}, {"bearer": {}}},
	}
}

// schemaName names a Go type in the description. The suffixes "In", "Patch" and "View" of a type
// name mark its direction.
func schemaName(t reflect.Type, hint string) string {
	return strings.ReplaceAll(huma.DefaultSchemaNamer(t, hint), "View", "")
}

// describe adds an operation to the description and returns the schema of its body.
func (e *Engine) describe(op Operation) *schema {
	reg := e.doc.Components.Schemas
	d := &huma.Operation{Method: op.Method, Path: shown(op.Path), OperationID: op.ID, Summary: op.Summary, Description: scopeText(op.Scopes), Extensions: map[string]any{"x-required-scopes": op.Scopes}}
	if op.Public {
		d.Description, d.Security = "Needs no credential.", []map[string][]string{}
		d.Extensions["x-required-scopes"] = []access.Scope{}
	}
	if op.Tag != "" {
		d.Tags = []string{op.Tag}
	}
	for _, p := range op.Params {
		d.Parameters = append(d.Parameters, p.describe("path"))
	}
	for _, p := range op.Query {
		if p.Hidden {
			continue
		}
		d.Parameters = append(d.Parameters, p.describe("query"))
	}
	if op.Method == http.MethodPut || op.Method == http.MethodDelete {
		d.Parameters = append(d.Parameters, ifMatch.describe("header"))
	}
	var body *schema
	if op.Body != nil {
		t := reflect.TypeOf(op.Body)
		bodySchema := reg.Schema(t, true, "")
		if op.Many > 0 {
			bodySchema = oneOrMany(bodySchema, op.Many)
		}
		d.RequestBody = &huma.RequestBody{Required: !op.Optional, Content: jsonContent(bodySchema)}
		body = &schema{registry: reg, root: reg.Schema(t, false, "")}
	}
	if op.Takes != "" {
		d.RequestBody = &huma.RequestBody{Required: true, Content: rawContent(op.Takes)}
	}
	response := op.Response
	if response == nil {
		response = Empty{}
	}
	refusal := reflect.TypeFor[Failure]()
	if op.Refusal != nil {
		refusal = reflect.TypeOf(op.Refusal)
	}
	d.Responses = map[string]*huma.Response{
		"200":     {Description: "done", Content: jsonContent(responseSchema(reg, response))},
		"default": {Description: "refused", Content: jsonContent(reg.Schema(refusal, true, ""))},
	}
	if op.Stream != "" {
		d.Responses["200"].Content = rawContent(op.Stream)
	}
	e.doc.AddOperation(d)
	return body
}

// scopeText lists the scopes that permit an operation; any one of them is enough.
func scopeText(scopes []access.Scope) string {
	if len(scopes) == 0 {
		return "Needs a valid credential and no scope."
	}
	return "Needs " + join(scopes, " or ") + "."
}

// shown returns a path as in the description: OpenAPI does not have placeholders with slashes.
func shown(path string) string { return strings.Replace(path, "...}", "}", 1) }

// ifMatch protects a change from overwriting a concurrent one.
var ifMatch = Param{Name: "If-Match", Doc: "ETag of the version that the change is based on; returns 409 if a newer version exists"}

// rawContent describes a body of bytes with one of several content types.
func rawContent(kinds string) map[string]*huma.MediaType {
	m := make(map[string]*huma.MediaType)
	for kind := range strings.SplitSeq(kinds, ", ") {
		m[kind] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString}}
		if kind == "application/json" { // another protocol describes the object
			m[kind].Schema = &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
		}
	}
	return m
}

func jsonContent(s *huma.Schema) map[string]*huma.MediaType {
	return map[string]*huma.MediaType{"application/json": {Schema: s}}
}

// OpenAPI returns the description of all operations, as their types give it, and releases it: a
// second call returns nil. The published description contains more, see package apidoc.
func (e *Engine) OpenAPI() *huma.OpenAPI {
	doc := e.doc
	e.doc = nil
	return doc
}
