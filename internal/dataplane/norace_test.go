//go:build !race

package dataplane_test

// raceEnabled says that the race detector is off.
const raceEnabled = false
