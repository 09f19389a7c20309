package secretmanager

import (
	"sync"
	"time"

	"sluice/internal/domain/credential"
	"sluice/internal/kernel/ident"
)

// tokens keeps what logins brought, by source, until shortly before its end. A source
// is fetched once at a time, so that no two logins race for one.
type tokens struct {
	clock ident.Clock
	mu    sync.Mutex // guards held
	held  map[string]heldToken
}

type heldToken struct {
	revision int64
	token    string
	ends     time.Time
}

func newTokens(clock ident.Clock) *tokens {
	return &tokens{clock: clock, held: make(map[string]heldToken)}
}

// get returns the token of a source, from a login when none is held that still lives.
func (t *tokens) get(s *credential.SecretSource, login func() (login, error)) (string, error) {
	t.mu.Lock()
	h, ok := t.held[s.RecordID]
	t.mu.Unlock()
	now := t.clock.Now()
	if ok && h.revision == s.Revision && now.Before(h.ends) {
		return h.token, nil
	}
	l, err := login()
	if err != nil {
		return "", err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.held) >= maxCachedSecrets {
		clear(t.held) // costs one login each
	}
	life := time.Duration(l.seconds) * time.Second
	t.held[s.RecordID] = heldToken{s.Revision, l.token, now.Add(life - life/10)}
	return l.token, nil
}

// forget drops the token of a source and reports whether there was one.
func (t *tokens) forget(s *credential.SecretSource) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, had := t.held[s.RecordID]
	delete(t.held, s.RecordID)
	return had
}
