package replay

import (
	"cmp"

	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// addUsage adds the usage to a chat or text completion that has none.
func addUsage(edits []jsonedit.Edit, ep llm.Endpoint, d *jsonedit.Doc, u *llm.Usage) []jsonedit.Edit {
	raw, _ := d.Raw("usage")
	if !u.Reported || !jsonedit.IsNull(raw) || ep != llm.ChatComplete && ep != llm.Complete {
		return edits
	}
	return append(edits, jsonedit.Set("usage", completionUsage(u)))
}

// completionUsage returns the usage in the format of chat and text completions.
func completionUsage(u *llm.Usage) []byte {
	var w jsonwriter.Writer
	w.Open('{')
	w.Int("prompt_tokens", u.InputTokens)
	w.Int("completion_tokens", u.OutputTokens)
	w.Int("total_tokens", cmp.Or(u.TotalTokens, u.InputTokens+u.OutputTokens))
	w.Key("prompt_tokens_details").Open('{')
	w.Int("cached_tokens", u.CachedTokens)
	w.Close('}')
	w.Key("completion_tokens_details").Open('{')
	w.Int("reasoning_tokens", u.ReasoningTokens)
	w.Close('}')
	w.Close('}')
	return w.B
}
