package netguard

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"

	"sluice/internal/fault"
)

const (
	// fallbackDelay is how long the first address family may take before the
	// other one is tried beside it. Source: RFC 8305 section 5.
	fallbackDelay = 300 * time.Millisecond
	// minShare is the least time one of several addresses is given.
	minShare = 2 * time.Second
)

// Resolve looks a host up, a name or an address, and returns its addresses, at
// least one, all of them judged. One address that may not be called refuses the
// host as a whole, for mixed answers are how a name is turned against a network.
// A refusal is fault.AddressRefused; a failing lookup is the resolver's error.
func (g *Guard) Resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if blockedName(host) {
		return nil, fault.New(fault.AddressRefused, "metadata, cluster and wildcard DNS hosts are not allowed")
	}
	addrs, err := g.lookup(ctx, host)
	if err != nil {
		return nil, fmt.Errorf("resolve %s: %w", host, err)
	}
	trusted := g.trusts(host)
	for i, a := range addrs {
		var f *fault.Error
		if what := blockedAddr(a); what != "" {
			f = refuse(what)
		} else if what := refusedAddr(a); what != "" && !trusted {
			f = refuseUntrusted(what)
		}
		if f != nil {
			return nil, f.WithCause(fmt.Errorf("%s resolves to %s", host, a))
		}
		addrs[i] = a.Unmap()
	}
	return addrs, nil
}

func (g *Guard) lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{a}, nil
	}
	addrs, err := g.resolver.LookupNetIP(ctx, "ip", host)
	if err == nil && len(addrs) == 0 {
		err = errors.New("no addresses found")
	}
	return addrs, err
}

// Dial connects to "host:port" at one of the addresses that Resolve passes. The
// addresses are tried in order, both families side by side when the first is
// slow. Network is "tcp"; ctx bounds look-up and connecting together. The caller
// closes the connection. Errors are those of Resolve and of net.Dialer.
func (g *Guard) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	addrs, err := g.Resolve(ctx, host)
	if err != nil {
		return nil, err
	}
	first, second := byFamily(addrs)
	d := dialer{network: network, port: port}
	if len(second) == 0 {
		return d.serial(ctx, first)
	}
	return d.happyEyeballs(ctx, first, second)
}

// byFamily splits addresses into those of the first one's family and the others.
func byFamily(addrs []netip.Addr) (first, second []netip.Addr) {
	for _, a := range addrs {
		if a.Is4() == addrs[0].Is4() {
			first = append(first, a)
		} else {
			second = append(second, a)
		}
	}
	return first, second
}

// dialer connects to judged addresses; it never sees a name.
type dialer struct {
	net           net.Dialer
	network, port string
}

// serial tries one address after the other, each with its share of the time left.
func (d *dialer) serial(ctx context.Context, addrs []netip.Addr) (net.Conn, error) {
	var first error
	for i, a := range addrs {
		c, err := d.one(ctx, a, len(addrs)-i)
		if err == nil {
			return c, nil
		}
		if first == nil {
			first = err
		}
		if ctx.Err() != nil {
			break
		}
	}
	return nil, first
}

func (d *dialer) one(ctx context.Context, a netip.Addr, left int) (net.Conn, error) {
	if end, ok := ctx.Deadline(); ok && left > 1 {
		share := max(time.Until(end)/time.Duration(left), minShare)
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, share)
		defer cancel()
	}
	return d.net.DialContext(ctx, d.network, net.JoinHostPort(a.String(), d.port))
}

type dialled struct {
	conn net.Conn
	err  error
}

// happyEyeballs tries both lists, the second when the first has failed or is slow, and
// returns the first connection. The loser's connection is closed.
func (d *dialer) happyEyeballs(ctx context.Context, first, second []netip.Addr) (net.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	results := make(chan dialled, 2) // room for both: nobody is left waiting
	run := func(addrs []netip.Addr) {
		c, err := d.serial(ctx, addrs)
		results <- dialled{c, err}
	}
	go run(first)
	slow := time.NewTimer(fallbackDelay)
	defer slow.Stop()
	running, rest := 1, second
	var failed error
	for {
		select {
		case <-slow.C:
		case r := <-results:
			running--
			if r.err == nil {
				go discard(results, running)
				return r.conn, nil
			}
			if failed == nil {
				failed = r.err
			}
		}
		if rest != nil {
			go run(rest)
			running, rest = running+1, nil
		}
		if running == 0 {
			return nil, failed
		}
	}
}

// discard closes the connections of n dials that have lost the race.
func discard(results <-chan dialled, n int) {
	for range n {
		if r := <-results; r.conn != nil {
			_ = r.conn.Close()
		}
	}
}
