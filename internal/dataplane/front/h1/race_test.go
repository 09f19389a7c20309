//go:build race

package h1_test

// raceEnabled says that allocations cannot be counted.
const raceEnabled = true
