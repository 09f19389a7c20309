package responses

import (
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

func isTrue(raw []byte) bool { return string(raw) == "true" }

// plainName returns a name of jsonedit.Members without quotes and escapes.
func plainName(raw []byte) string {
	s, _ := jsonedit.Unquote(raw)
	return s
}

// extra records a member that this shape does not define.
func extra(list []llm.Param, name, path string, raw []byte) []llm.Param {
	return append(list, llm.Param{Name: name, From: path + "." + name, Raw: raw})
}
