package app

import (
	"net"
	"testing"
)

func TestIsReachable(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{
		"127.0.0.1:8787": false, "[::1]:8787": false, "127.9.9.9:1": false, "[::ffff:127.0.0.1]:1": false,
		"0.0.0.0:8787": true, "[::]:8787": true, "10.0.0.7:8787": true, "203.0.113.7:80": true,
	} {
		addr, err := net.ResolveTCPAddr("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		if got := isReachable(addr); got != want {
			t.Errorf("%s: got %v, want %v", address, got, want)
		}
	}
	if isReachable(&net.UnixAddr{Name: "/run/sluice.sock", Net: "unix"}) {
		t.Error("other machines cannot reach a Unix socket")
	}
}
