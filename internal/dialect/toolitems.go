package dialect

import (
	"bytes"

	"sluice/internal/splice"
)

// itemSuffix ends the types of items that are calls of tools.
var itemSuffix = []byte(`_call"`)

// containersMost bounds the containers of a response that are told apart; further calls
// count as a container each.
const containersMost = 16

// output counts the calls of the provider's own tools in the output of a response:
//
//	{"type":"web_search_call","action":{"type":"search"}}   a search; opening a page and looking into it are none
//	{"type":"file_search_call"}                             a search of files
//	{"type":"code_interpreter_call","container_id":"cntr"}  a session of a container, once for all calls in it
//
// Nothing in it looks like a call in most outputs: these are not walked through. A number of
// searches that the provider itself gives counts before the items.
// Source: https://platform.openai.com/docs/pricing, section built-in tools, read 2026-11.
func (c *counts) output(raw []byte) {
	if !bytes.Contains(raw, itemSuffix) {
		return
	}
	var searches, files, sessions int64
	var seen [containersMost][]byte
	for item := range splice.Elements(raw) {
		switch typ, _ := splice.Find(item, "type"); string(typ) {
		case `"web_search_call"`:
			if action, ok := splice.Find(item, "action", "type"); !ok || splice.IsName(action, "search") {
				searches++
			}
		case `"file_search_call"`:
			files++
		case `"code_interpreter_call"`:
			container, _ := splice.Find(item, "container_id")
			if !isAmong(seen[:min(sessions, containersMost)], container) {
				if sessions < containersMost {
					seen[sessions] = container
				}
				sessions++
			}
		}
	}
	c.u.FileSearches, c.u.CodeSessions = max(c.u.FileSearches, files), max(c.u.CodeSessions, sessions)
	if !c.told {
		c.u.SearchUnits = max(c.u.SearchUnits, searches)
	}
}

// isAmong reports whether a container is among those that were seen; nobody knows one
// without a name.
func isAmong(seen [][]byte, container []byte) bool {
	for _, s := range seen {
		if len(container) > 0 && bytes.Equal(s, container) {
			return true
		}
	}
	return false
}
