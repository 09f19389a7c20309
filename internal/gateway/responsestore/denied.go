package responsestore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"sluice/internal/kernel/fault"
)

// Deny remembers that guardrails denied a response that its provider stores, for as long as responses
// are stored. All nodes find it in the database. A nil Store remembers nothing.
func (s *Store) Deny(workspace, id string) error {
	if s == nil {
		return nil
	}
	return s.save(workspace, denialID(workspace, id), []byte("[]"), []byte(`{"denied":true}`))
}

// IsDenied reports whether guardrails denied a response of a workspace. The error is that of the
// database.
func (s *Store) IsDenied(ctx context.Context, workspace, id string) (bool, error) {
	if s == nil {
		return false, nil
	}
	_, _, err := s.find(ctx, workspace, denialID(workspace, id))
	if fault.Has(err, fault.NotFound) {
		return false, nil
	}
	return err == nil, err
}

// denialID returns the id of the row of a denied response. Ids of providers are of any length.
func denialID(workspace, id string) string {
	sum := sha256.Sum256([]byte(workspace + "\x00" + id))
	return "denied_" + hex.EncodeToString(sum[:24])
}

// Stage makes the response wait for Commit before it is stored. c may be nil.
func (c *Conversation) Stage() {
	if c != nil {
		c.staging = true
	}
}

// Commit stores the response that waits. changed is the response that guardrails made of it; nil if they
// changed nothing. Without Commit it is not stored. c may be nil.
func (c *Conversation) Commit(changed []byte) {
	if c == nil || c.waiting == nil {
		return
	}
	if changed == nil {
		changed = c.waiting
	}
	c.staging, c.waiting = false, nil
	c.take(changed)
}
