package identity

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"sluice/internal/kernel/fault"
)

// Limits of the failures of one name in a window. An account may have more failures in total
// than from one network. Otherwise a person who knows an e-mail address could lock its user out
// with ten guesses in a quarter of an hour.
// Source: NIST SP 800-63B section 5.2.2, at most 100 failures of an account.
const (
	maxFailures  = 10
	maxOfAccount = 100
	window       = 15 * time.Minute
	maxTracked   = 100_000 // names that are tracked at the same time
)

// LoginThrottle slows down password guessing. In a quarter of an hour it allows ten failures of
// an account from one network (PairOf), or a hundred failures of an account (AccountOf). A
// network alone (NetworkOf) is never locked out, because many users may share it behind a
// proxy. After ten failures the attempts of a network run one at a time and cost more (Slowly),
// which does not delay other networks. LoginThrottle counts only the logins of this node. It is
// safe for concurrent use.
type LoginThrottle struct {
	mu    sync.Mutex // guards the following
	seen  map[string]failures
	lanes map[string]*lane // lanes of throttled networks with a running attempt, by network
}

type failures struct {
	count int
	since time.Time
}

// NewLoginThrottle returns an empty LoginThrottle.
func NewLoginThrottle() *LoginThrottle {
	return &LoginThrottle{seen: make(map[string]failures), lanes: make(map[string]*lane)}
}

const accountKind = "account:"

// AccountOf returns the name under which guesses at a login count, from any network.
func AccountOf(email string) string { return accountKind + email }

// PairOf returns the name under which guesses at a login from one network count, for example
// from "ada@acme.example" and "198.51.100.7".
func PairOf(email, remote string) string { return "pair:" + email + " " + NetworkOf(remote) }

// Slowly reports whether a network failed so often that its next attempt must be slow. It then
// waits until no other slow attempt of the network runs. done ends the attempt and must be
// called. names are the names that the attempt counts for: an attempt without failures of these
// names goes before attempts with failures. The error is fault.RateLimited when too many
// attempts of the network wait, otherwise the error of ctx.
func (p *LoginThrottle) Slowly(ctx context.Context, now time.Time, network string, names ...string) (slow bool, done func(), err error) {
	if !p.IsSlow(now, network) {
		return false, func() {}, nil
	}
	prio := highPriority
	if slices.ContainsFunc(names, func(name string) bool { return p.recent(now, name) > 0 }) {
		prio = lowPriority
	}
	done, err = p.enter(ctx, network, prio)
	return true, done, err
}

// IsSlow reports whether a network failed so often that its next attempt must be slow.
func (p *LoginThrottle) IsSlow(now time.Time, network string) bool {
	return p.recent(now, network) >= maxFailures
}

// recent returns the number of failures of a name in the window.
func (p *LoginThrottle) recent(now time.Time, name string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if f := p.seen[name]; now.Sub(f.since) < window {
		return f.count
	}
	return 0
}

// maxFailuresFor returns the maximum number of failures of a name.
func maxFailuresFor(name string) int {
	if strings.HasPrefix(name, accountKind) {
		return maxOfAccount
	}
	return maxFailures
}

// networkBits is the length of the network part of an IPv6 address. A machine chooses the other
// bits itself and may change them often. Source: RFC 4291 section 2.5.4.
const networkBits = 64

// NetworkOf returns the name under which guesses from an address count: the IPv4 address, or
// the network of an IPv6 address.
func NetworkOf(remote string) string {
	const kind = "ip:"
	addr, err := netip.ParseAddr(remote)
	switch addr = addr.Unmap().WithZone(""); {
	case err != nil:
		return kind + remote
	case addr.Is4():
		return kind + addr.String()
	}
	return kind + netip.PrefixFrom(addr, networkBits).Masked().String()
}

// Allow returns fault.RateLimited when one of the names failed too often.
func (p *LoginThrottle) Allow(now time.Time, names ...string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, n := range names {
		f := p.seen[n]
		if wait := f.since.Add(window).Sub(now); f.count >= maxFailuresFor(n) && wait > 0 {
			return fault.Newf(fault.RateLimited, "too many failed logins; try again in %d minutes", int(wait.Minutes())+1).WithRetry(wait)
		}
	}
	return nil
}

// Failed counts a failure of each name.
func (p *LoginThrottle) Failed(now time.Time, names ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.seen) > maxTracked {
		p.forget(now)
	}
	for _, n := range names {
		f := p.seen[n]
		if now.Sub(f.since) >= window {
			f = failures{since: now}
		}
		f.count++
		p.seen[n] = f
	}
}

// Succeeded deletes the failures of a name after a successful login.
func (p *LoginThrottle) Succeeded(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.seen, name)
}

// forget deletes expired entries. When that frees nothing, it deletes all entries, so memory
// stays limited even when a client tries names without end.
func (p *LoginThrottle) forget(now time.Time) {
	before := len(p.seen)
	for n, f := range p.seen {
		if now.Sub(f.since) >= window {
			delete(p.seen, n)
		}
	}
	if len(p.seen) == before {
		clear(p.seen)
	}
}
