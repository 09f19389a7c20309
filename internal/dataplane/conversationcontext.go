package dataplane

import (
	"cmp"
	"hash/maphash"
	"sync"

	"sluice/internal/catalog"
	"sluice/internal/dialect/responses"
	"sluice/internal/llm"
	"sluice/internal/splice"
)

// A call may go on from what its provider keeps, by the id of a response or a conversation
// ("previous_response_id", "conversation") or of its items. The model reads that again, and it
// is paid again.
// Source: https://platform.openai.com/docs/guides/conversation-state, read 2026-11.

const (
	defaultContextTokens = 131_072 // tokens that a model reads at most, unless the catalog knows better
	maxContexts          = 1 << 15 // responses of which the length is remembered, twice
)

// fullRequestBody is what the caller asks for, with what was said before as far as the gateway keeps it.
func (a *attempt) fullRequestBody() []byte {
	switch {
	case a.conversation != nil:
		return a.conversation.body
	case a.restored != nil:
		return a.restored
	}
	return a.x.doc.Source()
}

// maxContextTokens bounds the tokens that the provider reads beside the call: what the response
// before came to, where this gateway remembers it, else as much as the model reads.
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
	if hasReferences(a.putBack("input")) {
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

// putBack is a parameter of a call as it is sent, with what the gateway put back into it.
func (a *attempt) putBack(name string) []byte {
	if _, replaced := setBy(a.target.Override, name); a.restored != nil && !replaced {
		raw, _ := splice.Find(a.restored, name)
		return raw
	}
	raw, _ := paramOf(a, name)
	return raw
}

// contexts remember how many tokens the last responses came to that providers keep, so that
// what goes on from one need not hold for all that a model can read. They are those that this
// node answered with. Safe for concurrent use.
type contexts struct {
	seed maphash.Seed

	mu          sync.Mutex       // guards what follows
	now, before map[uint64]int64 // by key; when now is full it takes the place of before
}

func newContexts() *contexts {
	return &contexts{seed: maphash.MakeSeed(), now: make(map[uint64]int64)}
}

// origin is whose a response is. A caller's own host could say of another's that it was
// short: it is believed of its own alone.
type origin struct{ workspace, provider, host, id string }

// key is that of a response that answers an attempt; 0 for one without an id.
func (c *contexts) key(a *attempt, response []byte) uint64 {
	id, _ := splice.Find(response, "id")
	return c.contextKey(a, id)
}

// contextKey is the key of a raw id where an attempt goes to.
func (c *contexts) contextKey(a *attempt, id []byte) uint64 {
	if len(id) <= len(`""`) || id[0] != '"' {
		return 0
	}
	return max(1, maphash.Comparable(c.seed, origin{a.x.key.Principal.WorkspaceID, a.spec.ID, a.customHost(), string(id)}))
}

// note remembers what a response came to, as far as its provider said it: what it read and
// what it answered are what the next one reads at most.
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

// find is what the response of a raw id came to where an attempt goes to; 0 where nobody
// remembers it.
func (c *contexts) find(a *attempt, id []byte) int64 {
	key := c.contextKey(a, id)
	c.mu.Lock()
	defer c.mu.Unlock()
	if n, ok := c.now[key]; ok {
		return n
	}
	return c.before[key]
}
