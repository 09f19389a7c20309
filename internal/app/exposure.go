package app

import "net"

// isReachable reports whether other machines can connect to an address that the gateway
// listens on: "0.0.0.0:8787" and "10.0.0.7:8787", but not "127.0.0.1:8787".
func isReachable(addr net.Addr) bool {
	tcp, ok := addr.(*net.TCPAddr)
	return ok && !tcp.IP.IsLoopback()
}
