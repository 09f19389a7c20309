package main

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// key is a key of the gateway with a budget.
type key struct {
	id     string
	secret string
	limit  int64 // nano-dollars
}

// result is what the caller saw of a call.
type result uint8

const (
	incomplete result = iota // nothing, or not all of it
	answered                 // the whole answer
	refused                  // that its budget does not allow it
)

// call is one call of an epoch.
type call struct {
	number    int // from 1
	key       *key
	stream    bool
	result    result
	requestID string // of the answer
}

// body is the request.
func (c *call) body(epoch int) []byte {
	stream := ""
	if c.stream {
		stream = `,"stream":true,"stream_options":{"include_usage":true}`
	}
	return fmt.Appendf(nil, `{"model":"@%s/%s","user":"%d","service_tier":"default","max_tokens":%d%s,"messages":[{"role":"user","content":"go on"}]}`,
		upstreamSlug, model, epoch, c.number*lengthStep, stream)
}

// epoch is some runs with the same keys. Behind it the keys are used no more, but what
// they used must stay as it was.
type epoch struct {
	number int
	keys   []*key
	began  time.Time

	mu    sync.Mutex // guards what follows
	calls []*call
	rates []int64 // that a token of input may have cost, in nano-dollars; the last one is that of now
}

// charge notes that a token of input may cost so much from now on.
func (e *epoch) charge(rate int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.rates = append(e.rates, rate)
}

// charged are the rates that there may have been.
func (e *epoch) charged() []int64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.rates)
}

// billed notes that all of the epoch was billed again, at the last rate.
func (e *epoch) billed() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.rates = e.rates[len(e.rates)-1:]
}

// begin makes the next call.
func (e *epoch) begin(k *key, stream bool) *call {
	e.mu.Lock()
	defer e.mu.Unlock()
	c := &call{number: len(e.calls) + 1, key: k, stream: stream}
	e.calls = append(e.calls, c)
	return c
}

// end notes what became of it.
func (e *epoch) end(c *call, r result, requestID string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	c.result, c.requestID = r, requestID
}

// callsOf returns the calls of a key by their numbers.
func (e *epoch) callsOf(k *key) map[int]call {
	e.mu.Lock()
	defer e.mu.Unlock()
	out := map[int]call{}
	for _, c := range e.calls {
		if c.key == k {
			out[c.number] = *c
		}
	}
	return out
}

// counts are calls by what the callers saw.
type counts struct{ answered, refused, incomplete int }

func (e *epoch) count() (n counts) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, c := range e.calls {
		switch c.result {
		case answered:
			n.answered++
		case refused:
			n.refused++
		case incomplete:
			n.incomplete++
		}
	}
	return n
}

func (n counts) less(m counts) counts {
	return counts{n.answered - m.answered, n.refused - m.refused, n.incomplete - m.incomplete}
}
