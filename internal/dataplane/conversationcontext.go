package dataplane

import (
	"cmp"
	"hash/maphash"
	"sync"

	"sluice/internal/catalog"
	"sluice/internal/dialect/responses"
	"sluice/internal/gateway/responsestore"
	"sluice/internal/llm"
	"sluice/internal/splice"
)

// A call may continue from content that its provider stores, by the id of a response or a
// conversation ("previous_response_id", "conversation") or of its items. The model reads that
// content again, and it is billed again.
// Source: https://platform.openai.com/docs/guides/conversation-state, read 2026-11.

const (
	defaultContextTokens = 131_072 // maximum input tokens of a model, if the catalog does not contain the limit
	maxContexts          = 1 << 15 // maximum number of responses in each of the two maps
)

// fullRequestBody returns the request body, including the earlier turns that the gateway stores.
func (a *attempt) fullRequestBody() []byte {
	switch {
	case a.conversation != nil:
		return a.conversation.Body()
	case a.restored != nil:
		return a.restored
	}
	return a.x.doc.Source()
}

// maxContextTokens returns the maximum number of tokens that the provider reads in addition to
// the call. It is the size of the previous response if this gateway has it, else the model's
// input limit.
func (g *Gateway) maxContextTokens(a *attempt, reach catalog.ContextLimits) int64 {
	unknown := cmp.Or(reach.Input, defaultContextTokens)
	if a.hasProviderInput() {
		return unknown
	}
	if ep := a.x.match.Endpoint; ep != llm.CreateModelResponse && ep != llm.Proxy || a.conversation != nil {
		return 0
	}
	for _, name := range [...]string{"conversation", "prompt"} {
		if raw := a.putBack(name); len(raw) > 0 && (raw[0] == '{' || raw[0] == '"' && name == "conversation") {
			return unknown
		}
	}
	if responsestore.HasReferences(a.putBack("input")) {
		return unknown
	}
	raw := a.putBack("previous_response_id")
	id, named := splice.Unquote(raw)
	if !named || id == "" || responses.IsID(id) {
		return 0
	}
	if n := g.contexts.find(a, raw); n > 0 {
		return n
	}
	return unknown
}

// putBack returns a parameter of the call as it is sent, after the gateway inserted stored
// content.
func (a *attempt) putBack(name string) []byte {
	if _, replaced := setBy(a.target.Override, name); a.restored != nil && !replaced {
		raw, _ := splice.Find(a.restored, name)
		return raw
	}
	raw, _ := paramOf(a, name)
	return raw
}

// contexts stores the token counts of recent responses that providers store. A call that
// continues one of them need not reserve the model's full context. It contains only responses
// that this node returned. Safe for concurrent use.
type contexts struct {
	seed maphash.Seed

	mu          sync.Mutex       // guards what follows
	now, before map[uint64]int64 // by key; when now is full it replaces before
}

func newContexts() *contexts {
	return &contexts{seed: maphash.MakeSeed(), now: make(map[uint64]int64)}
}

// origin identifies the source of a response. It includes the custom host, so that a caller's own
// host cannot report a false size for a response of another host.
type origin struct{ workspace, provider, host, id string }

// key returns the key of the response to an attempt, or 0 if the response does not have an id.
func (c *contexts) key(a *attempt, response []byte) uint64 {
	id, _ := splice.Find(response, "id")
	return c.contextKey(a, id)
}

// contextKey returns the key of a raw id at the provider of an attempt.
func (c *contexts) contextKey(a *attempt, id []byte) uint64 {
	if len(id) <= len(`""`) || id[0] != '"' {
		return 0
	}
	return max(1, maphash.Comparable(c.seed, origin{a.x.key.Principal.WorkspaceID, a.spec.ID, a.customHost(), string(id)}))
}

// note stores the size of a response if its provider reported the usage. Its input and output
// tokens are the maximum that the next call reads.
func (c *contexts) note(key uint64, u *llm.Usage) {
	if key == 0 || !u.Reported {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.now) >= maxContexts {
		c.now, c.before = make(map[uint64]int64), c.now
	}
	c.now[key] = u.InputTokens + u.OutputTokens
}

// find returns the size of the response with a raw id at the provider of an attempt, or 0 if it
// is not known.
func (c *contexts) find(a *attempt, id []byte) int64 {
	key := c.contextKey(a, id)
	c.mu.Lock()
	defer c.mu.Unlock()
	if n, ok := c.now[key]; ok {
		return n
	}
	return c.before[key]
}
