//go:build race

package server_test

// raceEnabled says that allocations cannot be counted.
const raceEnabled = true
