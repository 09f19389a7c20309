//go:build !race

package gateway_test

// raceEnabled says that the race detector is off.
const raceEnabled = false
