package dialect

import (
	"strings"

	"sluice/internal/llm"
	"sluice/internal/splice"
)

// Usage reads from a JSON reply what the call used and which model answered; both are
// empty where the reply does not say. UsagePath is where else the provider puts its
// usage object, for example "x_groq.usage", and may be empty. It looks at the body
// once, needs no valid JSON and does not allocate but for the model's name.
func Usage(ep llm.Endpoint, body []byte, usagePath string) (u llm.Usage, model string) {
	c := newCounts(ep)
	raw := c.readResponse(ep, body, usagePath)
	model, _ = splice.Unquote(raw)
	return c.usage(), model
}

// UsageOf reads a usage object as Usage does.
func UsageOf(ep llm.Endpoint, raw []byte) llm.Usage {
	c := newCounts(ep)
	c.read(raw)
	return c.usage()
}

// ReadResponse is ValidateResponse and, when that accepts the reply, Usage, in one pass. It
// leaves the index of the reply in d for edits to come, where there is one: d.Indexes
// tells.
func ReadResponse(ep llm.Endpoint, body []byte, usagePath string, d *splice.Doc) (u llm.Usage, model string, err error) {
	if splice.Scan(body, d) != nil { // of what repeats a name only the index is refused
		if err := ValidateResponse(ep, body); err != nil {
			return llm.Usage{}, "", err
		}
		u, model = Usage(ep, body, usagePath)
		return u, model, nil
	}
	c := newCounts(ep)
	var raw []byte
	for k := range d.Len() {
		name, val := d.Member(k)
		if m := c.member(ep, name, val, usagePath); m != nil {
			raw = m
		}
	}
	model, _ = splice.Unquote(raw)
	return c.usage(), model, nil
}

// readResponse reads a reply or an event and returns the raw name of the model.
func (c *counts) readResponse(ep llm.Endpoint, body []byte, usagePath string) (model []byte) {
	for name, val := range splice.Members(body) {
		if m := c.member(ep, name, val, usagePath); m != nil {
			model = m
		}
	}
	return model
}

// member reads one member of a reply and returns the raw name of the model if it says
// that.
func (c *counts) member(ep llm.Endpoint, name, val []byte, usagePath string) (model []byte) {
	switch string(name) {
	case `"model"`:
		model = val
		c.named(ep, val)
	case `"usage"`, `"tool_usage"`: // what OpenAI's own tools used stands beside
		c.read(val)
	case `"service_tier"`:
		c.tier(val)
	case `"output"`:
		if ep == llm.CreateModelResponse {
			c.output(val)
		}
	case `"tools"`:
		if ep == llm.CreateModelResponse {
			c.readToolPricing(val)
		}
	case `"response"`, `"message"`: // the events of the responses and messages surfaces
		model = c.wrapped(ep, val)
	case `"meta"`: // rerank as Cohere answers it
		if ep == llm.Rerank || c.through {
			billed, _ := splice.Find(val, "billed_units")
			c.u.Reported = units(billed, &c.u) || c.u.Reported
		}
	case `"usage_info"`: // of documents, as Mistral answers
		if ep == llm.OCR {
			c.read(val)
		}
	case `"pages"`:
		if ep == llm.OCR && c.u.Pages == 0 {
			for range splice.Elements(val) {
				c.u.Pages++
			}
		}
	case `"duration"`:
		if ep == llm.CreateTranscription || ep == llm.CreateTranslation {
			c.duration(val)
		}
	default:
		if c.through {
			model = c.nativeMember(name, val)
		}
	}
	if usagePath != "" {
		if first, rest, _ := strings.Cut(usagePath, "."); splice.IsName(name, first) {
			c.read(lookupPath(val, rest))
		}
	}
	return model
}

// inChoices reads the usage of a chunk whose provider has it there, as Moonshot had before
// it knew stream_options: {"choices":[{"index":0,"delta":{},"usage":{…}}]}.
// Source: https://platform.moonshot.ai/docs/api/chat, read 2026-11.
func (c *counts) inChoices(chunk []byte) {
	list, _ := splice.Find(chunk, "choices")
	for choice := range splice.Elements(list) {
		usage, _ := splice.Find(choice, "usage")
		c.read(usage)
	}
}

// wrapped reads the reply inside an event.
func (c *counts) wrapped(ep llm.Endpoint, raw []byte) (model []byte) {
	for name, val := range splice.Members(raw) {
		switch string(name) {
		case `"model"`:
			model = val
		case `"usage"`, `"tool_usage"`: // what OpenAI's own tools used stands beside
			c.read(val)
		case `"service_tier"`:
			c.tier(val)
		case `"output"`:
			if ep == llm.CreateModelResponse {
				c.output(val)
			}
		case `"tools"`:
			if ep == llm.CreateModelResponse {
				c.readToolPricing(val)
			}
		}
	}
	return model
}

// duration takes the length of the audio when the usage did not give the billed one.
func (c *counts) duration(raw []byte) {
	if c.u.AudioSeconds == 0 && seconds(raw, &c.u.AudioSeconds) {
		c.u.Reported = true
	}
}

// lookupPath follows a dotted path.
func lookupPath(raw []byte, path string) []byte {
	for path != "" {
		var key string
		key, path, _ = strings.Cut(path, ".")
		raw, _ = splice.Find(raw, key)
	}
	return raw
}
