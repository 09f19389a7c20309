// Package tokens counts the tokens of conversations, request bodies and responses locally.
// It has two kinds of counts:
//
//   - A Counter estimates the number that the provider will report. For OpenAI's models it
//     uses their vocabulary and their way to count chats; for others the nearest
//     vocabulary with a factor, see families.
//   - MaxCallTokens and MaxRequestTokens never return less than a tokenizer that works on
//     bytes could need. They count bytes and load no vocabulary, so they are cheap enough
//     for every request.
//
// An estimate is never above the maximum for the same input. Start reading at Counter.
//
// Memory: a vocabulary is loaded when the first model that uses it is counted, once per
// process, and remains loaded: 7 MB of heap for o200k_base and 4 MB for cl100k_base, and
// their words in the binary.
//
// Time: at most ExactBytes of text are tokenized, then SampleBytes of samples. The rest is
// extrapolated from these, which Count.Extrapolated reports.
package tokens

import (
	"sync"

	"sluice/internal/kernel/llm"
)

// These limit the text of one count, in bytes. ExactBytes takes about a sixth of a second,
// half a second at worst.
const (
	ExactBytes  = 1 << 20
	SampleBytes = 256 << 10
)

// Count is an estimate.
type Count struct {
	Tokens       int64
	Extrapolated bool // there was more text than ExactBytes: the rest was estimated from samples
	Unseen       int  // media named by URL or id, of unknown size: a typical size was used
}

// Counter estimates token counts. It is safe for concurrent use. It loads nothing until
// needed.
type Counter struct {
	o200k, cl100k func() *vocabulary
}

// New returns a Counter that has loaded nothing.
func New() *Counter {
	return &Counter{o200k: sync.OnceValue(newO200k), cl100k: sync.OnceValue(newCL100k)}
}

// Call estimates what a provider will count as the input of a conversation. model is the name
// at the provider: "gpt-4o-2024-08-06", "anthropic.claude-sonnet-4-5-20250929-v1:0". An
// unknown or empty name counts as a model of no known family.
func (c *Counter) Call(call *llm.Call, model string) Count {
	e := c.estimate(model)
	countCall(e, call)
	return e.count()
}

// Request estimates the input of a raw request body of chatComplete, messages,
// messagesCountTokens, createModelResponse, complete or embed; for any other endpoint it is 0.
// Fields without prompt content are skipped, a body that is not a JSON object counts nothing,
// and nothing is decoded as a whole.
func (c *Counter) Request(ep llm.Endpoint, body []byte, model string) Count {
	e := c.estimate(model)
	countRequest(e, ep, body)
	return e.count()
}

// Response estimates what a provider will count as the output of a response: text, reasoning
// and tool calls, in all choices.
func (c *Counter) Response(r *llm.Response, model string) Count {
	e := c.estimate(model)
	for i := range r.Choices {
		countParts(e, r.Choices[i].Parts)
	}
	return e.count()
}

// ResponseBody estimates the output of a raw response of the endpoints of Request, of which
// embeddings have none, and of createTranscription and createTranslation: {"text":"…"}, plain
// text or subtitles.
func (c *Counter) ResponseBody(ep llm.Endpoint, body []byte, model string) Count {
	e := c.estimate(model)
	countResponse(e, ep, body)
	return e.count()
}

// Text estimates a text on its own, as in a prompt or a response.
func (c *Counter) Text(s, model string) Count {
	e := c.estimate(model)
	e.text(s)
	return e.count()
}

func (c *Counter) estimate(model string) *estimate {
	f := familyOf(model)
	load := c.o200k
	if f.vocabulary == cl100k {
		load = c.cl100k
	}
	return &estimate{family: f, meter: meter{load: load, exact: ExactBytes, sample: SampleBytes}}
}
