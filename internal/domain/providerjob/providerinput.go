package providerjob

import (
	"bytes"
	"iter"
	"slices"
	"strings"

	"sluice/internal/kernel/jsonedit"
)

// A provider may add input that is not in the body of a request: what it stores, and what its
// tools find. Calls and the requests of batches follow the same rules.

// inputMembers lists the members, other than tools, by which a provider adds input. It contains
// the names of all providers, in lower case and without underscores.
// Source: https://platform.claude.com/docs/en/agents-and-tools/mcp-connector,
// https://openrouter.ai/docs/guides/features/plugins/overview, https://openrouter.ai/docs/guides/features/presets,
// https://ai.google.dev/gemini-api/docs/caching, https://ai.google.dev/gemini-api/docs/interactions,
// https://learn.microsoft.com/azure/foundry/openai/references/on-your-data,
// https://docs.x.ai/docs/guides/live-search, read 2026-11.
var inputMembers = map[string]bool{
	"mcpservers": true, "plugins": true, "preset": true, "websearch": true, "websearchoptions": true, "searchparameters": true,
	"enablesearch": true, "connectors": true, "datasources": true, "cachedcontent": true, "previousinteractionid": true,
}

// AddsInput reports whether a member of a body makes the provider add input. The name must be in
// lower case and without underscores and hyphens: "mcpservers" for mcp_servers.
func AddsInput(name string) bool { return inputMembers[name] }

// IsSet reports whether a raw value enables something. {} does: it is a tool without settings.
func IsSet(val []byte) bool {
	switch string(val) {
	case "", "null", "false", `""`, "[]":
		return false
	}
	return true
}

// storedInput lists the members by which a request of OpenAI's Responses refers to stored input.
var storedInput = [...][]string{{"previous_response_id"}, {"conversation"}, {"prompt", "id"}}

// addsInput reports whether the provider may add input to a request of a batch.
func addsInput(body []byte) bool {
	for name, val := range jsonedit.Members(body) {
		if AddsInput(folded(name)) && IsSet(val) {
			return true
		}
	}
	for _, path := range storedInput {
		for raw := range Values(body, path...) {
			if IsSet(raw) {
				return true
			}
		}
	}
	for input := range Values(body, "input") {
		for item := range jsonedit.Elements(input) {
			if jsonedit.Text(item, "type") == "item_reference" || jsonedit.Text(item, "id") != "" && !has(item, "type") && !has(item, "content") {
				return true
			}
		}
	}
	for range providerTools(body) {
		return true
	}
	return false
}

// folded returns a raw name in lower case and without quotes, underscores and hyphens.
func folded(raw []byte) string {
	name, _ := jsonedit.Unquote(raw)
	return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name))
}

// searches reports whether the provider may search with a tool that it runs itself.
func searches(body []byte) bool {
	if has(body, "web_search_options") {
		return true
	}
	for tool := range providerTools(body) {
		if bytes.Contains(bytes.ToLower(jsonedit.AppendUnquoted(nil, tool)), []byte("search")) {
			return true
		}
	}
	return false
}

// providerTools returns the tools of a request that the provider runs.
func providerTools(body []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for tools := range Values(body, "tools") {
			for tool := range jsonedit.Elements(tools) {
				if !CallerRuns(tool) && !yield(tool) {
					return
				}
			}
		}
	}
}

// callerTools lists prefixes of the types of tools that the caller runs. Anthropic's types end
// with a date.
// Source: https://platform.claude.com/docs/en/agents-and-tools/tool-use/overview,
// https://platform.openai.com/docs/guides/tools, read 2026-11.
var callerTools = [...]string{"bash_", "text_editor_", "memory_", "computer", "local_shell", "apply_patch"}

// maxToolDepth is how deep groups of tools may be nested. Deeper ones count as the provider's.
const maxToolDepth = 3

// CallerRuns reports whether the caller runs a tool, a raw JSON object in any provider's format,
// or each tool of a group. The results of such a tool are in the body of the next call.
func CallerRuns(tool []byte) bool { return callerRuns(tool, 0) }

func callerRuns(tool []byte, depth int) bool {
	raw, _ := jsonedit.Find(tool, "type")
	if jsonedit.IsName(raw, "function") || jsonedit.IsName(raw, "custom") { // nearly all, and no copy is made
		return true
	}
	switch kind, _ := jsonedit.Unquote(raw); kind {
	case "":
		return callerRunsUntyped(tool)
	case "namespace":
		group, _ := jsonedit.Find(tool, "tools")
		for one := range jsonedit.Elements(group) {
			if depth == maxToolDepth || !callerRuns(one, depth+1) {
				return false
			}
		}
		return true
	case "shell":
		return jsonedit.Text(tool, "environment", "type") == "local"
	default:
		return slices.ContainsFunc(callerTools[:], func(prefix string) bool { return strings.HasPrefix(kind, prefix) })
	}
}

// functionFields lists the members of a tool without a type that the caller runs: Anthropic's
// {"name":…,"input_schema":…}, Gemini's {"functionDeclarations":[…]}, Converse's {"toolSpec":…}.
var functionFields = [...]string{"functionDeclarations", "toolSpec", "cachePoint", "function", "name", "description", "input_schema", "parameters", "strict", "cache_control", "type"}

func callerRunsUntyped(tool []byte) bool {
	for name, val := range jsonedit.Members(tool) {
		if !isOneOf(name, functionFields[:]) && IsSet(val) {
			return false
		}
	}
	return true
}
