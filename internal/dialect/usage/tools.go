package usage

import (
	"bytes"
	"slices"
	"strings"

	"sluice/internal/kernel/jsonedit"
)

// itemSuffix ends the types of items that are tool calls.
var itemSuffix = []byte(`_call"`)

// maxContainers is the maximum number of containers of a response that are distinguished.
// Each further call counts as a separate container.
const maxContainers = 16

// output counts the calls of the provider's built-in tools in the output of a response:
//
//	{"type":"web_search_call","action":{"type":"search"}}   a search; opening a page or searching inside it does not count
//	{"type":"file_search_call"}                             a file search
//	{"type":"code_interpreter_call","container_id":"cntr"}  a container session, counted once for all calls in it
//	{"type":"shell_call","environment":{"container_id":"cntr"}}  the same; a shell of the caller does not count
//
// Most outputs contain nothing that looks like a call and are not parsed. A number of searches
// that the provider reports takes precedence over the items.
// Source: https://platform.openai.com/docs/pricing, section built-in tools, read 2026-11.
func (c *Counter) output(raw []byte) {
	if !bytes.Contains(raw, itemSuffix) {
		return
	}
	var searches, files, sessions int64
	var seen [maxContainers][]byte
	for item := range jsonedit.Elements(raw) {
		switch typ, _ := jsonedit.Find(item, "type"); string(typ) {
		case `"web_search_call"`:
			if action, ok := jsonedit.Find(item, "action", "type"); !ok || jsonedit.IsName(action, "search") {
				searches++
			}
		case `"file_search_call"`:
			files++
		case `"code_interpreter_call"`, `"shell_call"`:
			container, _ := jsonedit.Find(item, "container_id")
			if string(typ) == `"shell_call"` {
				if container, _ = jsonedit.Find(item, "environment", "container_id"); len(container) == 0 {
					continue
				}
			}
			if !isAmong(seen[:min(sessions, maxContainers)], container) {
				if sessions < maxContainers {
					seen[sessions] = container
				}
				sessions++
			}
		}
	}
	c.Found.FileSearches, c.Found.CodeSessions = max(c.Found.FileSearches, files), max(c.Found.CodeSessions, sessions)
	if !c.searchesReported {
		c.Found.SearchUnits = max(c.Found.SearchUnits, searches)
	}
}

// isAmong reports whether a container was seen before. A container without a name never
// counts as seen.
func isAmong(seen [][]byte, container []byte) bool {
	for _, s := range seen {
		if len(container) > 0 && bytes.Equal(s, container) {
			return true
		}
	}
	return false
}

// readToolPricing reads the pricing details of the tools that a response repeats:
//
//	{"type":"web_search_preview"}                                                 a tool whose searches have their own price
//	{"type":"code_interpreter","container":{"type":"auto","memory_limit":"4g"}}   the size of containers
//	{"type":"shell","environment":{"type":"container_auto","memory_limit":"4g"}}  the same
//
// Source: https://developers.openai.com/api/docs/pricing, read 2026-11.
func (c *Counter) readToolPricing(tools []byte) {
	if !bytes.Contains(tools, []byte("web_search_preview")) && !bytes.Contains(tools, []byte("memory_limit")) {
		return
	}
	for tool := range jsonedit.Elements(tools) {
		switch typ := jsonedit.Text(tool, "type"); typ {
		case "code_interpreter":
			c.Found.CodeMemory = larger(c.Found.CodeMemory, jsonedit.Text(tool, "container", "memory_limit"))
		case "shell":
			c.Found.CodeMemory = larger(c.Found.CodeMemory, jsonedit.Text(tool, "environment", "memory_limit"))
		default:
			c.preview = c.preview || strings.HasPrefix(typ, "web_search_preview") // some have a date suffix
		}
	}
}

// ContainerMemories are the sizes of containers that have their own price, in ascending order.
func ContainerMemories() []string { return []string{"4g", "16g", "64g"} }

// larger is the larger of two sizes. A size without its own price counts as the smallest.
func larger(a, b string) string {
	all := ContainerMemories()
	if slices.Index(all, b) > slices.Index(all, a) {
		return b
	}
	return a
}
