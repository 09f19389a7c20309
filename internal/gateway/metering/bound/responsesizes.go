package bound

import (
	"cmp"
	"hash/maphash"
	"sync"

	"sluice/internal/dialect/responses"
	"sluice/internal/gateway/call"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// A call may continue from content that its provider stores, by the id of a response or a
// conversation ("previous_response_id", "conversation") or of its items. The model reads that
// content again, and it is billed again.
// Source: https://platform.openai.com/docs/guides/conversation-state, read 2026-11.

const (
	defaultContextTokens = 131_072 // maximum input tokens of a model, if the catalog does not contain the limit
	maxContexts          = 1 << 15 // maximum number of responses in each of the two maps
)

// maxContextTokens returns the maximum number of tokens that the provider reads in addition to
// the call. It is the size of the previous response if this gateway has it, else the model's
// input limit. inputLimit is 0 when it is not known.
func (c *Call) maxContextTokens(inputLimit int64, sizes *ResponseSizes) int64 {
	unknown := cmp.Or(inputLimit, defaultContextTokens)
	if hasProviderInput(c) {
		return unknown
	}
	if ep := c.Endpoint; ep != llm.CreateModelResponse && ep != llm.Proxy || c.Conversation != nil {
		return 0
	}
	for _, name := range [...]string{"conversation", "prompt"} {
		if raw := c.sentParam(name); len(raw) > 0 && (raw[0] == '{' || raw[0] == '"' && name == "conversation") {
			return unknown
		}
	}
	if responses.HasReference(c.sentParam("input")) {
		return unknown
	}
	raw := c.sentParam("previous_response_id")
	id, named := jsonedit.Unquote(raw)
	if !named || id == "" || responses.IsID(id) {
		return 0
	}
	if n := sizes.find(c, raw); n > 0 {
		return n
	}
	return unknown
}

// sentParam returns a parameter of the call as it is sent, after the gateway inserted stored
// content.
func (c *Call) sentParam(name string) []byte {
	if _, replaced := call.FindParam(c.Target.Override, name); c.Restored != nil && !replaced {
		raw, _ := jsonedit.Find(c.Restored, name)
		return raw
	}
	raw, _ := c.Raw(name)
	return raw
}

// ResponseSizes stores the token counts of recent responses that providers store. A call that
// continues one of them need not reserve the model's full context. It contains only responses
// that this node returned. Safe for concurrent use.
type ResponseSizes struct {
	seed maphash.Seed

	mu          sync.Mutex       // guards what follows
	now, before map[uint64]int64 // by key; when now is full it replaces before
}

// NewResponseSizes returns an empty store.
func NewResponseSizes() *ResponseSizes {
	return &ResponseSizes{seed: maphash.MakeSeed(), now: make(map[uint64]int64)}
}

// origin identifies the source of a response. It includes the custom host, so that a caller's own
// host cannot report a false size for a response of another host.
type origin struct{ workspace, provider, host, id string }

// Key returns the key of the response to a call, or 0 if the response, a JSON object, does not
// have an id.
func (s *ResponseSizes) Key(c *Call, response []byte) uint64 {
	id, _ := jsonedit.Find(response, "id")
	return s.keyOf(c, id)
}

// keyOf returns the key of a raw id at the provider of a call.
func (s *ResponseSizes) keyOf(c *Call, id []byte) uint64 {
	if len(id) <= len(`""`) || id[0] != '"' {
		return 0
	}
	return max(1, maphash.Comparable(s.seed, origin{c.WorkspaceID, c.Spec.ID, c.host(), string(id)}))
}

// Put stores the size of a response if its provider reported the usage. Its input and output
// tokens are the maximum that the next call reads. A key of 0 stores nothing.
func (s *ResponseSizes) Put(key uint64, u *llm.Usage) {
	if key == 0 || !u.Reported {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.now) >= maxContexts {
		s.now, s.before = make(map[uint64]int64), s.now
	}
	s.now[key] = u.InputTokens + u.OutputTokens
}

// find returns the size of the response with a raw id at the provider of a call, or 0 if it is
// not known.
func (s *ResponseSizes) find(c *Call, id []byte) int64 {
	key := s.keyOf(c, id)
	s.mu.Lock()
	defer s.mu.Unlock()
	if n, ok := s.now[key]; ok {
		return n
	}
	return s.before[key]
}
