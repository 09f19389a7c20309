package bound

import (
	"bytes"
	"slices"
	"strings"

	"sluice/internal/dialect/gemini"
	"sluice/internal/domain/providerjob"
	"sluice/internal/domain/routing"
	"sluice/internal/kernel/jsonedit"
)

// A provider may add input that is not in the body of the call: results of its tools and content
// that it stores. The model reads that input, and it is billed as input.

// contentFields lists the body members that contain content or tools that the caller runs. They
// never start a search.
var contentFields = map[string]bool{
	`"messages"`: true, `"input"`: true, `"prompt"`: true, `"system"`: true, `"instructions"`: true, `"contents"`: true,
	`"systemInstruction"`: true, `"system_instruction"`: true, `"functions"`: true, `"tool_choice"`: true, `"response_format"`: true, `"metadata"`: true,
}

// extraHolders lists the members in which client libraries send additional members.
var extraHolders = map[string]bool{"extrabody": true, "google": true, "parameters": true}

// hasProviderInput reports whether the provider may add input to the call.
func hasProviderInput(c *Call) bool {
	if c.Spec.ID == "openrouter" && (strings.Contains(c.Model, "@preset/") || strings.HasSuffix(c.Model, ":online")) {
		return true
	}
	for _, params := range [...][]routing.Param{c.Target.Override, c.Target.Default} {
		for i := range params {
			if p := &params[i]; !slices.Contains(c.Target.Drop, p.Key) && isProviderInput(c, []byte(p.Key), p.Raw, 0) {
				return true
			}
		}
	}
	if c.Doc == nil {
		return false
	}
	for k := range c.Doc.Len() {
		if name, val := c.Doc.Member(k); !contentFields[string(name)] && !c.IsReplaced(name) && isProviderInput(c, name, val, 0) {
			return true
		}
	}
	return false
}

// isProviderInput reports whether one parameter may make the provider add input. name may be raw
// JSON.
func isProviderInput(c *Call, name, val []byte, depth int) bool {
	var key [longestName]byte
	plain := plainName(key[:0], name)
	switch {
	case string(plain) == "tools":
		return hasProviderTool(c, val, "")
	case string(plain) == "toolconfig": // of Converse, whose tools belong to the caller or to the system
		return bytes.Contains(val, []byte(`"systemTool"`))
	case providerjob.AddsInput(string(plain)):
		return providerjob.IsSet(val)
	case depth < 2 && extraHolders[string(plain)]:
		for name, member := range jsonedit.Members(val) {
			if isProviderInput(c, name, member, depth+1) {
				return true
			}
		}
	}
	return false
}

// hasProviderTool reports whether a raw list has a tool that the provider runs, or may run, and
// that contains word. An empty word matches each tool.
func hasProviderTool(c *Call, tools []byte, word string) bool {
	if len(tools) > 0 && tools[0] == '{' {
		return mentions(tools, word)
	}
	for tool := range jsonedit.Elements(tools) {
		if mentions(tool, word) && (!providerjob.CallerRuns(tool) || isGoogleBuiltin(c, tool)) {
			return true
		}
	}
	return false
}

// isGoogleBuiltin reports whether Google itself runs a tool that is declared like a caller's
// function.
func isGoogleBuiltin(c *Call, tool []byte) bool {
	if c.Spec.ID != "google" && c.Spec.ID != "vertex-ai" {
		return false
	}
	return gemini.IsBuiltin(jsonedit.Text(tool, "name")) || gemini.IsBuiltin(jsonedit.Text(tool, "function", "name"))
}

// mentionsSearch reports whether a parameter outside the conversation mentions search. Tools that
// the caller runs do not count.
func mentionsSearch(c *Call) bool {
	for _, params := range [...][]routing.Param{c.Target.Override, c.Target.Default} {
		for i := range params {
			if isSearchParam(c, []byte(params[i].Key), params[i].Raw) {
				return true
			}
		}
	}
	if c.Doc == nil {
		return false
	}
	for k := range c.Doc.Len() {
		if name, val := c.Doc.Member(k); !contentFields[string(name)] && isSearchParam(c, name, val) {
			return true
		}
	}
	return false
}

// isSearchParam is mentionsSearch for one parameter.
func isSearchParam(c *Call, name, val []byte) bool {
	var key [longestName]byte
	if string(plainName(key[:0], name)) != "tools" {
		return mentions(name, "search") || mentions(val, "search")
	}
	return hasProviderTool(c, val, "search")
}

// mentions reports whether a raw value or name contains a word in any spelling: "googleSearch"
// contains search, and "codeExecution" contains code_execution. The word must be in lower case.
func mentions(raw []byte, word string) bool {
	if word == "" {
		return true
	}
	if bytes.Contains(raw, []byte(`\u`)) {
		raw = jsonedit.AppendUnquoted(nil, raw)
	}
	return mentionsPlain(raw, strings.ReplaceAll(word, "_", ""))
}

// mentionsPlain is mentions for an unescaped value and a word without underscores.
func mentionsPlain(raw []byte, word string) bool {
	for at := range raw {
		if hasSpelling(raw[at:], word) {
			return true
		}
	}
	return false
}

// hasSpelling reports whether a text begins with a word, ignoring case, underscores and hyphens.
func hasSpelling(text []byte, word string) bool {
	for _, c := range text {
		switch {
		case word == "":
			return true
		case c == '_' || c == '-':
			continue
		case c|0x20 != word[0]:
			return false
		}
		word = word[1:]
	}
	return word == ""
}
