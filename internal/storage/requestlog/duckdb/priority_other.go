//go:build !linux

package duckdb

import "time"

// helper does nothing: the calling thread does the work.
type helper struct{}

func newHelper(string, time.Duration) *helper { return nil }

func (*helper) end() {}

func (*helper) do(f func() error) error { return f() }

func (*helper) rest() time.Duration { return 0 }
