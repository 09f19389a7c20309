package conversation

import (
	"encoding/json"
	"strings"

	"sluice/internal/kernel/jsonedit"
)

// EffortOf converts a reasoning budget in Anthropic's format to an effort in OpenAI's format:
// {"type":"enabled","budget_tokens":2048} is "medium". It is "" for anything else.
// Source: contract/provider-transforms.md 9.1.
func EffortOf(thinking []byte) string {
	if jsonedit.Text(thinking, "type") != "enabled" {
		return ""
	}
	raw, _ := jsonedit.Find(thinking, "budget_tokens")
	var budget int64
	if json.Unmarshal(raw, &budget) != nil {
		return ""
	}
	switch {
	case budget <= 1024:
		return "low"
	case budget <= 8192:
		return "medium"
	}
	return "high"
}

// Reasons reports whether a model accepts a reasoning effort. OpenAI's older models reject it. It
// is true for unknown models.
// Source: https://platform.openai.com/docs/guides/reasoning, read 2026-11.
func Reasons(model string) bool {
	name := model[strings.LastIndexByte(model, '/')+1:]
	return !strings.HasPrefix(name, "gpt-3") && !strings.HasPrefix(name, "gpt-4") && !strings.HasPrefix(name, "chatgpt-4")
}

// ThinkingText is the text of an element of such a list, {"type":"thinking",…}, whose thinking
// is a list of texts or a string. It is false for any other element.
func ThinkingText(raw []byte) (string, bool) {
	if jsonedit.Text(raw, "type") != "thinking" {
		return "", false
	}
	thinking, _ := jsonedit.Find(raw, "thinking")
	if text, ok := jsonedit.Unquote(thinking); ok {
		return text, true
	}
	var b strings.Builder
	for val := range jsonedit.Elements(thinking) {
		b.WriteString(jsonedit.Text(val, "text"))
	}
	return b.String(), true
}
