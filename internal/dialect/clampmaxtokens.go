package dialect

import (
	"slices"
	"strconv"

	"sluice/internal/llm"
)

// ClampMaxTokens is a call of messages with a max_tokens of no more than most, which is all that its
// model gives; lowered says that it was more. Messages must have the limit, so that their
// callers send what Claude gives and other models refuse: in other shapes it is the caller's
// wish. The call itself stays as it is.
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
