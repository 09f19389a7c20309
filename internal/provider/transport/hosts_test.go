package transport_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"sluice/internal/kernel/fault"
	"sluice/internal/provider/transport"
)

// However many hosts are invented, connections to the others are pooled: to one that was
// called before as to one that is called for the first time.
func TestInventedHostsTakeNothingFromTheOthers(t *testing.T) { // not beside others: it takes all cores
	var n atomic.Int32
	s := counting(&n, answers(hello))
	before, after := newPeer(t, s, s, s), newPeer(t, s, s, s)
	c := newClient(t, transport.Options{})
	if _, _, err := call(c, before); err != nil {
		t.Fatal(err)
	}
	invented := before
	for i := range transport.MaxHosts {
		invented.Host = fmt.Sprintf("10.0.%d.%d", i>>8, i&255) // the guard refuses it
		if _, err := c.Do(context.Background(), &invented); !fault.Has(err, fault.AddressRefused) {
			t.Fatal(err)
		}
	}
	for range 3 {
		for _, r := range []transport.Request{before, after} {
			if _, _, err := call(c, r); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n.Load() != 2 || c.Hosts() != transport.MaxHosts {
		t.Errorf("%d connections to two hosts, %d hosts are remembered", n.Load(), c.Hosts())
	}
}

// Where all hosts can be reached, a new one takes the place of one that was not called
// for long.
func TestNewHostAmongMany(t *testing.T) {
	t.Parallel()
	var n atomic.Int32
	s := counting(&n, answers(hello))
	r := newPeer(t, s, s)
	c := newClient(t, transport.Options{})
	c.FillHosts()
	for range 3 {
		if _, _, err := call(c, r); err != nil {
			t.Fatal(err)
		}
	}
	if n.Load() != 1 || c.Hosts() != transport.MaxHosts {
		t.Errorf("%d connections, %d hosts are remembered", n.Load(), c.Hosts())
	}
}
