// Package entry declares what the cache stores: a complete response, what a hit needs to know
// about it, and the tags by which it is purged. It encodes entries for stores outside of the
// process, sealed if a Sealer is set, and decides which responses may be stored. Start with Entry
// and Storable.
//
// The package stores nothing, and does not compute keys.
package entry

import (
	"time"

	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/wire"
)

// Entry is a stored response. It is shared between requests: do not change it, nor the slices in
// it, after it was put into a store or handed to followers.
type Entry struct {
	Endpoint    llm.Endpoint // of the route whose format Body has
	Status      int          // 200
	ContentType string       // "application/json"
	Header      wire.Header  // further headers to repeat, chosen by the gateway
	Body        []byte       // complete response; a stream is assembled to the JSON response of its endpoint

	Usage    llm.Usage     // tokens that the provider counted
	CostNano int64         // cost of the call in nano-dollars: what a hit saves
	Latency  time.Duration // of the call to the provider
	Provider string        // "openai"
	Model    string        // name that the provider reported

	Created time.Time
	Expires time.Time

	Tags       Tags
	Guardrails []string // ids and versions of the guardrails that judged the response: "gr-pii@7"
	Matched    string   // semantic entries: the last user text, by which the entry is found
}

// Expired reports whether the entry must not be used any more.
func (e *Entry) Expired(now time.Time) bool { return !now.Before(e.Expires) }

// overhead is the memory of an entry besides its texts, in bytes: the struct, its node in a list
// and its slot in a map.
const overhead = 1 << 10

// Size returns the memory of the entry in bytes, approximately.
func (e *Entry) Size() int64 {
	n := overhead + len(e.Body) + len(e.ContentType) + len(e.Matched) + len(e.Provider) + len(e.Model)
	for _, f := range e.Header {
		n += len(f.Name) + len(f.Value)
	}
	for _, g := range e.Guardrails {
		n += len(g)
	}
	for _, t := range e.Tags.values() {
		n += len(t)
	}
	return int64(n)
}

// Sealer encrypts entries outside of the process. *sealed.Sealer implements it. Its methods are
// safe for concurrent use.
type Sealer interface {
	Seal(plain []byte, context string) ([]byte, error)
	Open(data []byte, context string) ([]byte, error)
}
