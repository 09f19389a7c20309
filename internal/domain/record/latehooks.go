package record

import (
	"encoding/json"
	"fmt"
	"time"
)

// LateHooks are results of guardrails that arrived after the record of their attempt: those of
// asynchronous hooks. It is one entry of the journal. An attempt may have several, which may be in the
// journal before its own record.
type LateHooks struct {
	ID      string    `json:"id"`    // of the attempt
	Entry   string    `json:"entry"` // UUID v7, of these results; sorts by time
	OrgID   string    `json:"org_id"`
	Started time.Time `json:"started"` // the attempt
	TraceID string    `json:"trace_id,omitempty"`
	SpanID  string    `json:"span_id,omitempty"` // as in Attempt, with Number: the parent of the spans of the hooks
	Number  int32     `json:"number,omitempty"`
	Hooks   string    `json:"hooks"` // as in Attempt
}

// The stored form of LateHooks: the version byte, and the rest as JSON.
const lateHooksVersion = 'H'

// IsLateHooks reports whether a journal entry is a LateHooks, judging by its first byte.
func IsLateHooks(b []byte) bool { return len(b) > 0 && b[0] == lateHooksVersion }

// Encode returns the stored form.
func (h *LateHooks) Encode() ([]byte, error) {
	rest, err := json.Marshal(h)
	if err != nil {
		return nil, fmt.Errorf("encode guardrail results of %s: %w", h.ID, err)
	}
	return append([]byte{lateHooksVersion}, rest...), nil
}

// Decode reads the stored form into h and overwrites it.
func (h *LateHooks) Decode(src []byte) error {
	if !IsLateHooks(src) {
		return fmt.Errorf("guardrail results: %w", errMalformed)
	}
	*h = LateHooks{}
	if err := json.Unmarshal(src[1:], h); err != nil {
		return fmt.Errorf("guardrail results: %w: %w", errMalformed, err)
	}
	return nil
}

// W3CSpan is the number of the span of the attempt.
func (h *LateHooks) W3CSpan() [8]byte { return W3CSpanOf(h.ID, h.SpanID, h.Number) }

// hookLists are the members of Attempt.Hooks.
type hookLists struct {
	Before []json.RawMessage `json:"before_request_hooks"`
	After  []json.RawMessage `json:"after_request_hooks"`
}

// AddHooks adds the results of late, oldest first, to those of the attempt. Unreadable results are left
// out.
func (a *Attempt) AddHooks(late ...string) {
	if len(late) == 0 {
		return
	}
	all := hookLists{Before: []json.RawMessage{}, After: []json.RawMessage{}}
	for _, text := range append([]string{a.Hooks}, late...) {
		var l hookLists
		if text == "" || json.Unmarshal([]byte(text), &l) != nil {
			continue
		}
		all.Before, all.After = append(all.Before, l.Before...), append(all.After, l.After...)
	}
	if b, err := json.Marshal(all); err == nil {
		a.Hooks = string(b)
	}
}
