// Package porttest finds ports for servers that tests start as processes of their own.
package porttest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"testing"
)

// Ports are looked for below those that a system gives to whoever wants any, to listen or
// to call from: nobody is given one between the look and the start of the server, nor while
// a server is down that is to come back.
const (
	first = 12_000
	count = 10_000
)

// Free returns a port of 127.0.0.1 that is free, as are those so far above it. It belongs to
// the test until its end, also before other processes that ask here.
func Free(t testing.TB, above ...int) int {
	t.Helper()
	var err error
	for range 100 {
		port := first + rand.IntN(count)
		if err = claim(t, port, above); err == nil {
			return port
		}
	}
	t.Fatal("no free port: ", err)
	return 0
}

// claim takes a port for the test by its number among those of UDP, which the servers have
// no use for, if nobody listens on it or on those above it.
func claim(t testing.TB, port int, above []int) error {
	t.Helper()
	held, err := new(net.ListenConfig).ListenPacket(context.Background(), "udp", address(port))
	if err != nil {
		return err
	}
	for _, offset := range append([]int{0}, above...) {
		l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", address(port+offset))
		if err == nil {
			err = l.Close()
		}
		if err != nil {
			_ = held.Close() // it was never used
			return err
		}
	}
	t.Cleanup(func() { _ = held.Close() }) // it was never used
	return nil
}

func address(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }
