package conversation

import (
	"slices"
	"strconv"

	"sluice/internal/kernel/llm"
)

// ClampMaxTokens returns a call of messages with max_tokens of at most limit, the maximum of its
// model. Lowered reports whether it was more. Messages require the parameter, so their clients send
// Claude's maximum, which other models reject. In other shapes the value is the caller's choice and
// remains. It does not change c.
func ClampMaxTokens(c *llm.Call, limit int64) (clamped *llm.Call, lowered bool) {
	if c.Surface != llm.Messages || limit <= 0 {
		return c, false
	}
	index := slices.IndexFunc(c.Params, func(p llm.Param) bool { return p.Name == llm.MaxTokens })
	if index < 0 {
		return c, false
	}
	n, err := strconv.ParseInt(string(c.Params[index].Raw), 10, 64)
	if err != nil || n <= limit {
		return c, false
	}
	lower := *c
	lower.Params = slices.Clone(c.Params)
	lower.Params[index].Raw = strconv.AppendInt(nil, limit, 10)
	return &lower, true
}
