package guardedstream

import (
	"maps"
	"slices"
	"strconv"
)

func (c *chat) release(e *event, _ []byte) {
	if e.counted && len(e.choices) == 0 {
		c.usage = nil // the client received its last state
	}
	for _, index := range e.choices {
		if state := c.choices[index]; state != nil {
			state.started = true
		}
	}
	for _, f := range e.finishes {
		if state := c.choices[f.choice]; state != nil {
			state.finished = true
		}
	}
}

// end appends a chunk with the finish reason for each open choice, the usage that the provider
// counted, and [DONE].
func (c *chat) end(dst []byte, _ *texts) []byte {
	if len(c.choices) == 0 {
		c.choices[0] = &choiceState{}
	}
	for _, index := range slices.Sorted(maps.Keys(c.choices)) {
		if state := c.choices[index]; !state.finished {
			state.finished = true
			dst = c.appendChunk(dst, c.finalChoice(index, state.started), nil)
		}
	}
	if c.usage != nil {
		dst = c.appendChunk(dst, "", c.usage)
	}
	return append(dst, "data: [DONE]\n\n"...)
}

// finalChoice returns the choice of a chunk that ends it.
func (c *chat) finalChoice(index int, started bool) string {
	content := `"delta":{}`
	switch {
	case c.legacy:
		content = `"text":"","logprobs":null`
	case !started:
		content = `"delta":{"role":"assistant","content":""}`
	}
	return `{"index":` + strconv.Itoa(index) + `,` + content + `,"finish_reason":"content_filter"}`
}

// appendChunk appends a chunk with the id, model and time of the earlier ones.
func (c *chat) appendChunk(dst []byte, choices string, usage []byte) []byte {
	object := `"chat.completion.chunk"`
	if c.legacy {
		object = `"text_completion"`
	}
	dst = append(dst, `data: {"id":`...)
	dst = append(dst, orDefault(c.id, `"chatcmpl-denied"`)...)
	dst = append(append(dst, `,"object":`...), object...)
	dst = append(append(dst, `,"created":`...), orDefault(c.created, "0")...)
	dst = append(append(dst, `,"model":`...), orDefault(c.model, `""`)...)
	dst = append(append(append(dst, `,"choices":[`...), choices...), ']')
	if usage != nil {
		dst = append(append(dst, `,"usage":`...), usage...)
	}
	return append(dst, "}\n\n"...)
}

// orDefault returns a raw JSON value, or the other one if it is missing.
func orDefault(raw []byte, missing string) string {
	if len(raw) == 0 {
		return missing
	}
	return string(raw)
}
