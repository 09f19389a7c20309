//go:build !linux

package app

// dropTextPages does nothing on systems other than Linux.
func dropTextPages() error { return nil }
