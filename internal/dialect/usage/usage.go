// Package usage reads the tokens and other billed units that a response or an event reports, in the
// format of any provider. Start with Read; Scanner reads bodies that are too large to buffer.
package usage

import (
	"strings"

	"sluice/internal/dialect/jsonscan"
	"sluice/internal/dialect/sniff"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// Read reads the usage and the model name from a JSON response. Both are empty if the
// response does not contain them. UsagePath is an additional path of the provider's usage
// object, for example "x_groq.usage", and may be empty. It reads the body once, does not
// need valid JSON and allocates only the model name.
func Read(ep llm.Endpoint, body []byte, usagePath string) (u llm.Usage, model string) {
	c := NewCounter(ep)
	raw := c.ReadResponse(ep, body, usagePath)
	model, _ = jsonedit.Unquote(raw)
	return c.Usage(), model
}

// ReadObject reads a usage object as Usage does.
func ReadObject(ep llm.Endpoint, raw []byte) llm.Usage {
	c := NewCounter(ep)
	c.Read(raw)
	return c.Usage()
}

// ReadResponse combines sniff.CheckObject and, if that accepts the response, Usage in one pass.
// It stores the index of the response in d for later edits, if there is one; d.Indexes
// reports that.
func ReadResponse(ep llm.Endpoint, body []byte, usagePath string, d *jsonedit.Doc) (u llm.Usage, model string, err error) {
	if jsonedit.Scan(body, d) != nil { // a repeated name only prevents the index
		if err := sniff.CheckObject(ep, body); err != nil {
			return llm.Usage{}, "", err
		}
		u, model = Read(ep, body, usagePath)
		return u, model, nil
	}
	c := NewCounter(ep)
	var raw []byte
	for k := range d.Len() {
		name, val := d.Member(k)
		if m := c.member(ep, name, val, usagePath); m != nil {
			raw = m
		}
	}
	model, _ = jsonedit.Unquote(raw)
	return c.Usage(), model, nil
}

// ReadResponse reads a response or an event and returns the raw name of the model.
func (c *Counter) ReadResponse(ep llm.Endpoint, body []byte, usagePath string) (model []byte) {
	for name, val := range jsonedit.Members(body) {
		if m := c.member(ep, name, val, usagePath); m != nil {
			model = m
		}
	}
	return model
}

// member reads one member of a response. It returns the raw name of the model if the member
// has it.
func (c *Counter) member(ep llm.Endpoint, name, val []byte, usagePath string) (model []byte) {
	switch string(name) {
	case `"model"`:
		model = val
		c.named(ep, val)
	case `"usage"`, `"tool_usage"`: // the usage of OpenAI's built-in tools is a separate member
		c.Read(val)
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
		if ep == llm.Rerank || c.PassedThrough {
			billed, _ := jsonedit.Find(val, "billed_units")
			c.Found.Reported = units(billed, &c.Found) || c.Found.Reported
		}
	case `"usage_info"`: // of documents, in Mistral's format
		if ep == llm.OCR {
			c.Read(val)
		}
	case `"pages"`:
		if ep == llm.OCR && c.Found.Pages == 0 {
			for range jsonedit.Elements(val) {
				c.Found.Pages++
			}
		}
	case `"duration"`:
		if ep == llm.CreateTranscription || ep == llm.CreateTranslation {
			c.duration(val)
		}
	default:
		if c.PassedThrough {
			model = c.nativeMember(name, val)
		}
	}
	if usagePath != "" {
		if first, rest, _ := strings.Cut(usagePath, "."); jsonedit.IsName(name, first) {
			c.Read(jsonscan.FindPath(val, rest))
		}
	}
	return model
}

// ReadChoices reads the usage of a chunk whose provider puts it in the choices, as Moonshot did
// before it supported stream_options: {"choices":[{"index":0,"delta":{},"usage":{…}}]}.
// Source: https://platform.moonshot.ai/docs/api/chat, read 2026-11.
func (c *Counter) ReadChoices(chunk []byte) {
	list, _ := jsonedit.Find(chunk, "choices")
	for choice := range jsonedit.Elements(list) {
		usage, _ := jsonedit.Find(choice, "usage")
		c.Read(usage)
	}
}

// wrapped reads the response inside an event.
func (c *Counter) wrapped(ep llm.Endpoint, raw []byte) (model []byte) {
	for name, val := range jsonedit.Members(raw) {
		switch string(name) {
		case `"model"`:
			model = val
		case `"usage"`, `"tool_usage"`: // the usage of OpenAI's built-in tools is a separate member
			c.Read(val)
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
func (c *Counter) duration(raw []byte) {
	if c.Found.AudioSeconds == 0 && seconds(raw, &c.Found.AudioSeconds) {
		c.Found.Reported = true
	}
}
