//go:build !linux

package duckdb

import "math"

// freeBytes is not known here.
func freeBytes(string) (int64, error) { return math.MaxInt64, nil }
