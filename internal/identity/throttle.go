package identity

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"sluice/internal/fault"
)

// Failures of one name in a window that are allowed. An account may have more of them than
// an account from one place of the network, because whoever knows an e-mail address could
// otherwise keep its owner out with ten guesses in a quarter of an hour.
// Source: NIST SP 800-63B section 5.2.2, at most 100 failures of an account.
const (
	maxFailures  = 10
	maxOfAccount = 100
	window       = 15 * time.Minute
	maxTracked   = 100_000 // names that are remembered at once
)

// LoginThrottle slows down guessing: after ten failures of an account from a place of the network
// (PairOf), or a hundred of an account (AccountOf), in a quarter of an hour it allows no
// more. A place alone (NetworkOf) locks nobody out, because many people may share it behind a
// proxy: after ten failures its attempts are made one after the other and cost more
// (Slowly), which does not delay those of other places. It knows the logins at this node.
// Safe for concurrent use.
type LoginThrottle struct {
	mu    sync.Mutex // guards the following
	seen  map[string]failures
	lanes map[string]*lane // of the slow places from which an attempt is made, by place
}

type failures struct {
	count int
	since time.Time
}

// NewLoginThrottle makes one that remembers nothing.
func NewLoginThrottle() *LoginThrottle {
	return &LoginThrottle{seen: make(map[string]failures), lanes: make(map[string]*lane)}
}

const accountKind = "account:"

// AccountOf is the name under which guesses at a login count, wherever they come from.
func AccountOf(email string) string { return accountKind + email }

// PairOf is the name under which guesses at a login from an address of the network count:
// of "ada@acme.example" and "198.51.100.7".
func PairOf(email, remote string) string { return "pair:" + email + " " + NetworkOf(remote) }

// Slowly reports whether a place failed so often that its next attempt must be slow. It
// then waits until no other slow attempt of the place is made; done ends it, and must be
// called. Names are what the attempt is at: without a failure of one of them it goes before
// attempts that have some. The error is fault.RateLimited when too many attempts of the
// place wait, else that of ctx.
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

// IsSlow reports whether a place failed so often that its next attempt must be slow.
func (p *LoginThrottle) IsSlow(now time.Time, network string) bool {
	return p.recent(now, network) >= maxFailures
}

// recent returns the failures of a name in the window.
func (p *LoginThrottle) recent(now time.Time, name string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if f := p.seen[name]; now.Sub(f.since) < window {
		return f.count
	}
	return 0
}

// maxFailuresFor is how many failures of a name there may be.
func maxFailuresFor(name string) int {
	if strings.HasPrefix(name, accountKind) {
		return maxOfAccount
	}
	return maxFailures
}

// networkBits are those of an IPv6 address that say where it is: the rest each machine
// chooses for itself, as often as it likes. Source: RFC 4291 section 2.5.4.
const networkBits = 64

// NetworkOf is the name under which guesses from an address of the network count: that of
// the address, or in IPv6 of the network in which it lies.
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

// Allow refuses with fault.RateLimited when one of the names failed too often.
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

// Succeeded forgets the failures of a name that has proved itself.
func (p *LoginThrottle) Succeeded(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.seen, name)
}

// forget drops what is over, and when that frees nothing, everything: memory is
// bounded even while somebody tries names without end.
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
