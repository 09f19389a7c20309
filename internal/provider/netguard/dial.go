package netguard

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"

	"sluice/internal/kernel/fault"
)

const (
	// fallbackDelay is the time after which the second address family is tried in parallel to
	// the first. Source: RFC 8305 section 5.
	fallbackDelay = 300 * time.Millisecond
	// minShare is the minimum time for one of several addresses.
	minShare = 2 * time.Second
)

// Resolve looks up a host, a name or an address, and returns its addresses, at least one, all
// checked. One address that may not be called refuses the complete host, because attacks on a
// network mix permitted and private addresses. A refusal is fault.AddressRefused. A failed
// look-up returns the error of the resolver.
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

// Dial connects to "host:port" at one of the addresses that Resolve permits. It tries the
// addresses in order, and both families in parallel when the first is slow. network is "tcp".
// ctx limits look-up and connecting together. The caller closes the connection. Errors are
// those of Resolve and of net.Dialer.
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

// dialer connects to checked addresses. It never resolves a name.
type dialer struct {
	net           net.Dialer
	network, port string
}

// serial tries the addresses one after the other, each with its share of the remaining time.
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

// happyEyeballs tries both lists, the second when the first has failed or is slow, and returns
// the first connection. It closes the other connection.
func (d *dialer) happyEyeballs(ctx context.Context, first, second []netip.Addr) (net.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	results := make(chan dialled, 2) // capacity for both results, so that neither goroutine blocks
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

// discard closes the connections of the n dials whose result is not used.
func discard(results <-chan dialled, n int) {
	for range n {
		if r := <-results; r.conn != nil {
			_ = r.conn.Close()
		}
	}
}
