// Package pins stores which target of a conversation has a warm prompt cache, so that the next
// call of the conversation goes to the same target.
//
// A pin is a preference, not a route: the caller of Prefer passes the targets that are usable now,
// and a pin to any other target has no effect. A pin ends when the cache of the provider expires,
// when it is dropped, because its target failed or is overloaded, or when the memory for pins is
// used up. Pins are in the memory of one node; another node makes its own.
//
// The package does not choose targets and does not identify conversations: package promptcache does
// the latter. Start with Pins.
package pins

import (
	"container/list"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"sync"
	"time"

	"sluice/internal/kernel/ident"
)

// Key identifies a conversation of one API key in one workspace. It reveals nothing of them.
type Key [sha256.Size]byte

// NewKey returns the key of a conversation: NewKey("ws-1", "ak-1", "session:4f0c…"). The same
// conversation id of another API key or workspace has another key.
func NewKey(workspace, apiKey, conversation string) (k Key) {
	h := sha256.New()
	for _, part := range [...]string{workspace, apiKey, conversation} {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(part)))
		h.Write(size[:])
		h.Write([]byte(part))
	}
	h.Sum(k[:0])
	return k
}

// MaxLifetime is the maximum lifetime of a pin. No provider caches prompts for longer.
const MaxLifetime = 24 * time.Hour

// Pins are the pins of a node. Safe for concurrent use. Create one with New.
type Pins struct {
	clock   ident.Clock
	maxPins int

	mu     sync.Mutex // guards the fields below
	byKey  map[Key]*list.Element
	recent *list.List // of *pin; the most recently used first
}

// pin is the preference of a conversation.
type pin struct {
	key     Key
	target  string
	expires time.Time
}

// New returns Pins for at most maxPins conversations, at least 1. When they are full, the least
// recently used pin is evicted. A pin needs about 300 bytes and the name of its target.
func New(clock ident.Clock, maxPins int) *Pins {
	return &Pins{clock: clock, maxPins: max(maxPins, 1), byKey: map[Key]*list.Element{}, recent: list.New()}
}

// Prefer returns the target of candidates whose prompt cache is warm for the conversation. The
// candidates are the targets that can take the call, by the names that Warm gets. It reports false if
// no pin of one of them is valid. It does not extend the pin: only a successful call does.
func (p *Pins) Prefer(k Key, candidates []string) (name string, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.byKey[k]
	if e == nil {
		return "", false
	}
	pinned := e.Value.(*pin)
	if !p.clock.Now().Before(pinned.expires) {
		p.remove(e)
		return "", false
	}
	if !slices.Contains(candidates, pinned.target) {
		return "", false
	}
	p.recent.MoveToFront(e)
	return pinned.target, true
}

// Warm pins a conversation to a target whose prompt cache contains its prefix for the given time from
// now. It replaces an earlier pin and its expiry. A lifetime of 0 or less changes nothing; one above
// MaxLifetime is limited to that. The name identifies the target in all configs, for example by the
// version of the config and the path in it: "pc-1@7/config.targets[1]".
func (p *Pins) Warm(k Key, name string, lifetime time.Duration) {
	if lifetime <= 0 {
		return
	}
	expires := p.clock.Now().Add(min(lifetime, MaxLifetime))
	p.mu.Lock()
	defer p.mu.Unlock()
	if e := p.byKey[k]; e != nil {
		pinned := e.Value.(*pin)
		if pinned.target == name {
			pinned.expires = expires
			p.recent.MoveToFront(e)
			return
		}
		p.remove(e)
	}
	for len(p.byKey) >= p.maxPins {
		p.remove(p.recent.Back())
	}
	p.byKey[k] = p.recent.PushFront(&pin{key: k, target: name, expires: expires})
}

// Drop removes the pin of a conversation to a target: its call failed there, or the target was
// overloaded. A pin to another target, which a later call made, remains.
func (p *Pins) Drop(k Key, name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e := p.byKey[k]; e != nil && e.Value.(*pin).target == name {
		p.remove(e)
	}
}

// Len returns the number of pins in memory, including those that ended and were not removed yet.
func (p *Pins) Len() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.byKey)
}

// remove removes a pin. The caller holds mu.
func (p *Pins) remove(e *list.Element) {
	p.recent.Remove(e)
	delete(p.byKey, e.Value.(*pin).key)
}
