//go:build !linux

package h1

// polls needs no room where each connection is asked.
type polls struct{}

// left returns all connections.
func (polls) left(waiting []*conn) []*conn { return waiting }
