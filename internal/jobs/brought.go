package jobs

import (
	"bytes"
	"iter"

	"sluice/internal/splice"
)

// bringers are the request fields by which the provider adds input that is not in the body:
// what the provider stores, and what its tools find.
var bringers = [...][]string{
	{"previous_response_id"}, {"conversation"}, {"prompt", "id"}, {"cachedContent"}, {"previous_interaction_id"},
	{"mcp_servers"}, {"plugins"}, {"preset"}, {"web_search_options"}, {"search_parameters"}, {"data_sources"},
}

// bringsIn reports whether the provider may add input that is not in the body.
func bringsIn(body []byte) bool {
	for _, path := range bringers {
		for raw := range Values(body, path...) {
			if !splice.IsNull(raw) && string(raw) != "[]" {
				return true
			}
		}
	}
	for input := range Values(body, "input") {
		for item := range splice.Elements(input) {
			if splice.Text(item, "type") == "item_reference" || splice.Text(item, "id") != "" && !has(item, "type") && !has(item, "content") {
				return true
			}
		}
	}
	for range providerTools(body) {
		return true
	}
	return false
}

// searches reports whether the provider may search with a tool that it runs itself.
func searches(body []byte) bool {
	if has(body, "web_search_options") {
		return true
	}
	for tool := range providerTools(body) {
		if bytes.Contains(bytes.ToLower(splice.AppendUnquoted(nil, tool)), []byte("search")) {
			return true
		}
	}
	return false
}

// providerTools returns the tools of a request that are not plain functions of the caller.
func providerTools(body []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for tools := range Values(body, "tools") {
			for tool := range splice.Elements(tools) {
				if !callerRuns(tool) && !yield(tool) {
					return
				}
			}
		}
	}
}

// callerRuns reports whether a tool is a function of the caller, in any format:
// {"type":"function",…}, {"name":…,"input_schema":…}, {"functionDeclarations":[…]}.
func callerRuns(tool []byte) bool {
	switch splice.Text(tool, "type") {
	case "function", "custom":
		return true
	case "":
	default:
		return false
	}
	for name := range splice.Members(tool) {
		if !isOneOf(name, functionFields[:]) {
			return false
		}
	}
	return true
}

var functionFields = [...]string{"functionDeclarations", "function", "name", "description", "input_schema", "parameters", "strict", "cache_control", "type"}
