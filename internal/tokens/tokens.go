// Package tokens counts the tokens of conversations, of request bodies and of answers
// without asking anybody. It makes two promises, and they are kept apart:
//
//   - A Counter estimates: the number closest to what the provider will say. For the
//     models of OpenAI that is their own vocabulary and their own way to count chats; for
//     others it is the nearest vocabulary with a factor, see families.
//   - The Bound functions never say less than a tokenizer that works on bytes could
//     need. They count bytes and load no vocabulary, so they are fit for every request.
//
// An estimate is never above the bound of the same thing.
//
// Memory: a vocabulary is loaded when the first model of it is counted, once for a
// process, and stays: 7 MB of the heap for o200k_base and 4 MB for cl100k_base, and their
// words in the binary.
//
// Time: at most ExactBytes of text are put through the vocabulary, then SampleBytes of
// samples; the rest is reckoned from these and Count.Extrapolated says so.
package tokens

import (
	"sync"

	"sluice/internal/llm"
)

// Limits of the text of one count, in bytes. The first takes about a sixth of a
// second, half a one at worst.
const (
	ExactBytes  = 1 << 20
	SampleBytes = 256 << 10
)

// Count is an estimate.
type Count struct {
	Tokens       int64
	Extrapolated bool // there was more text than ExactBytes: the rest was reckoned from samples
	Unseen       int  // media named by URL or id, whose size nobody here knows: the figure of a usual one was taken
}

// Counter estimates. Safe for concurrent use; nothing is loaded until it is needed.
type Counter struct {
	o200k, cl100k func() *vocabulary
}

// New makes a counter that has loaded nothing.
func New() *Counter {
	return &Counter{o200k: sync.OnceValue(newO200k), cl100k: sync.OnceValue(newCL100k)}
}

// Call counts what a provider will count as the input of a conversation. Model is as the
// provider knows it: "gpt-4o-2024-08-06", "anthropic.claude-sonnet-4-5-20250929-v1:0";
// an unknown or empty one is counted as a model of no known family.
func (c *Counter) Call(call *llm.Call, model string) Count {
	e := c.estimate(model)
	countCall(e, call)
	return e.count()
}

// Request counts the input of a raw request body of chatComplete, messages,
// messagesCountTokens, createModelResponse, complete or embed; of any other endpoint it
// is nothing. Fields that hold no prompt are not looked at, what is no JSON object counts
// nothing, and nothing is decoded as a whole.
func (c *Counter) Request(ep llm.Endpoint, body []byte, model string) Count {
	e := c.estimate(model)
	countRequest(e, ep, body)
	return e.count()
}

// Response counts what a provider will count as the output of an answer: what was said,
// thought and called, in all choices.
func (c *Counter) Response(r *llm.Response, model string) Count {
	e := c.estimate(model)
	for i := range r.Choices {
		countParts(e, r.Choices[i].Parts)
	}
	return e.count()
}

// ResponseBody counts the output of a raw answer of the endpoints of Request, of which embeddings
// have none, and of createTranscription and createTranslation: {"text":"…"}, or a text or
// subtitles as they stand.
func (c *Counter) ResponseBody(ep llm.Endpoint, body []byte, model string) Count {
	e := c.estimate(model)
	countResponse(e, ep, body)
	return e.count()
}

// Text counts a text by itself, as it stands in a prompt or an answer.
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
