//go:build race

package gateway_test

// raceEnabled says that the race detector is on, which allocates on its own.
const raceEnabled = true
