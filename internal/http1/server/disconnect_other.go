//go:build !linux

package server

// polls is empty, because each connection is checked separately.
type polls struct{}

// left returns all connections.
func (polls) left(waiting []*conn) []*conn { return waiting }
