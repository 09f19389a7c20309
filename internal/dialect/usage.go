package dialect

import (
	"strings"

	"sluice/internal/dialect/jsonscan"
	"sluice/internal/dialect/sniff"
	"sluice/internal/llm"
	"sluice/internal/splice"
)

// Usage reads the usage and the model name from a JSON response. Both are empty if the
// response does not contain them. UsagePath is an additional path of the provider's usage
// object, for example "x_groq.usage", and may be empty. It reads the body once, does not
// need valid JSON and allocates only the model name.
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

// ReadResponse combines sniff.CheckObject and, if that accepts the response, Usage in one pass.
// It stores the index of the response in d for later edits, if there is one; d.Indexes
// reports that.
func ReadResponse(ep llm.Endpoint, body []byte, usagePath string, d *splice.Doc) (u llm.Usage, model string, err error) {
	if splice.Scan(body, d) != nil { // a repeated name only prevents the index
		if err := sniff.CheckObject(ep, body); err != nil {
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

// readResponse reads a response or an event and returns the raw name of the model.
func (c *counts) readResponse(ep llm.Endpoint, body []byte, usagePath string) (model []byte) {
	for name, val := range splice.Members(body) {
		if m := c.member(ep, name, val, usagePath); m != nil {
			model = m
		}
	}
	return model
}

// member reads one member of a response. It returns the raw name of the model if the member
// has it.
func (c *counts) member(ep llm.Endpoint, name, val []byte, usagePath string) (model []byte) {
	switch string(name) {
	case `"model"`:
		model = val
		c.named(ep, val)
	case `"usage"`, `"tool_usage"`: // the usage of OpenAI's built-in tools is a separate member
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
	case `"meta"`: // rerank in Cohere's format
		if ep == llm.Rerank || c.through {
			billed, _ := splice.Find(val, "billed_units")
			c.u.Reported = units(billed, &c.u) || c.u.Reported
		}
	case `"usage_info"`: // of documents, in Mistral's format
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
			c.read(jsonscan.FindPath(val, rest))
		}
	}
	return model
}

// inChoices reads the usage of a chunk whose provider puts it in the choices, as Moonshot did
// before it supported stream_options: {"choices":[{"index":0,"delta":{},"usage":{…}}]}.
// Source: https://platform.moonshot.ai/docs/api/chat, read 2026-11.
func (c *counts) inChoices(chunk []byte) {
	list, _ := splice.Find(chunk, "choices")
	for choice := range splice.Elements(list) {
		usage, _ := splice.Find(choice, "usage")
		c.read(usage)
	}
}

// wrapped reads the response inside an event.
func (c *counts) wrapped(ep llm.Endpoint, raw []byte) (model []byte) {
	for name, val := range splice.Members(raw) {
		switch string(name) {
		case `"model"`:
			model = val
		case `"usage"`, `"tool_usage"`: // the usage of OpenAI's built-in tools is a separate member
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

// duration reads the length of the audio if the usage did not report the billed one.
func (c *counts) duration(raw []byte) {
	if c.u.AudioSeconds == 0 && seconds(raw, &c.u.AudioSeconds) {
		c.u.Reported = true
	}
}
